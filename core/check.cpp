#include "core/check.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace renar {

std::string message(std::string_view format, std::initializer_list<MessageArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const MessageArg& arg : args) {
    switch (arg.kind) {
      case MessageArg::Kind::kInteger: store.push_back(arg.integer); break;
      case MessageArg::Kind::kUnsigned:
        store.push_back(static_cast<std::uint64_t>(arg.integer));
        break;
      case MessageArg::Kind::kReal: store.push_back(arg.real); break;
      case MessageArg::Kind::kText: store.push_back(arg.text); break;
    }
  }
  return fmt::vformat(format, store);
}

}  // namespace renar

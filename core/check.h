// The one error type of renar and the one way to raise it.
//
//   RENAR_CHECK(gamma.size() == h, "[layer_norm] gamma has {} entries, expected {}", gamma.size(),
//       h);
//
// The message starts with the place in brackets, names the values it saw and, where there is one,
// the remedy. Library code throws renar::Error and never exits; mains catch it and print one line.
// fmt formats the message, but only inside check.cpp: this header is seen by .cu files.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace renar {

/// What every failed check throws: the caller's input, a file or the machine was not as needed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The call itself was wrong (an unknown flag, a value out of range): mains exit with 2 instead of
/// 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// One argument of a message: an integer (the bits of an unsigned one), a real number or a text.
struct MessageArg {
  enum class Kind { kInteger, kUnsigned, kReal, kText } kind;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;

  template <class T>
  static MessageArg of(const T& value) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      return {Kind::kUnsigned, static_cast<std::int64_t>(value), 0, {}};
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      return {Kind::kInteger, static_cast<std::int64_t>(value), 0, {}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {Kind::kReal, 0, static_cast<double>(value), {}};
    } else {
      return {Kind::kText, 0, 0, std::string(std::string_view(value))};
    }
  }
};

/// The message with each {} replaced by its argument.
std::string message(std::string_view format, std::initializer_list<MessageArg> args);

template <class... Args>
std::string message_of(std::string_view format, const Args&... args) {
  return message(format, {MessageArg::of(args)...});
}

}  // namespace renar

/// Throws renar::Error with the formatted message unless the condition holds.
#define RENAR_CHECK(condition, ...)                                           \
  do {                                                                        \
    if (!(condition)) throw ::renar::Error(::renar::message_of(__VA_ARGS__)); \
  } while (false)

/// The same for what the user of a program wrote: throws renar::UsageError.
#define RENAR_USAGE(condition, ...)                                                \
  do {                                                                             \
    if (!(condition)) throw ::renar::UsageError(::renar::message_of(__VA_ARGS__)); \
  } while (false)

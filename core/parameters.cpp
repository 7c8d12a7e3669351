#include "core/parameters.h"

#include "core/check.h"
#include "core/text.h"

namespace renar {

Param Parameters::add(const std::string& name, Shape shape) {
  for (const Entry& entry : entries_) {
    RENAR_CHECK(entry.name != name, "[parameters] {} is defined twice", name);
  }
  const Param param{size(), shape};
  entries_.push_back({name, param});
  values_.resize(values_.size() + static_cast<std::size_t>(shape.size()), Real{0});
  return param;
}

const Parameters::Entry& Parameters::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw Error(message_of("[parameters] no parameter {}; the nearest is {}", name,
                         nearest_match(name, names)));
}

}  // namespace renar

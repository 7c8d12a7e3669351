#include "trainer/sampler_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "core/text.h"

namespace renar {

std::string foreign_sampler_flag(const std::vector<const Algorithm*>& algorithms, bool p,
                                 bool length_needle) {
  const auto none_is_of = [&](Category category) {
    return std::none_of(algorithms.begin(), algorithms.end(),
                        [&](const Algorithm* a) { return a->category == category; });
  };
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms) names.push_back(algorithm->name);
  const std::string they_have = join(names) + (names.size() == 1 ? " has" : " have");
  if (p && none_is_of(Category::kGraphs)) {
    return fmt::format("--p is the edge probability of random graphs: {} none", they_have);
  }
  if (length_needle && none_is_of(Category::kStrings)) {
    return fmt::format("--length-needle is of the string matchers: {} no needle", they_have);
  }
  return "";
}

SamplerParams changed_params(const Algorithm& algorithm, SamplerParams base,
                             const std::vector<double>& p, std::optional<int> length_needle) {
  const std::string foreign =
      foreign_sampler_flag({&algorithm}, !p.empty(), length_needle.has_value());
  RENAR_USAGE(foreign.empty(), "{}", foreign);
  if (!p.empty()) base.p = p;
  if (length_needle) base.length_needle = *length_needle;
  return base;
}

}  // namespace renar

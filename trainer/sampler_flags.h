// --p and --length-needle change what samplers draw: the first graphs, the second strings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algos/registry.h"

namespace renar {

/// One line on the flag, of those that were given, that is for the sampler of none of the
/// algorithms; empty: there is no such flag.
std::string foreign_sampler_flag(const std::vector<const Algorithm*>& algorithms, bool p,
                                 bool length_needle);

/// `base` with `p` in place of its edge probabilities, unless that is empty, and with the needle's
/// length, if there is one. Throws UsageError for one that the algorithm's sampler does not know.
SamplerParams changed_params(const Algorithm& algorithm, SamplerParams base,
                             const std::vector<double>& p, std::optional<int> length_needle);

}  // namespace renar

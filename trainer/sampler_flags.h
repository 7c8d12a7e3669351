// --p and --length-needle change what samplers draw: the first graphs, the second strings.
#pragma once

#include <string>
#include <vector>

#include "algos/registry.h"

namespace renar {

/// One line on the flag, of those that were given, that is for the sampler of none of the
/// algorithms; empty: there is no such flag.
std::string foreign_sampler_flag(const std::vector<const Algorithm*>& algorithms, bool p,
                                 bool length_needle);

}  // namespace renar

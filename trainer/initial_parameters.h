// Parameters from elsewhere to begin a run with, and a run's parameters for elsewhere.
//
//   .safetensors  best or last.safetensors of a run: names as ours
//   .npz          dm-clrs' parameters, an array "module/name" each, float, names as in
//                 trainer/reference_names.h, bare or after "param/" as in the golden files
//
// The rule: everything must fit whose name says that it is ours. The file must have the whole
// processor and nothing beside it. Of each algorithm of the net it has all encoders and decoders or
// none; those of none keep their random numbers. A .safetensors may have other algorithms' beside,
// which are left out. An .npz knows algorithms by their number only, so there algo_0_.. is the
// first of --algo and must be it: dropping algo_0_.. from the file leaves the processor alone.
//
// Only parameters are taken: the moments of Adam start at zero.
#pragma once

#include <string>

#include "nn/net.h"

namespace renar {

/// Replaces the net's parameters once the whole file has been checked. Returns one line that says
/// what was loaded, what starts anew and what was left out. Throws renar::Error, one line, with the
/// first parameter that is missing, unexpected or of another shape; UsageError for other endings
/// and for names that a run's config.toml cannot hold.
std::string load_initial_parameters(const std::string& path, Net& net);

/// Writes the net's parameters as an .npz that dm-clrs' names stand in. Returns how many arrays.
std::size_t export_parameters(const std::string& path, const Net& net);

}  // namespace renar

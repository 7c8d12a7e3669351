// What a run leaves on disk to be used or continued, as safetensors files that are written whole or
// not at all.
//
//   best.safetensors   the parameters with the best validation score
//   last.safetensors   the parameters, Adam's moments, the data generators' state, what chunks
//                      carry and the counters: a run that is continued from it gives the same bits
//                      as one that was never stopped
//
// Each file says for which algorithm and net it is; another one is refused by name, and loading
// changes the net only after the whole file has been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/net.h"
#include "trainer/optimizer.h"

namespace renar {

/// Whether a tensor of that name is a parameter; the others are the state of the run.
bool is_parameter(std::string_view name);
/// A shape as files have it.
std::vector<std::size_t> stored_shape(const Shape& shape);

struct TrainState {
  int step = 0;                   ///< steps done
  double best_score = -1;         ///< of the validation, -1 before the first
  int best_step = -1;             ///< the step after which it was seen
  double seconds = 0;             ///< of training so far, all calls together
  double validation_seconds = 0;  ///< of validations, and of what --oracle asks, beside them
  OptimizerState optimizer;
  std::vector<std::uint32_t> stream;  ///< TrainingBatches::state()
  /// Of chunked training, by lane, what its trajectories go on from; a lane may still have none.
  std::vector<std::vector<Real>> carried = {};
};

void save_parameters(const std::string& path, const std::string& algo, const Net& net, int step);
/// Returns the step it was saved at. Throws renar::Error where the file is missing, damaged or of
/// another net.
int load_parameters(const std::string& path, const std::string& algo, Net& net);

void save_state(const std::string& path, const std::string& algo, const Net& net,
                const TrainState& state);
TrainState load_state(const std::string& path, const std::string& algo, Net& net);

}  // namespace renar

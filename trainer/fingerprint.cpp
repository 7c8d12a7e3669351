#include "trainer/fingerprint.h"

#include <fmt/core.h>

#include <memory>

#include "algos/training_stream.h"
#include "core/parallel.h"
#include "core/text.h"
#include "core/version.h"
#include "nn/shard_runner.h"
#include "trainer/batch.h"
#include "trainer/optimizer.h"

namespace renar {
namespace {

/// One algorithm in training, small enough for a test: Triplet-GMPNN with the probes of the spec.
struct Subject {
  explicit Subject(const Algorithm& algorithm)
      : net(algorithm.name, algorithm.spec(),
            {.processor = {.kind = "triplet_gmpnn", .hidden = 32}, .exact = {}}),
        stream(algorithm, {.lengths = {4, 7, 11}, .val_length = 4, .batch_size = 8}),
        optimizer(net.parameters().size(), {1e-3, 1.0}) {}

  double step(ShardRunner& runner) {
    fill_batch(net.spec(), stream.next(), batch);
    const double loss = total(runner.gradients(net, batch, grads));
    optimizer.update(net.parameters(), grads);
    return loss;
  }

  Net net;
  TrainingStream stream;
  Optimizer optimizer;
  Batch batch;
  std::vector<Real> grads;
};

}  // namespace

std::uint64_t fingerprint(int steps, int threads) {
  ShardRunner runner(threads);
  Subject bfs(find_algorithm("bfs")), dfs(find_algorithm("dfs"));
  std::string bytes;
  for (int step = 0; step < steps; ++step) {
    const double loss = (step % 2 == 0 ? bfs : dfs).step(runner);
    bytes.append(reinterpret_cast<const char*>(&loss), sizeof loss);
  }
  return fnv1a(bytes);
}

std::string fingerprint_text() {
  return fmt::format("fingerprint {:016x} ({} steps, {}, {})",
                     fingerprint(kFingerprintSteps, available_threads()), kFingerprintSteps,
                     sizeof(Real) == 8 ? "double" : "float", instruction_set());
}

}  // namespace renar

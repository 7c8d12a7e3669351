// Parity of chunked training with the field's reference, its state carried as its commented-out
// line would: dm-clrs' BaselineModelChunked on chunkify of the golden case lstm, whose batch comes
// again and again, one slot further each time. tests/golden/chunks/lstm.npz has the loss and the
// gradients of each chunk.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/algos/golden.h"
#include "tests/nn/chunks.h"
#include "tests/nn/compare_runs.h"
#include "tests/source_dir.h"
#include "trainer/batch.h"
#include "trainer/golden.h"
#include "trainer/golden_case.h"
#include "trainer/reference_names.h"

namespace renar::chunk_parity_test {
namespace {

const std::string kModels = test::source_dir() + "/tests/golden/model/";

/// Frames [begin, begin + frames) of every slot's endless sequence.
Batch chunk_at(const Batch& batch, int begin, int frames) {
  std::vector<test::Cut> cuts;
  for (std::int64_t slot = 0; slot < batch.size; ++slot) {
    int start = 0;  // of the trajectory in the sequence
    for (std::int64_t turn = 0; start < begin + frames; ++turn) {
      const std::int64_t sample = (slot + turn * (batch.size - 1)) % batch.size;
      const int length = batch.lengths[static_cast<std::size_t>(sample)];
      const int first = std::max(begin - start, 0);
      const int end = std::min(begin + frames - start, length);
      start += length;
      if (end > first && end > 1) cuts.push_back({sample, slot, first, end});
    }
  }
  return test::chunk_of(batch, cuts);
}

/// Largest error of all parameters' gradients, as golden.h measures it.
double gradient_error(const Npz& arrays, const std::string& prefix, const Net& net,
                      const std::vector<Real>& grads) {
  const std::vector<std::string> names = reference_names(net.parameters());
  const auto largest = [](const std::vector<double>& values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
  };
  double floor = 0, error = 0;
  for (const std::string& name : names) {
    floor = std::max(floor, 1e-3 * largest(array_of(arrays, prefix + name).doubles()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<double> theirs = array_of(arrays, prefix + names[i]).doubles();
    const Real* ours = grads.data() + net.parameters().entries()[i].param.offset;
    const double scale = std::max(floor, largest(theirs));
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      const double e = std::abs(double{ours[k]} - theirs[k]) / scale;
      if (!(e <= error)) error = std::isfinite(e) ? e : HUGE_VAL;
    }
  }
  return error;
}

TEST_CASE("chunks: losses and gradients are those of the reference with its state carried") {
  const GoldenCase golden = read_golden_case(kModels + "lstm.npz", kModels + "manifest.json");
  const Npz theirs = read_golden("chunks/lstm.npz");
  Net net(kGoldenAlgorithm, golden.spec, golden.options);
  load_golden_parameters(golden, net);
  Batch batch;
  fill_batch(golden.spec, batch_from(golden.spec, golden.arrays), batch);
  const int frames = static_cast<int>(array_of(theirs, "chunk_length").doubles()[0]);
  REQUIRE(frames < batch.frames);

  ShardRunner runner(1);
  CarriedState carried;
  std::vector<Real> grads;
  REQUIRE(theirs.contains("chunk1/loss"));
  for (int c = 0; theirs.contains("chunk" + std::to_string(c) + "/loss"); ++c) {
    CAPTURE(c);
    const std::string prefix = "chunk" + std::to_string(c) + "/";
    const Batch chunk = chunk_at(batch, c * frames, frames);
    const double loss = total(runner.gradients(net, chunk, grads, {}, nullptr, &carried));
    const double want = array_of(theirs, prefix + "loss").doubles()[0];
    CHECK(std::abs(loss - want) <= golden_tolerance().loss * want);
    CHECK(gradient_error(theirs, prefix + "grad/", net, grads) <= golden_tolerance().gradient);
  }
}

}  // namespace
}  // namespace renar::chunk_parity_test

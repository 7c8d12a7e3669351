#include "nn/shard_runner.h"

#include <algorithm>

#include "core/check.h"
#include "core/parallel.h"

namespace renar {
namespace {

/// Parameters summed by one task; large enough to keep threads apart, small enough to share out.
constexpr std::int64_t kChunk = 16384;

}  // namespace

ShardRunner::ShardRunner(int threads) {
  RENAR_CHECK(threads >= 1, "[shard_runner] {} threads", threads);
  tapes_.resize(static_cast<std::size_t>(threads));
}

Losses ShardRunner::gradients(const Net& net, const Batch& batch, std::vector<Real>& grads,
                              const NoiseKey& noise, Predictions* predictions,
                              CarriedState* carried) {
  const ActiveParameters active = net.active(batch.task);
  const std::int64_t size = active.size();
  const LossScales scales = loss_scales(batch);
  net.count_reconstruction(batch, noise, reconstruction_scales_);
  if (carried != nullptr) carried->fit(batch.slots, net.carried_width(batch.task, batch.nodes));
  if (shard_grads_.size() < batch.shards.size()) shard_grads_.resize(batch.shards.size());
  shard_losses_.assign(batch.shards.size(), Losses{});
  for_each_shard(static_cast<int>(batch.shards.size()), threads(), [&](int shard, int worker) {
    const auto s = static_cast<std::size_t>(shard);
    Tape& tape = tapes_[static_cast<std::size_t>(worker)];
    shard_grads_[s].assign(static_cast<std::size_t>(size), Real{0});
    tape.start(Tape::Mode::kRecord, net.parameters().values(), shard_grads_[s].data(), active);
    net.forward(tape, Samples(batch, batch.shards[s]),
                {.pass = Net::Pass::kTrain,
                 .scales = &scales,
                 .reconstruction = &reconstruction_scales_,
                 .losses = &shard_losses_[s],
                 .predictions = predictions,
                 .noise = noise,
                 .carried = carried});
    tape.backward();
  });
  if (carried != nullptr) carried->turn();

  grads.resize(static_cast<std::size_t>(size));
  const int chunks = static_cast<int>((size + kChunk - 1) / kChunk);
  for_each_shard(chunks, threads(), [&](int chunk, int) {
    const std::int64_t begin = chunk * kChunk, end = std::min(size, begin + kChunk);
    std::copy(shard_grads_[0].begin() + begin, shard_grads_[0].begin() + end,
              grads.begin() + begin);
    for (std::size_t s = 1; s < batch.shards.size(); ++s) {
      for (std::int64_t i = begin; i < end; ++i) {
        grads[static_cast<std::size_t>(i)] += shard_grads_[s][static_cast<std::size_t>(i)];
      }
    }
  });
  Losses sum{};
  for (const Losses& losses : shard_losses_) sum += losses;
  return sum;
}

void ShardRunner::predict(const Net& net, const Batch& batch, Predictions& predictions) {
  predictions.prepare(batch);
  for_each_shard(static_cast<int>(batch.shards.size()), threads(), [&](int shard, int worker) {
    Tape& tape = tapes_[static_cast<std::size_t>(worker)];
    tape.start(Tape::Mode::kPredict, net.parameters().values(), nullptr, net.active(batch.task));
    net.forward(tape, Samples(batch, batch.shards[static_cast<std::size_t>(shard)]),
                {.pass = Net::Pass::kEvaluate, .predictions = &predictions});
  });
}

}  // namespace renar

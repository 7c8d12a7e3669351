#include "nn/shard_runner.h"

#include <algorithm>

#include "core/check.h"
#include "core/parallel.h"

namespace renar {
namespace {

/// Parameters summed by one task; large enough to keep threads apart, small enough to share out.
constexpr std::int64_t kChunk = 16384;

}  // namespace

ShardRunner::ShardRunner(int threads, Device device)
    : threads_(threads),
      device_(device),
      device_values_(device),
      device_grads_(device),
      device_losses_(device) {
  RENAR_CHECK(threads >= 1, "[shard_runner] {} threads", threads);
  const int tapes = device == Device::kCpu ? threads : 1;
  for (int i = 0; i < tapes; ++i) tapes_.emplace_back(device);
}

Losses ShardRunner::gradients(const Net& net, const Batch& batch, std::vector<Real>& grads,
                              const NoiseKey& noise, Predictions* predictions,
                              CarriedState* carried) {
  const LossScales scales = loss_scales(batch);
  net.count_reconstruction(batch, noise, reconstruction_scales_);
  if (carried != nullptr) carried->fit(batch.slots, net.carried_width(batch.task, batch.nodes));
  const Net::Request request{.pass = Net::Pass::kTrain,
                             .scales = &scales,
                             .reconstruction = &reconstruction_scales_,
                             .predictions = predictions,
                             .noise = noise,
                             .carried = carried};
  grads.resize(static_cast<std::size_t>(net.active(batch.task).size()));
  const Losses sum = device_ == Device::kCpu ? run_shards(net, batch, request, grads)
                                             : run_on_device(net, batch, request, grads);
  if (carried != nullptr) carried->turn();
  return sum;
}

Losses ShardRunner::run_shards(const Net& net, const Batch& batch, const Net::Request& request,
                               std::vector<Real>& grads) {
  const ActiveParameters active = net.active(batch.task);
  const std::int64_t size = active.size();
  if (shard_grads_.size() < batch.shards.size()) shard_grads_.resize(batch.shards.size());
  shard_losses_.assign(batch.shards.size(), Losses{});
  for_each_shard(static_cast<int>(batch.shards.size()), threads_, [&](int shard, int worker) {
    const auto s = static_cast<std::size_t>(shard);
    Tape& tape = tapes_[static_cast<std::size_t>(worker)];
    shard_grads_[s].assign(static_cast<std::size_t>(size), Real{0});
    tape.start(Tape::Mode::kRecord, net.parameters().values(), shard_grads_[s].data(), active);
    Net::Request of_shard = request;
    of_shard.losses = &shard_losses_[s];
    net.forward(tape, Samples(batch, batch.shards[s]), of_shard);
    tape.backward();
  });

  const int chunks = static_cast<int>((size + kChunk - 1) / kChunk);
  for_each_shard(chunks, threads_, [&](int chunk, int) {
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

Losses ShardRunner::run_on_device(const Net& net, const Batch& batch, Net::Request request,
                                  std::vector<Real>& grads) {
  const ActiveParameters active = net.active(batch.task);
  const Parameters& parameters = net.parameters();
  request.losses = device_losses_.zeros(1);
  Tape& tape = tapes_[0];
  tape.start(Tape::Mode::kRecord, device_values_.upload(parameters.values(), parameters.size()),
             device_grads_.zeros(active.size()), active);
  net.forward(tape, Samples(batch, {0, batch.size}), request);
  tape.backward();
  device_grads_.download(grads.data(), active.size());
  Losses sum{};
  device_losses_.download(&sum, 1);
  return sum;
}

void ShardRunner::predict(const Net& net, const Batch& batch, Predictions& predictions) {
  predictions.prepare(batch);
  const auto run = [&](Tape& tape, const Real* values, const Batch::Shard& shard) {
    tape.start(Tape::Mode::kPredict, values, nullptr, net.active(batch.task));
    net.forward(tape, Samples(batch, shard),
                {.pass = Net::Pass::kEvaluate, .predictions = &predictions});
  };
  const Parameters& parameters = net.parameters();
  if (device_ != Device::kCpu) {
    return run(tapes_[0], device_values_.upload(parameters.values(), parameters.size()),
               {0, batch.size});
  }
  for_each_shard(static_cast<int>(batch.shards.size()), threads_, [&](int shard, int worker) {
    run(tapes_[static_cast<std::size_t>(worker)], parameters.values(),
        batch.shards[static_cast<std::size_t>(shard)]);
  });
}

}  // namespace renar

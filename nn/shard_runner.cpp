#include "nn/shard_runner.h"

#include <algorithm>
#include <functional>

#include "core/check.h"
#include "core/parallel.h"
#include "core/profile.h"

namespace renar {
namespace {

/// Parameters summed by one task; large enough to keep threads apart, small enough to share out.
constexpr std::int64_t kChunk = 16384;

void check_place(const PlacedNet& net, Device device) {
  RENAR_CHECK(net.device() == device, "[shard_runner] a net placed on {} for a runner on {}",
              name_of(net.device()), name_of(device));
}

}  // namespace

ShardRunner::ShardRunner(int threads, Device device, Precision precision)
    : threads_(threads),
      device_(device),
      graphs_(device),
      device_grads_(device),
      device_losses_(device) {
  RENAR_CHECK(threads >= 1, "[shard_runner] {} threads", threads);
  RENAR_CHECK(precision == Precision::kFp32 || device != Device::kCpu,
              "[shard_runner] the CPU's products are fp32, not {}", name_of(precision));
  const int tapes = device == Device::kCpu ? threads : 1;
  for (int i = 0; i < tapes; ++i) tapes_.emplace_back(device, precision);
}

void ShardRunner::limit_memory(std::size_t budget) {
  const std::size_t each = budget / tapes_.size();
  for (Tape& tape : tapes_) tape.limit(budget > 0 ? std::max<std::size_t>(each, 1) : 0);
}

Net::Request ShardRunner::training_request(const Net& net, const Batch& batch,
                                           const NoiseKey& noise, Predictions* predictions,
                                           CarriedState* carried) {
  scales_ = loss_scales(batch);
  net.count_reconstruction(batch, noise, reconstruction_scales_);
  if (carried != nullptr) carried->fit(batch.slots, net.carried_widths(batch.task, batch.nodes));
  return {.pass = Net::Pass::kTrain,
          .scales = &scales_,
          .reconstruction = &reconstruction_scales_,
          .predictions = predictions,
          .noise = noise,
          .carried = carried};
}

Losses ShardRunner::gradients(const PlacedNet& placed, const Batch& batch, std::vector<Real>& grads,
                              const NoiseKey& noise, Predictions* predictions,
                              CarriedState* carried) {
  const Net& net = placed.net();
  const std::int64_t size = net.active(batch.task).size();
  grads.resize(static_cast<std::size_t>(size));
  Losses sum{};
  if (device_ == Device::kCpu) {
    check_place(placed, device_);
    sum = run_shards(net, batch, training_request(net, batch, noise, predictions, carried), grads);
  } else {
    queue_gradients(placed, batch, device_grads_.zeros(size), device_losses_.zeros(1), noise,
                    predictions, carried);
    device_grads_.download(grads.data(), size);
    device_losses_.download(&sum, 1);
  }
  if (carried != nullptr) carried->turn();
  return sum;
}

Losses ShardRunner::run_shards(const Net& net, const Batch& batch, const Net::Request& request,
                               std::vector<Real>& grads) {
  const ProfileRange range("gradients");
  const ActiveParameters active = net.active(batch.task);
  const std::int64_t size = active.size();
  if (shard_grads_.size() < batch.shards.size()) shard_grads_.resize(batch.shards.size());
  shard_losses_.assign(batch.shards.size(), Losses{});
  packed_.pack(net.parameters(), active, threads_);
  for_each_shard(static_cast<int>(batch.shards.size()), threads_, [&](int shard, int worker) {
    const auto s = static_cast<std::size_t>(shard);
    Tape& tape = tapes_[static_cast<std::size_t>(worker)];
    shard_grads_[s].assign(static_cast<std::size_t>(size), Real{0});
    tape.start(Tape::Mode::kRecord, net.parameters().values(), shard_grads_[s].data(), active,
               &packed_);
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

void ShardRunner::queue_gradients(const PlacedNet& placed, const Batch& batch, Real* grads,
                                  Losses* losses, const NoiseKey& noise, Predictions* predictions,
                                  CarriedState* carried) {
  const ProfileRange range("gradients");
  check_place(placed, device_);
  const Net& net = placed.net();
  Net::Request request = training_request(net, batch, noise, predictions, carried);
  request.losses = losses;
  Tape& tape = tapes_[0];
  tape.start(Tape::Mode::kRecord, placed.values(), grads, net.active(batch.task));
  const Samples samples(batch, {0, batch.size}, lengths_on_device(batch));
  const auto work = [&] {
    net.forward(tape, samples, request);
    tape.backward();
  };
  // What is fetched waits for the device, which cannot be recorded; what is carried on goes from
  // and to places that change from chunk to chunk.
  if (predictions != nullptr || carried != nullptr) return work();
  identify(placed, samples, request);
  graphs_.run(key_, std::ref(work));  // by reference: it allocates nothing
}

// All that the launches of an update depend on: of its samples' lengths only how many run, are
// compared and go on at each step. Truths, masks, noise, the scales of its losses and, where
// lengths are rounded, which step is a sample's last are sent.
void ShardRunner::identify(const PlacedNet& placed, const Samples& samples,
                           const Net::Request& request) {
  key_.clear();
  const auto add = [&](auto number) { key_.push_back(static_cast<std::uint64_t>(number)); };
  tapes_[0].identify(key_);
  add(placed.number());
  add(reinterpret_cast<std::uintptr_t>(request.losses));
  add(samples.batch().task);
  add(samples.nodes());
  add(samples.size());
  add(samples.rounded());
  for (std::int64_t step = 0; step < samples.steps(); ++step) {
    add(samples.active(step));
    add(samples.compared(step));
    add(samples.going_on(step));
  }
}

void ShardRunner::predict(const PlacedNet& placed, const Batch& batch, Predictions& predictions) {
  const ProfileRange range("predict");
  check_place(placed, device_);
  predictions.prepare(batch);
  const Net& net = placed.net();
  const ActiveParameters active = net.active(batch.task);
  const auto run = [&](Tape& tape, const Batch::Shard& shard) {
    tape.start(Tape::Mode::kPredict, placed.values(), nullptr, active, &packed_);
    net.forward(tape, Samples(batch, shard),
                {.pass = Net::Pass::kEvaluate, .predictions = &predictions});
  };
  if (device_ != Device::kCpu) return run(tapes_[0], {0, batch.size});
  packed_.pack(net.parameters(), active, threads_);
  for_each_shard(static_cast<int>(batch.shards.size()), threads_, [&](int shard, int worker) {
    run(tapes_[static_cast<std::size_t>(worker)], batch.shards[static_cast<std::size_t>(shard)]);
  });
}

}  // namespace renar

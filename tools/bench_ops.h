// `renar_bench ops`: what each op costs on one core or on a device, forward and backward.
//
// The shapes are those of one shard at --length nodes: (B,N,H) of nodes, (B,N,N,H) of edges. An op
// runs on a tape of its own, as in a training step; backward starts from a gradient of ones, on a
// device of zeros. The products' GFLOP/s count forward and backward together.
//
// On a device all calls are queued before one waits: where the device is faster than the host, the
// time is what it takes to queue the call. In training most launches come in a graph
// (core/launch_graphs.h) and cost less.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/clock.h"
#include "core/device_buffer.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/tape.h"
#include "core/version.h"
#include "kernels/attention.h"
#include "kernels/carry.h"
#include "kernels/columns.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/edge_pointer_means.h"
#include "kernels/gated_update.h"
#include "kernels/gemm.h"
#include "kernels/head_dot.h"
#include "kernels/hide.h"
#include "kernels/layer_norm.h"
#include "kernels/linear.h"
#include "kernels/linear_max.h"
#include "kernels/log_sinkhorn.h"
#include "kernels/loss_sum.h"
#include "kernels/lstm_cell.h"
#include "kernels/mask_cross_entropy.h"
#include "kernels/mean.h"
#include "kernels/memory.h"
#include "kernels/node_add.h"
#include "kernels/node_max.h"
#include "kernels/pointer_head.h"
#include "kernels/pointwise.h"
#include "kernels/sender_max.h"
#include "kernels/softmax.h"
#include "kernels/squared_error.h"
#include "kernels/triplet_max.h"
#include "tools/bench_times.h"
#include "tools/program.h"
#include "trainer/machine.h"

namespace renar {

constexpr int kHeads = 4;  // of attention

struct OpsOptions {
  int length = 16, batch = 1, hidden = 128, repeats = 200;
  std::string device = "cpu", precision = "fp32";
  bool json = false;
};

/// An op, the tensors that it is given, and how it is called. A loss gives no tensor.
struct OpCase {
  using Call = std::function<Tensor(Tape&, const std::vector<Tensor>&)>;

  std::string name;
  std::vector<Shape> inputs;
  Call call;
};

/// What an op is given beside its inputs, on the device: numbers that stay as they are.
class OpData {
 public:
  OpData(Device device, const OpsOptions& o)
      : targets_(device), truth_(device), scale_(device), loss_(device) {
    const std::int64_t nodes = std::int64_t{o.batch} * o.length;
    const Real one = 1;
    targets_.zeros(nodes);
    truth_.zeros(nodes * o.length);
    scale_.upload(&one, 1);
    loss_.zeros(1);
    places_.assign(static_cast<std::size_t>(o.batch), 0);
  }

  const std::int32_t* targets() const { return targets_.data(); }  // (B N)
  const Real* truth() const { return truth_.data(); }              // (B,N,N)
  const Real* scale() const { return scale_.data(); }              // of losses
  const int* places() const { return places_.data(); }             // (B), on the host
  /// Where a loss of up to `most` elements adds its costs.
  LossSum costs(Tape& tape, std::int64_t most) const {
    LossSum sum(*loss_.data(), most);
    open_sums(tape, &sum, 1);
    return sum;
  }

 private:
  DeviceBuffer<std::int32_t> targets_;
  DeviceBuffer<Real> truth_, scale_;
  DeviceBuffer<double> loss_;
  std::vector<int> places_;
};

inline std::vector<OpCase> op_cases(const OpsOptions& o, const OpData& data) {
  const std::int64_t b = o.batch, n = o.length, h = o.hidden, f = 8, heads = kHeads;
  const Shape node{b, n, h}, edge{b, n, n, h}, pairs{b, n, n}, triplets{b, n, n, f},
      raw{b, n, n, 5};
  const Shape square{h, h}, row{h}, one{1};
  using In = const std::vector<Tensor>&;
  std::vector<OpCase> cases;
  const auto add = [&](const char* name, std::vector<Shape> inputs, OpCase::Call call) {
    cases.push_back({name, std::move(inputs), std::move(call)});
  };

  add("linear, of nodes", {node, square, row}, [](Tape& t, In in) {
    return linear(t, {{in[0], in[1]}}, {in[2]});
  });
  add("linear, of edges, relu", {edge, square, row}, [](Tape& t, In in) {
    return linear(t, {{in[0], in[1]}}, {in[2]}, Activation::kRelu);
  });
  add("edge_linear, ends and 5 numbers", {node, node, raw, {5, h}}, [](Tape& t, In in) {
    return edge_linear(t, in[0], in[1], {{in[2], in[3]}}, {}, Activation::kRelu);
  });
  add("linear_max", {edge, square, row},
      [](Tape& t, In in) { return linear_max(t, in[0], in[1], in[2], {}); });
  add("sender_max", {edge}, [](Tape& t, In in) { return sender_max(t, in[0], {}); });
  add("triplet_max", {triplets, triplets, triplets},
      [](Tape& t, In in) { return triplet_max(t, in[0], in[1], in[2]); });
  add("pointer_head", {node, edge, {h, 1}, one},
      [](Tape& t, In in) { return pointer_head(t, in[0], in[1], in[2], in[3]); });
  add("edge_pointer_head", {edge, node, {h, 1}, one},
      [](Tape& t, In in) { return edge_pointer_head(t, in[0], in[1], in[2], in[3]); });
  add("gated_update", {node, node, node},
      [](Tape& t, In in) { return gated_update(t, in[0], in[1], in[2]); });
  add("layer_norm", {node, row, row},
      [](Tape& t, In in) { return layer_norm(t, in[0], in[1], in[2]); });
  add("lstm_cell", {{b, n, 4 * h}, node},
      [](Tape& t, In in) { return lstm_cell(t, in[0], in[1]).hidden; });
  add("attention_weights", {{b, n, n, heads}},
      [](Tape& t, In in) { return attention_weights(t, in[0], {}); });
  add("attend", {{b, n, n, heads}, node, node},
      [](Tape& t, In in) { return attend(t, in[0], in[1], in[2]); });
  add("head_dot", {edge, {h, 1}, one}, [](Tape& t, In in) {
    const Head* head = new (t.host_array<Head>(1)) Head{in[1], in[2]};
    return head_dot(t, in[0], {head, 1});
  });
  add("memory_read", {{b, n, h}, {b, n, n, h}, {b, n, n, h}, {n, h}},
      [](Tape& t, In in) { return memory_read(t, in[0], in[1], in[2], in[3]); });
  add("softmax", {pairs}, [](Tape& t, In in) { return softmax(t, in[0]); });
  add("log_sinkhorn, 10 rounds", {pairs},
      [](Tape& t, In in) { return log_sinkhorn(t, in[0], 10); });
  add("edge_pointer_means", {{b, n, n, n}},
      [](Tape& t, In in) { return edge_pointer_means(t, in[0]); });
  add("node_max", {node}, [](Tape& t, In in) { return node_max(t, in[0]); });
  add("node_add", {node, {b, h}}, [](Tape& t, In in) { return node_add(t, in[0], in[1]); });
  add("columns, of 4 numbers", {pairs, pairs, pairs, pairs}, [=](Tape& t, In in) {
    Sources sources;
    for (const Tensor& x : in) sources.add(x.reshaped({b * n * n, 1}));
    return columns(t, b * n * n, sources);
  });
  add("mean, of 3", {edge, edge, edge}, [](Tape& t, In in) { return mean(t, in.data(), 3); });
  add("relu", {edge}, [](Tape& t, In in) { return relu(t, in[0]); });
  add("sigmoid", {node}, [](Tape& t, In in) { return sigmoid(t, in[0]); });
  add("add", {edge, edge}, [](Tape& t, In in) { return renar::add(t, in[0], in[1]); });
  add("dropout", {node}, [&data](Tape& t, In in) {
    return dropout(t, in[0], 0.5, {.seed = 1, .samples = data.places()});
  });
  add("hide", {pairs, pairs}, [](Tape& t, In in) {
    return hide(t, in[0], {in[1].data, nullptr, in[1].shape});
  });
  add("carry", {node}, [](Tape& t, In in) { return carry(t, in[0]); });
  add("cross_entropy", {{b * n, n}}, [&data](Tape& t, In in) {
    cross_entropy(t, in[0], data.targets(), data.scale(), data.costs(t, in[0].rows()));
    return Tensor{};
  });
  add("mask_cross_entropy", {pairs}, [&data](Tape& t, In in) {
    mask_cross_entropy(t, in[0], data.truth(), data.scale(), data.costs(t, in[0].size()));
    return Tensor{};
  });
  add("squared_error", {pairs}, [&data](Tape& t, In in) {
    squared_error(t, in[0], data.truth(), data.scale(), data.costs(t, in[0].size()));
    return Tensor{};
  });
  return cases;
}

struct OpTimes {
  std::string name;
  double forward_us = 0, backward_us = 0, gflop = 0;

  double gflops() const { return gflop / (forward_us + backward_us) * 1e6; }
};

/// An op and what it is given, on a tape of its own.
class OpRuns {
 public:
  OpRuns(const OpCase& op, const Machine& machine)
      : op_(op), tape_(machine.device, machine.precision) {
    CounterRng random(1, Purpose::kInitialisation, 0, 0);
    for (const Shape& shape : op.inputs) {
      std::vector<Real> numbers(2 * static_cast<std::size_t>(shape.size()));  // and a gradient of 0
      for (std::int64_t i = 0; i < shape.size(); ++i) {
        numbers[static_cast<std::size_t>(i)] = static_cast<Real>(random.uniform() - 0.5);
      }
      Real* there = memory_.emplace_back(machine.device).upload(numbers.data(), 2 * shape.size());
      inputs_.push_back({there, there + shape.size(), shape});
    }
  }

  Tensor forward() {
    tape_.start(Tape::Mode::kRecord, nullptr, &no_gradients_);
    return op_.call(tape_, inputs_);
  }
  void backward() { tape_.backward(); }
  void wait() const {
    Real first = 0;
    memory_.front().download(&first, 1);
  }

 private:
  const OpCase& op_;
  Tape tape_;
  Real no_gradients_ = 0;
  std::vector<DeviceBuffer<Real>> memory_;
  std::vector<Tensor> inputs_;
};

/// Microseconds of a call, forward and backward: the least of `repeats` calls.
inline void time_on_cpu(OpRuns& runs, int repeats, OpTimes& times) {
  std::vector<double> forward, backward;
  for (int i = 0; i < repeats; ++i) {
    const double start = seconds_now();
    const Tensor y = runs.forward();
    const double middle = seconds_now();
    if (y.has_grad()) std::fill_n(y.grad, y.size(), Real{1});
    const double turned = seconds_now();
    runs.backward();
    forward.push_back((middle - start) * 1e6);
    backward.push_back((seconds_now() - turned) * 1e6);
  }
  times.forward_us = times_of(std::move(forward)).min;
  times.backward_us = times_of(std::move(backward)).min;
}

/// The same of calls in a row, the least of some tries.
inline void time_on_device(OpRuns& runs, int repeats, OpTimes& times) {
  constexpr int kTimes = 5;
  const auto microseconds = [&](bool both) {
    const Times tries = time_of(kTimes, [&] {
      for (int i = 0; i < repeats; ++i) {
        runs.forward();
        if (both) runs.backward();
      }
      runs.wait();
    });
    return tries.min * 1e3 / repeats;
  };
  times.forward_us = microseconds(false);
  times.backward_us = std::max(0.0, microseconds(true) - times.forward_us);
}

inline OpTimes time_op(const OpCase& op, const Machine& machine, int repeats) {
  OpRuns runs(op, machine);
  count_flops(true);
  runs.forward();  // warms up, too
  runs.backward();
  runs.wait();
  OpTimes times{.name = op.name, .gflop = static_cast<double>(counted_flops()) / 1e9};
  count_flops(false);
  machine.device == Device::kCpu ? time_on_cpu(runs, repeats, times)
                                 : time_on_device(runs, repeats, times);
  return times;
}

/// Throws renar::UsageError where the hidden units cannot be shared among the heads.
inline int bench_ops(const OpsOptions& o) {
  if (o.hidden % kHeads != 0) {
    throw UsageError(message_of("--hidden {}: not a multiple of {} heads", o.hidden, kHeads));
  }
  const Machine machine = machine_of(o.device, 1, o.precision);
  const OpData data(machine.device, o);
  Json list = Json::array();
  if (!o.json) {
    fmt::print("{:<36}{:>14}{:>14}{:>12}\n",
               fmt::format("n = {}, batch {}, hidden {}", o.length, o.batch, o.hidden),
               "forward, us", "backward, us", "GFLOP/s");
  }
  for (const OpCase& op : op_cases(o, data)) {
    const OpTimes t = time_op(op, machine, o.repeats);
    list.push_back({{"op", t.name},
                    {"forward_us_min", t.forward_us},
                    {"backward_us_min", t.backward_us},
                    {"gflop", t.gflop}});
    if (o.json) continue;
    print_out(fmt::format("{:<36}{:>14.1f}{:>14.1f}{:>12}\n", t.name, t.forward_us, t.backward_us,
                          t.gflop > 0 ? fmt::format("{:.0f}", t.gflops()) : ""));
  }
  const bool on_cpu = machine.device == Device::kCpu;
  if (!o.json) {
    fmt::print("machine: {}\n", text_of(machine));
    return 0;
  }
  const Json out = {{"nodes", o.length},
                    {"batch", o.batch},
                    {"hidden", o.hidden},
                    {"device", on_cpu ? "cpu" : text_of(machine)},
                    {"ops", list},
                    {"cpu", cpu_model()},
                    {"isa", instruction_set()}};
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace renar

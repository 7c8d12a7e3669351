#include "kernels/adjacency.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

constexpr Real kHighest = std::numeric_limits<Real>::infinity();

struct SetIdentity {
  std::int64_t n;
  Real* adj;

  Touched touched(std::int64_t count) const { return Touched().writes(adj, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    adj[at] = at % n == at / n % n ? Real{1} : Real{0};
  }
};

struct AddEdge {
  std::int64_t n;
  Real threshold;
  const Real* relation;
  Real* adj;

  Touched touched(std::int64_t count) const {
    return Touched().reads(relation, count).writes(adj, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t j = at % n, i = at / n % n, b = at / n / n;
    if (relation[at] + relation[(b * n + j) * n + i] > threshold) adj[at] = 1;
  }
};

/// What forward and backward of mask_non_edges share.
struct Masked {
  std::int64_t batch, sample;  // numbers of a sample
  Tensor x, adj, y;
};

void mask_on_cpu(const Masked& s) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const Real* in = s.x.data + b * s.sample;
    const Real fill = std::min(Real{-1}, *std::min_element(in, in + s.sample) - 1);
    for (std::int64_t i = 0; i < s.sample; ++i) {
      s.y.data[b * s.sample + i] = s.adj.data[b * s.sample + i] > 0 ? in[i] : fill;
    }
  }
}

void unmask_on_cpu(const Masked& s) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const Real *in = s.x.data + b * s.sample, *edge = s.adj.data + b * s.sample;
    const Real *dy = s.y.grad + b * s.sample, smallest = *std::min_element(in, in + s.sample);
    Real* dx = s.x.grad + b * s.sample;
    Real dfill = 0;
    for (std::int64_t i = 0; i < s.sample; ++i) (edge[i] > 0 ? dx[i] : dfill) += dy[i];
    if (smallest > 0) continue;     // the fill is -1 there
    if (smallest == 0) dfill /= 2;  // both sides of the outer minimum are equal
    dfill /= static_cast<Real>(std::count(in, in + s.sample, smallest));
    for (std::int64_t i = 0; i < s.sample; ++i) {
      if (in[i] == smallest) dx[i] += dfill;
    }
  }
}

// On a device a warp has a sample: 256 numbers at 16 nodes, eight a lane.
__device__ Real smallest_of(std::int64_t sample, const Real* in) {
  Real smallest = kHighest;
  for (std::int64_t i = lane_index(); i < sample; i += kWarp) {
    smallest = in[i] < smallest ? in[i] : smallest;
  }
  return -warp_max(-smallest);
}

struct MaskSample {
  std::int64_t sample;
  const Real *x, *adj;
  Real* y;

  Touched touched(std::int64_t batch) const {
    const std::int64_t size = batch * sample;
    return Touched().reads(x, size).reads(adj, size).writes(y, size);
  }
  __device__ void operator()(std::int64_t b) const {
    const std::int64_t at = b * sample;
    const Real below = smallest_of(sample, x + at) - 1;
    const Real fill = below < -1 ? below : Real{-1};
    for (std::int64_t i = at + lane_index(); i < at + sample; i += kWarp) {
      y[i] = adj[i] > 0 ? x[i] : fill;
    }
  }
};

struct UnmaskSample {
  std::int64_t sample;
  const Real *x, *adj, *dy;
  Real* dx;

  Touched touched(std::int64_t batch) const {
    const std::int64_t size = batch * sample;
    return Touched().reads(x, size).reads(adj, size).reads(dy, size).writes(dx, size);
  }
  __device__ void operator()(std::int64_t b) const {
    const std::int64_t at = b * sample;
    const Real smallest = smallest_of(sample, x + at);
    Real dfill = 0, equal = 0;
    for (std::int64_t i = at + lane_index(); i < at + sample; i += kWarp) {
      if (adj[i] > 0) {
        dx[i] += dy[i];
      } else {
        dfill += dy[i];
      }
      equal += x[i] == smallest ? Real{1} : Real{0};
    }
    dfill = warp_sum(dfill);
    equal = warp_sum(equal);
    if (smallest > 0) return;
    if (smallest == 0) dfill /= 2;
    dfill /= equal;
    for (std::int64_t i = at + lane_index(); i < at + sample; i += kWarp) {
      if (x[i] == smallest) dx[i] += dfill;
    }
  }
};

}  // namespace

Tensor identity_adjacency(Tape& tape, std::int64_t batch, std::int64_t nodes) {
  Tensor adj = tape.constant({batch, nodes, nodes});
  for_each(tape.device(), adj.size(), SetIdentity{nodes, adj.data});
  return adj;
}

void add_edges(Device device, Tensor adj, Tensor relation, Real threshold) {
  RENAR_CHECK(adj.size() == relation.size(), "[adjacency] relation {} does not fit adj {}",
              relation.shape.text(), adj.shape.text());
  for_each(device, adj.size(), AddEdge{adj.dim(1), threshold, relation.data, adj.data});
}

Tensor mask_non_edges(Tape& tape, Tensor x, Tensor adj) {
  RENAR_CHECK(x.size() == adj.size(), "[mask_non_edges] x {} does not fit adj {}", x.shape.text(),
              adj.shape.text());
  const Device device = tape.device();
  const Masked s{x.dim(0), x.size() / x.dim(0), x, adj, tape.output(x.shape, {x})};
  if (device == Device::kCpu) {
    mask_on_cpu(s);
  } else {
    for_each_row(s.batch, MaskSample{s.sample, x.data, adj.data, s.y.data});
  }
  tape.record(s.y, [=] {
    if (device == Device::kCpu) return unmask_on_cpu(s);
    for_each_row(s.batch, UnmaskSample{s.sample, s.x.data, s.adj.data, s.y.grad, s.x.grad});
  });
  return s.y;
}

}  // namespace renar

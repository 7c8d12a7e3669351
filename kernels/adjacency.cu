#include "kernels/adjacency.h"

#include <algorithm>

#include "core/check.h"

namespace renar {

Tensor identity_adjacency(Tape& tape, std::int64_t batch, std::int64_t nodes) {
  Tensor adj = tape.constant({batch, nodes, nodes});
  std::fill_n(adj.data, adj.size(), Real{0});
  for (std::int64_t i = 0; i < batch * nodes; ++i) adj.data[i * nodes + i % nodes] = 1;
  return adj;
}

void add_edges(Tensor adj, Tensor relation, Real threshold) {
  RENAR_CHECK(adj.size() == relation.size(), "[adjacency] relation {} does not fit adj {}",
              relation.shape.text(), adj.shape.text());
  const std::int64_t n = adj.dim(1);
  for (std::int64_t b = 0; b < adj.dim(0); ++b) {
    const Real* r = relation.data + b * n * n;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (r[i * n + j] + r[j * n + i] > threshold) adj.data[(b * n + i) * n + j] = 1;
      }
    }
  }
}

Tensor mask_non_edges(Tape& tape, Tensor x, Tensor adj) {
  RENAR_CHECK(x.size() == adj.size(), "[mask_non_edges] x {} does not fit adj {}", x.shape.text(),
              adj.shape.text());
  const std::int64_t batch = x.dim(0), sample = x.size() / batch;
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t b = 0; b < batch; ++b) {
    const Real* in = x.data + b * sample;
    const Real fill = std::min(Real{-1}, *std::min_element(in, in + sample) - 1);
    for (std::int64_t i = 0; i < sample; ++i) {
      y.data[b * sample + i] = adj.data[b * sample + i] > 0 ? in[i] : fill;
    }
  }
  tape.record(y, [=] {
    for (std::int64_t b = 0; b < batch; ++b) {
      const Real *in = x.data + b * sample, *edge = adj.data + b * sample;
      const Real *dy = y.grad + b * sample, smallest = *std::min_element(in, in + sample);
      Real* dx = x.grad + b * sample;
      Real dfill = 0;
      for (std::int64_t i = 0; i < sample; ++i) (edge[i] > 0 ? dx[i] : dfill) += dy[i];
      if (smallest > 0) continue;     // the fill is -1 there
      if (smallest == 0) dfill /= 2;  // both sides of the outer minimum are equal
      dfill /= static_cast<Real>(std::count(in, in + sample, smallest));
      for (std::int64_t i = 0; i < sample; ++i) {
        if (in[i] == smallest) dx[i] += dfill;
      }
    }
  });
  return y;
}

}  // namespace renar

#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/simd.h"

namespace renar {
namespace {

// y[kF+f] += p[k] x[kF+f]
RENAR_CLONES void add_weighted(std::int64_t heads, std::int64_t width, const Real* p, const Real* x,
                               Real* y) {
  for (std::int64_t k = 0; k < heads; ++k) {
    for (std::int64_t f = 0; f < width; ++f) y[k * width + f] += p[k] * x[k * width + f];
  }
}

// sum over f of a[f] b[f]
Real dot(std::int64_t width, const Real* a, const Real* b) {
  Real sum = 0;
  for (std::int64_t f = 0; f < width; ++f) sum += a[f] * b[f];
  return sum;
}

/// One listener's `count` numbers of one head, and whom it hears; a row without any edge counts as
/// full.
class Row {
 public:
  Row(std::int64_t count, std::int64_t heads, const Real* edges)
      : count_(count), heads_(heads), edges_(edges) {
    const bool deaf =
        std::none_of(edges, edges + (edges ? count : 0), [](Real e) { return e > 0; });
    if (deaf) edges_ = nullptr;
  }
  template <class Each>
  void for_each_heard(const Each& each) const {
    for (std::int64_t j = 0; j < count_; ++j) {
      if (edges_ == nullptr || edges_[j] > 0) each(j * heads_);
    }
  }

 private:
  std::int64_t count_, heads_;
  const Real* edges_;
};

void softmax_of(const Row& row, const Real* x, Real* p) {
  Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
  row.for_each_heard([&](std::int64_t j) { largest = std::max(largest, x[j]); });
  row.for_each_heard([&](std::int64_t j) { sum += p[j] = std::exp(x[j] - largest); });
  row.for_each_heard([&](std::int64_t j) { p[j] /= sum; });
}

}  // namespace

Tensor head_dot(Tape& tape, Tensor x, std::span<const Head> heads) {
  const auto count = static_cast<std::int64_t>(heads.size());
  const std::int64_t rows = x.rows(), width = count == 0 ? 0 : x.cols() / count;
  bool wants_grad = x.has_grad();
  for (const Head& head : heads) {
    RENAR_CHECK(head.w.size() * count == x.cols() && head.b.size() == 1,
                "[head_dot] w {} and b {} of {} heads do not fit x {}", head.w.shape.text(),
                head.b.shape.text(), count, x.shape.text());
    wants_grad = wants_grad || head.w.has_grad() || head.b.has_grad();
  }
  RENAR_CHECK(count > 0, "[head_dot] no heads for x {}", x.shape.text());
  Shape shape = x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = count;
  Tensor y = tape.output(shape, wants_grad);  // (..,K)
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < count; ++k) {
      const Head& head = heads[static_cast<std::size_t>(k)];
      y.data[r * count + k] =
          dot(width, x.data + (r * count + k) * width, head.w.data) + head.b.data[0];
    }
  }
  tape.record(y, [=] {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < count; ++k) {
        const Head& head = heads[static_cast<std::size_t>(k)];
        const std::int64_t at = (r * count + k) * width;
        const Real* dy = y.grad + r * count + k;
        if (x.has_grad()) add_weighted(1, width, dy, head.w.data, x.grad + at);
        if (head.w.has_grad()) add_weighted(1, width, dy, x.data + at, head.w.grad);
        if (head.b.has_grad()) head.b.grad[0] += *dy;
      }
    }
  });
  return y;
}

Tensor attention_weights(Tape& tape, Tensor logits, Tensor adj) {
  RENAR_CHECK(logits.shape.rank == 4 && logits.dim(1) == logits.dim(2),
              "[attention_weights] logits {} are not (B,N,N,K)", logits.shape.text());
  const std::int64_t n = logits.dim(2), heads = logits.dim(3), listeners = logits.dim(0) * n;
  RENAR_CHECK(!adj || adj.size() == listeners * n,
              "[attention_weights] adj {} does not fit logits {}", adj.shape.text(),
              logits.shape.text());
  Tensor p = tape.output(logits.shape, {logits});
  std::fill_n(p.data, p.size(), Real{0});
  for (std::int64_t i = 0; i < listeners; ++i) {
    const Row row(n, heads, adj ? adj.data + i * n : nullptr);
    for (std::int64_t k = 0; k < heads; ++k) {
      softmax_of(row, logits.data + i * n * heads + k, p.data + i * n * heads + k);
    }
  }
  // Where p is 0, so is its part of the gradient: backward needs no adjacency.
  tape.record(p, [=] {
    for (std::int64_t i = 0; i < listeners; ++i) {
      for (std::int64_t k = 0; k < heads; ++k) {
        const std::int64_t first = i * n * heads + k, last = first + n * heads;
        Real along = 0;
        for (std::int64_t at = first; at < last; at += heads) along += p.data[at] * p.grad[at];
        for (std::int64_t at = first; at < last; at += heads) {
          logits.grad[at] += p.data[at] * (p.grad[at] - along);
        }
      }
    }
  });
  return p;
}

Tensor attend(Tape& tape, Tensor weights, Tensor values, Tensor onto) {
  RENAR_CHECK(weights.shape.rank == 4 && values.shape.rank == 3,
              "[attend] weights {} and values {} are not (B,N,N,K) and (B,N,H)",
              weights.shape.text(), values.shape.text());
  const std::int64_t batch = values.dim(0), n = values.dim(1), h = values.dim(2);
  const std::int64_t heads = weights.dim(3), width = h / heads;
  RENAR_CHECK(weights.size() == batch * n * n * heads && width * heads == h,
              "[attend] weights {} do not fit values {}", weights.shape.text(),
              values.shape.text());
  RENAR_CHECK(!onto || onto.shape == values.shape, "[attend] onto {} and values {} differ",
              onto.shape.text(), values.shape.text());
  Tensor y = tape.output(values.shape, {weights, values, onto});  // (B,N,H)
  if (onto) std::copy_n(onto.data, onto.size(), y.data);
  if (!onto) std::fill_n(y.data, y.size(), Real{0});
  const auto for_each_pair = [=](const auto& each) {  // (place of the weights, of i, of j)
    for (std::int64_t i = 0; i < batch * n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) each((i * n + j) * heads, i * h, (i / n * n + j) * h);
    }
  };
  for_each_pair([=](std::int64_t p, std::int64_t i, std::int64_t j) {
    add_weighted(heads, width, weights.data + p, values.data + j, y.data + i);
  });
  tape.record(y, [=] {
    for_each_pair([=](std::int64_t p, std::int64_t i, std::int64_t j) {
      if (values.has_grad()) {
        add_weighted(heads, width, weights.data + p, y.grad + i, values.grad + j);
      }
      for (std::int64_t k = 0; weights.has_grad() && k < heads; ++k) {
        const std::int64_t f = k * width;
        weights.grad[p + k] += dot(width, y.grad + i + f, values.data + j + f);
      }
    });
    for (std::int64_t i = 0; onto.has_grad() && i < y.size(); ++i) onto.grad[i] += y.grad[i];
  });
  return y;
}

}  // namespace renar

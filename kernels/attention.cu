#include "kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/accumulate.h"

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
  Real largest = kMinusInfinity, sum = 0;
  row.for_each_heard([&](std::int64_t j) { largest = std::max(largest, x[j]); });
  row.for_each_heard([&](std::int64_t j) { sum += p[j] = std::exp(x[j] - largest); });
  row.for_each_heard([&](std::int64_t j) { p[j] /= sum; });
}

void weights_on_cpu(std::int64_t listeners, std::int64_t n, std::int64_t heads, const Real* logits,
                    const Real* adj, Real* p) {
  std::fill_n(p, listeners * n * heads, Real{0});
  for (std::int64_t i = 0; i < listeners; ++i) {
    const Row row(n, heads, adj ? adj + i * n : nullptr);
    for (std::int64_t k = 0; k < heads; ++k) {
      softmax_of(row, logits + i * n * heads + k, p + i * n * heads + k);
    }
  }
}

// Where p is 0, so is its part of the gradient: backward needs no adjacency.
void pass_weights_on_cpu(std::int64_t listeners, std::int64_t n, std::int64_t heads, const Real* p,
                         const Real* dp, Real* dlogits) {
  for (std::int64_t i = 0; i < listeners; ++i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const std::int64_t first = i * n * heads + k, last = first + n * heads;
      Real along = 0;
      for (std::int64_t at = first; at < last; at += heads) along += p[at] * dp[at];
      for (std::int64_t at = first; at < last; at += heads) dlogits[at] += p[at] * (dp[at] - along);
    }
  }
}

// A warp a listener and head, a lane a sender: n is 16 to 64 as a rule. Warps of the same listener
// are neighbours and read the same lines, each its own head's numbers.
struct Weigh {
  std::int64_t n, heads;
  const Real *logits, *adj;
  Real* p;

  Touched touched(std::int64_t rows) const {
    return Touched().reads(logits, rows * n).reads(adj, rows / heads * n).writes(p, rows * n);
  }
  __device__ void operator()(std::int64_t row) const {
    const std::int64_t i = row / heads, k = row % heads;
    const Real* edges = adj == nullptr ? nullptr : adj + i * n;
    if (edges != nullptr) {
      bool hears = false;
      for (std::int64_t j = lane_index(); j < n; j += kWarp) hears = hears || edges[j] > 0;
      if (!__any_sync(kAllLanes, hears)) edges = nullptr;  // it counts as full
    }
    const Real* x = logits + i * n * heads + k;
    Real *out = p + i * n * heads + k, largest = kMinusInfinity, sum = 0;
    for (std::int64_t j = lane_index(); j < n; j += kWarp) {
      if (edges != nullptr && edges[j] <= 0) continue;
      largest = x[j * heads] > largest ? x[j * heads] : largest;
    }
    largest = warp_max(largest);
    for (std::int64_t j = lane_index(); j < n; j += kWarp) {
      const bool heard = edges == nullptr || edges[j] > 0;
      out[j * heads] = heard ? std::exp(x[j * heads] - largest) : Real{0};
      sum += out[j * heads];
    }
    sum = warp_sum(sum);
    for (std::int64_t j = lane_index(); j < n; j += kWarp) out[j * heads] /= sum;
  }
};

struct PassWeights {
  std::int64_t n, heads;
  const Real *p, *dp;
  Real* dlogits;

  Touched touched(std::int64_t rows) const {
    return Touched().reads(p, rows * n).reads(dp, rows * n).writes(dlogits, rows * n);
  }
  __device__ void operator()(std::int64_t row) const {
    const std::int64_t first = row / heads * n * heads + row % heads;
    Real along = 0;
    for (std::int64_t j = lane_index(); j < n; j += kWarp) {
      along += p[first + j * heads] * dp[first + j * heads];
    }
    along = warp_sum(along);
    for (std::int64_t j = lane_index(); j < n; j += kWarp) {
      const std::int64_t at = first + j * heads;
      dlogits[at] += p[at] * (dp[at] - along);
    }
  }
};

/// What attend has and its backward needs.
struct Attend {
  std::int64_t batch, n, heads, width;
  Tensor weights, values, onto, y;

  /// each(place of the weights, of i, of j) for every listener i and sender j.
  template <class Each>
  void for_each_pair(const Each& each) const {
    const std::int64_t h = heads * width;
    for (std::int64_t i = 0; i < batch * n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) each((i * n + j) * heads, i * h, (i / n * n + j) * h);
    }
  }
};

void attend_on_cpu(const Attend& s) {
  if (s.onto) std::copy_n(s.onto.data, s.onto.size(), s.y.data);
  if (!s.onto) std::fill_n(s.y.data, s.y.size(), Real{0});
  s.for_each_pair([&](std::int64_t p, std::int64_t i, std::int64_t j) {
    add_weighted(s.heads, s.width, s.weights.data + p, s.values.data + j, s.y.data + i);
  });
}

void pass_attend_on_cpu(const Attend& s) {
  s.for_each_pair([&](std::int64_t p, std::int64_t i, std::int64_t j) {
    if (s.values.has_grad()) {
      add_weighted(s.heads, s.width, s.weights.data + p, s.y.grad + i, s.values.grad + j);
    }
    for (std::int64_t k = 0; s.weights.has_grad() && k < s.heads; ++k) {
      const std::int64_t f = k * s.width;
      s.weights.grad[p + k] += dot(s.width, s.y.grad + i + f, s.values.data + j + f);
    }
  });
}

// A thread a number of a listener: warps read whole lines of the senders, which all listeners of a
// sample share and which therefore lie in cache.
struct Hear {
  std::int64_t n, h, heads, width;
  const Real *p, *values, *onto;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(p, count / h * n * heads)
        .reads(values, count)
        .reads(onto, count)
        .writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t i = at / h, c = at % h, k = c / width, senders = i / n * n;
    Real sum = onto == nullptr ? Real{0} : onto[at];
    for (std::int64_t j = 0; j < n; ++j) {
      sum += p[(i * n + j) * heads + k] * values[(senders + j) * h + c];
    }
    y[at] = sum;
  }
};

// The same from the sender's side: all its listeners.
struct PassToSenders {
  std::int64_t n, h, heads, width;
  const Real *p, *dy;
  Real* dvalues;

  Touched touched(std::int64_t count) const {
    return Touched().reads(p, count / h * n * heads).reads(dy, count).writes(dvalues, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t j = at / h, c = at % h, k = c / width, listeners = j / n * n;
    Real sum = 0;
    for (std::int64_t i = listeners; i < listeners + n; ++i) {
      sum += p[(i * n + j % n) * heads + k] * dy[i * h + c];
    }
    dvalues[at] += sum;
  }
};

// A warp a listener, sender and head: the dot product of F numbers of each.
struct PassToWeight {
  std::int64_t n, heads, width;
  const Real *dy, *values;
  Real* dp;

  Touched touched(std::int64_t count) const {
    const std::int64_t size = count / n * width;
    return Touched().reads(dy, size).reads(values, size).writes(dp, count);
  }
  __device__ void operator()(std::int64_t at) const {
    const std::int64_t k = at % heads, j = at / heads % n, i = at / heads / n;
    const Real* mine = dy + (i * heads + k) * width;
    const Real* theirs = values + ((i / n * n + j) * heads + k) * width;
    Real sum = 0;
    for (std::int64_t f = lane_index(); f < width; f += kWarp) sum += mine[f] * theirs[f];
    sum = warp_sum(sum);
    if (lane_index() == 0) dp[at] += sum;
  }
};

void pass_attend_on_device(Device device, const Attend& s) {
  const std::int64_t h = s.heads * s.width, count = s.weights.size();
  if (s.values.has_grad()) {
    for_each(device, s.values.size(),
             PassToSenders{s.n, h, s.heads, s.width, s.weights.data, s.y.grad, s.values.grad});
  }
  if (s.weights.has_grad()) {
    for_each_row(count,
                 PassToWeight{s.n, s.heads, s.width, s.y.grad, s.values.data, s.weights.grad});
  }
}

}  // namespace

Tensor attention_weights(Tape& tape, Tensor logits, Tensor adj) {
  RENAR_CHECK(logits.shape.rank == 4 && logits.dim(1) == logits.dim(2),
              "[attention_weights] logits {} are not (B,N,N,K)", logits.shape.text());
  const std::int64_t n = logits.dim(2), heads = logits.dim(3), listeners = logits.dim(0) * n;
  RENAR_CHECK(!adj || adj.size() == listeners * n,
              "[attention_weights] adj {} does not fit logits {}", adj.shape.text(),
              logits.shape.text());
  Tensor p = tape.output(logits.shape, {logits});
  const Real* edges = adj.data;
  const bool on_cpu = tape.device() == Device::kCpu;
  if (on_cpu) {
    weights_on_cpu(listeners, n, heads, logits.data, edges, p.data);
  } else {
    for_each_row(listeners * heads, Weigh{n, heads, logits.data, edges, p.data});
  }
  tape.record(p, [=] {
    if (on_cpu) return pass_weights_on_cpu(listeners, n, heads, p.data, p.grad, logits.grad);
    for_each_row(listeners * heads, PassWeights{n, heads, p.data, p.grad, logits.grad});
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
  const Device device = tape.device();
  const bool on_cpu = device == Device::kCpu;
  const Attend s{batch, n, heads, width, weights, values, onto, y};
  if (on_cpu) {
    attend_on_cpu(s);
  } else {
    for_each(device, y.size(),
             Hear{n, h, heads, width, weights.data, values.data, onto.data, y.data});
  }
  tape.record(y, [=] {
    on_cpu ? pass_attend_on_cpu(s) : pass_attend_on_device(device, s);
    if (onto.has_grad()) accumulate(device, y.size(), y.grad, onto.grad);
  });
  return y;
}

}  // namespace renar

#include "kernels/linear.h"

#include <algorithm>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/gemm.h"
#include "kernels/learned_sums.h"

namespace renar {
namespace {

// dsend[b,i] += sum over j, drecv[b,j] += sum over i of dy[b,i,j]
RENAR_CLONES void gather_on_cpu(std::int64_t batch, std::int64_t n, std::int64_t h, const Real* dy,
                                Real* dsend, Real* drecv) {
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j, dy += h) {
        if (dsend != nullptr) {
          Real* s = dsend + (b * n + i) * h;
          for (std::int64_t c = 0; c < h; ++c) s[c] += dy[c];
        }
        if (drecv != nullptr) {
          Real* r = drecv + (b * n + j) * h;
          for (std::int64_t c = 0; c < h; ++c) r[c] += dy[c];
        }
      }
    }
  }
}

// On a device: a thread has channel c of node q and sums over all that it sends, and receives.
struct GatherAtNode {
  std::int64_t n, h;
  const Real* dy;
  Real *dsend, *drecv;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count * n).writes(dsend, count).writes(drecv, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % h, node = at / h, q = node % n, first = (node - q) * n;
    Real sent = 0, received = 0;
    for (std::int64_t other = 0; other < n; ++other) {
      if (dsend != nullptr) sent += dy[(first + q * n + other) * h + c];
      if (drecv != nullptr) received += dy[(first + other * n + q) * h + c];
    }
    if (dsend != nullptr) dsend[at] += sent;
    if (drecv != nullptr) drecv[at] += received;
  }
};

void gather(Device device, const Tensor& y, const Tensor& send, const Tensor& recv) {
  const std::int64_t batch = y.dim(0), n = y.dim(1), h = y.dim(3);
  if (device == Device::kCpu) return gather_on_cpu(batch, n, h, y.grad, send.grad, recv.grad);
  if (!send.has_grad() && !recv.has_grad()) return;
  for_each(device, batch * n * h, GatherAtNode{n, h, y.grad, send.grad, recv.grad});
}

// sums[c] += sum over r of x[r,c]
RENAR_CLONES void add_column_sums(std::int64_t rows, std::int64_t cols, const Real* x, Real* sums) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) sums[c] += x[r * cols + c];
  }
}

RENAR_CLONES void stop_inactive_on_cpu(std::int64_t size, const Real* y, Real* dy) {
  for (std::int64_t i = 0; i < size; ++i) dy[i] = y[i] > 0 ? dy[i] : Real{0};
}

struct StopInactive {
  const Real* y;
  Real* dy;

  Touched touched(std::int64_t count) const { return Touched().reads(y, count).writes(dy, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { dy[i] = y[i] > 0 ? dy[i] : Real{0}; }
};

// dy = 0 where relu was.
void stop_inactive(Device device, const Tensor& y) {
  if (device == Device::kCpu) return stop_inactive_on_cpu(y.size(), y.data, y.grad);
  if (end_with_relu(y.rows(), y.cols(), y.data, y.grad)) return;
  for_each(device, y.size(), StopInactive{y.data, y.grad});
}

void check(const Terms& terms, const Biases& biases, std::int64_t rows, std::int64_t out) {
  for (const Term& term : terms) {
    RENAR_CHECK(term.w.shape.rank == 2 && term.x.cols() == term.w.dim(0) && term.w.dim(1) == out &&
                    term.x.rows() == rows,
                "[linear] x {} and w {} do not give {} rows of {}", term.x.shape.text(),
                term.w.shape.text(), rows, out);
  }
  for (const Tensor& bias : biases) {
    RENAR_CHECK(bias.size() == out, "[linear] bias {} for {} outputs", bias.shape.text(), out);
  }
}

const Real* sum_of(Tape& tape, const Biases& biases) {
  if (biases.size() == 0) return nullptr;
  if (biases.size() == 1) return biases[0].data;
  Tensor sum = tape.constant(biases[0].shape);
  for (std::int64_t c = 0; c < sum.size(); ++c) {
    sum.data[c] = biases[0].data[c];
    for (int k = 1; k < biases.size(); ++k) sum.data[c] += biases[k].data[c];
  }
  return sum.data;
}

bool any_grad(const Biases& biases) {
  return std::any_of(biases.begin(), biases.end(), [](const Tensor& b) { return b.has_grad(); });
}
bool any_grad(const Terms& terms, const Biases& biases) {
  return any_grad(biases) || std::any_of(terms.begin(), terms.end(), [](const Term& t) {
           return t.x.has_grad() || t.w.has_grad();
         });
}

// --- On the CPU: a layer on nodes has few rows, and the gradient of its weight would come from L3
// for each of them. So it is added for several time steps at once, in the same order. ---

/// What a weight was used for since its gradient was last added to.
struct RecentUses {
  std::int64_t in, out;
  std::int64_t rows;  // at most, of one of them
  GemmTerm uses[kMaxFactors];
  int count;
  Real* dy;  // (kMaxFactors,rows,out): time steps share the memory of their gradients
};
constexpr std::int64_t kFewRows = 64;

void add_uses(RecentUses& recent, Real* dw) {
  if (recent.count == 0) return;
  gemm(recent.in, recent.out, recent.uses, recent.count, dw, {.accumulate = true});
  recent.count = 0;
}

// Filed before the first of them: backward meets it after the last. Profiles call it `op`.
void expect_uses(Tape& tape, const Tensor& w, std::int64_t rows, const char* op) {
  if (!w.has_grad() || rows > kFewRows || w.cols() == 1 || !tape.lasts(w.grad)) return;
  bool made;
  RecentUses& recent = tape.shared<RecentUses>(w.grad, made);
  if (!made) return;
  recent = {w.dim(0), w.cols(), rows, {}, 0, tape.array<Real>(kMaxFactors * rows * w.cols())};
  tape.record(
      w, [&recent, dw = w.grad] { add_uses(recent, dw); }, op);
}

void add_use(Tape& tape, const Tensor& x, const Tensor& w, const Tensor& y) {
  const std::int64_t in = x.cols(), out = y.cols(), rows = y.rows();
  RecentUses* recent = tape.find_shared<RecentUses>(w.grad);
  const bool few = recent != nullptr && rows <= recent->rows && recent->in == in;
  if (!few) {
    if (recent != nullptr) add_uses(*recent, w.grad);
    gemm(in, out, rows, {x.data, 1, in}, {y.grad, out, 1}, w.grad, {.accumulate = true});
    return;
  }
  Real* dy = recent->dy + recent->count * recent->rows * out;
  std::copy_n(y.grad, rows * out, dy);
  recent->uses[recent->count++] = {rows, {x.data, 1, in}, {dy, out, 1}};
  if (recent->count == kMaxFactors) add_uses(*recent, w.grad);
}

void forward_on_cpu(Tape& tape, const char* op, const Terms& terms, const Biases& biases,
                    Activation activation, const Tensor& send, const Tensor& recv,
                    const Tensor& y) {
  GemmTerm products[kMaxTerms];
  int count = 0;
  for (const auto& [x, w] : terms) {
    products[count++] = {x.cols(), {x.data, x.cols(), 1}, {w.data, w.dim(1), 1}, tape.panels(w)};
  }
  gemm(y.rows(), y.cols(), products, count, y.data,
       {.bias = sum_of(tape, biases),
        .relu = activation == Activation::kRelu,
        .send = send.data,
        .recv = recv.data,
        .nodes = send || recv ? y.dim(1) : 1});
  if (!y.has_grad()) return;
  for (const auto& [x, w] : terms) expect_uses(tape, w, y.rows(), op);
}

void backward_on_cpu(Tape& tape, const Terms& terms, const Biases& biases, Activation activation,
                     const Tensor& y) {
  const std::int64_t rows = y.rows(), out = y.cols();
  if (activation == Activation::kRelu) stop_inactive(Device::kCpu, y);
  for (const auto& [x, w] : terms) {
    const std::int64_t in = x.cols();
    if (x.has_grad()) {
      const GemmTerm product{out, {y.grad, out, 1}, {w.data, 1, out}, tape.panels_transposed(w)};
      gemm(rows, in, &product, 1, x.grad,
           {.accumulate = true, .next = w.has_grad() ? x.data : nullptr});
    }
    if (w.has_grad()) add_use(tape, x, w, y);
  }
  for (const Tensor& bias : biases) {
    if (bias.has_grad()) add_column_sums(rows, out, y.grad, bias.grad);
  }
}

// --- On a device: a layer's terms in one product; what its weights and biases learn is summed over
// the trajectory (kernels/learned_sums.h). ---

void forward_on_device(Tape& tape, const Terms& terms, const Biases& biases, Activation activation,
                       const Tensor& send, const Tensor& recv, const Tensor& y) {
  ProductSum sum{.rows = y.rows(),
                 .out = y.cols(),
                 .y = y.data,
                 .send = send.data,
                 .recv = recv.data,
                 .nodes = send || recv ? y.dim(1) : 1,
                 .relu = activation == Activation::kRelu,
                 .precision = tape.precision()};
  for (const auto& [x, w] : terms) sum.term[sum.terms++] = {x.data, w.data, x.cols()};
  for (const Tensor& bias : biases) sum.bias[sum.biases++] = bias.data;
  add_products(sum);
  if (!y.has_grad()) return;
  for (const auto& [x, w] : terms) learn_weight(tape, w, x.data, y.grad, y.rows());
  for (const Tensor& bias : biases) learn_bias(tape, bias, y.grad, y.rows());
}

void backward_on_device(const Tape& tape, const Terms& terms, Activation activation,
                        const Tensor& y) {
  if (activation == Activation::kRelu) stop_inactive(tape.device(), y);
  for (const auto& [x, w] : terms) {
    if (!x.has_grad()) continue;
    add_to_input(x.rows(), x.cols(), y.cols(), y.grad, w.data, x.grad, tape.precision());
  }
}

// What y is of its terms and, if it is a layer on edges, of their ends. Profiles call it `op`.
void compute(Tape& tape, const char* op, const Tensor& send, const Tensor& recv, const Terms& terms,
             const Biases& biases, Activation activation, const Tensor& y) {
  const Device device = tape.device();
  const bool has_ends = send || recv;
  if (device != Device::kCpu) {
    forward_on_device(tape, terms, biases, activation, send, recv, y);
  } else {
    forward_on_cpu(tape, op, terms, biases, activation, send, recv, y);
  }
  const auto backward = [=, &tape] {
    if (device != Device::kCpu) {
      backward_on_device(tape, terms, activation, y);
    } else {
      backward_on_cpu(tape, terms, biases, activation, y);
    }
    if (has_ends) gather(device, y, send, recv);
  };
  tape.record(y, backward, op);
}

}  // namespace

Tensor linear(Tape& tape, const Terms& terms, const Biases& biases, Activation activation) {
  RENAR_CHECK(terms.size() > 0, "[linear] no terms");
  Shape shape = terms[0].x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = terms[0].w.cols();
  check(terms, biases, terms[0].x.rows(), terms[0].w.cols());
  Tensor y = tape.lasting_output(shape, any_grad(terms, biases));
  compute(tape, "linear", {}, {}, terms, biases, activation, y);
  return y;
}

Tensor edge_linear(Tape& tape, Tensor send, Tensor recv, const Terms& terms, const Biases& biases,
                   Activation activation) {
  const Tensor& nodes = send ? send : recv;
  RENAR_CHECK(nodes && terms.size() > 0, "[edge_linear] needs send or recv, and a term");
  RENAR_CHECK(!send || !recv || send.shape == recv.shape,
              "[edge_linear] send {} and recv {} differ", send.shape.text(), recv.shape.text());
  const std::int64_t batch = nodes.dim(0), n = nodes.dim(1), h = nodes.dim(2);
  check(terms, biases, batch * n * n, h);
  Tensor y = tape.lasting_output({batch, n, n, h},  // (B,N,N,O)
                                 any_grad(terms, biases) || send.has_grad() || recv.has_grad());
  compute(tape, "edge_linear", send, recv, terms, biases, activation, y);
  return y;
}

}  // namespace renar

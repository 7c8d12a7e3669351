#include "kernels/linear.h"

#include <algorithm>

#include "core/check.h"
#include "core/simd.h"
#include "kernels/gemm.h"

namespace renar {
namespace {

// y[b,i,j] = send[b,i] + recv[b,j]
RENAR_CLONES void spread(std::int64_t batch, std::int64_t n, std::int64_t h, const Real* send,
                         const Real* recv, Real* y) {
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j, y += h) {
        const Real* s = send == nullptr ? nullptr : send + (b * n + i) * h;
        const Real* r = recv == nullptr ? nullptr : recv + (b * n + j) * h;
        for (std::int64_t c = 0; c < h; ++c) y[c] = (s ? s[c] : Real{0}) + (r ? r[c] : Real{0});
      }
    }
  }
}

// dsend[b,i] += sum over j, drecv[b,j] += sum over i of dy[b,i,j]
RENAR_CLONES void gather(std::int64_t batch, std::int64_t n, std::int64_t h, const Real* dy,
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

RENAR_CLONES void zero_where_inactive(std::int64_t size, const Real* y, Real* dy) {
  for (std::int64_t i = 0; i < size; ++i) dy[i] = y[i] > 0 ? dy[i] : Real{0};
}

RENAR_CLONES void add_column_sums(std::int64_t rows, std::int64_t cols, const Real* dy,
                                  Real* sums) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) sums[c] += dy[r * cols + c];
  }
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
  std::copy_n(biases[0].data, sum.size(), sum.data);
  for (int k = 1; k < biases.size(); ++k) {
    for (std::int64_t c = 0; c < sum.size(); ++c) sum.data[c] += biases[k].data[c];
  }
  return sum.data;
}

bool any_grad(const Terms& terms, const Biases& biases) {
  return std::any_of(terms.begin(), terms.end(),
                     [](const Term& t) { return t.x.has_grad() || t.w.has_grad(); }) ||
         std::any_of(biases.begin(), biases.end(), [](const Tensor& b) { return b.has_grad(); });
}

// y [+]= sum over terms, then biases and relu, all in the epilogue of the last product.
void forward(Tape& tape, const Terms& terms, const Biases& biases, Activation activation,
             bool started, Tensor y) {
  const Real* bias = sum_of(tape, biases);
  for (int t = 0; t < terms.size(); ++t) {
    const auto& [x, w] = terms[t];
    const bool last = t + 1 == terms.size();
    gemm(y.rows(), y.cols(), x.cols(), {x.data, x.cols(), 1}, {w.data, w.dim(1), 1}, y.data,
         {.accumulate = started || t > 0,
          .bias = last ? bias : nullptr,
          .relu = last && activation == Activation::kRelu});
  }
}

void backward(const Terms& terms, const Biases& biases, Activation activation, Tensor y) {
  const std::int64_t rows = y.rows(), out = y.cols();
  if (activation == Activation::kRelu) zero_where_inactive(y.size(), y.data, y.grad);
  for (const auto& [x, w] : terms) {
    const std::int64_t in = x.cols();
    if (x.has_grad()) {
      gemm(rows, in, out, {y.grad, out, 1}, {w.data, 1, out}, x.grad, {.accumulate = true});
    }
    if (w.has_grad()) {
      gemm(in, out, rows, {x.data, 1, in}, {y.grad, out, 1}, w.grad, {.accumulate = true});
    }
  }
  for (const Tensor& bias : biases) {
    if (bias.has_grad()) add_column_sums(rows, out, y.grad, bias.grad);
  }
}

}  // namespace

Tensor linear(Tape& tape, const Terms& terms, const Biases& biases, Activation activation) {
  RENAR_CHECK(terms.size() > 0, "[linear] no terms");
  Shape shape = terms[0].x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = terms[0].w.cols();
  check(terms, biases, terms[0].x.rows(), terms[0].w.cols());
  Tensor y = tape.output(shape, any_grad(terms, biases));
  forward(tape, terms, biases, activation, false, y);
  tape.record(y, [=] { backward(terms, biases, activation, y); });
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
  Tensor y = tape.output({batch, n, n, h},  // (B,N,N,O)
                         any_grad(terms, biases) || send.has_grad() || recv.has_grad());
  spread(batch, n, h, send.data, recv.data, y.data);
  forward(tape, terms, biases, activation, true, y);
  tape.record(y, [=] {
    backward(terms, biases, activation, y);
    gather(batch, n, h, y.grad, send.grad, recv.grad);
  });
  return y;
}

Tensor edge_add(Tape& tape, Tensor send, Tensor recv, Tensor e) {
  const std::int64_t batch = e.dim(0), n = e.dim(1), h = e.dim(3);
  RENAR_CHECK((!send || send.size() == batch * n * h) && (!recv || recv.size() == batch * n * h),
              "[edge_add] send or recv do not fit e {}", e.shape.text());
  Tensor y = tape.output(e.shape, {send, recv, e});
  spread(batch, n, h, send.data, recv.data, y.data);
  for (std::int64_t i = 0; i < y.size(); ++i) y.data[i] += e.data[i];
  tape.record(y, [=] {
    gather(batch, n, h, y.grad, send.grad, recv.grad);
    if (!e.has_grad()) return;
    for (std::int64_t i = 0; i < y.size(); ++i) e.grad[i] += y.grad[i];
  });
  return y;
}

}  // namespace renar

#include "kernels/linear.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/accumulate.h"
#include "kernels/column_sums.h"
#include "kernels/gemm.h"

namespace renar {
namespace {

// y[b,i,j] = send[b,i] + recv[b,j]
RENAR_CLONES void spread_on_cpu(std::int64_t batch, std::int64_t n, std::int64_t h,
                                const Real* send, const Real* recv, Real* y) {
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

// A warp a row of y, so that the row's nodes are worked out once and its numbers lie side by side.
__global__ void spread_rows(std::int64_t rows, std::int64_t n, std::int64_t h, const Real* send,
                            const Real* recv, const Real* e, Real* y) {
  const std::int64_t row = warp_index();
  if (row >= rows) return;
  const std::int64_t sender = row / n, receiver = row / n / n * n + row % n;
  for (std::int64_t c = lane_index(); c < h; c += kWarp) {
    const Real sum = (send != nullptr ? send[sender * h + c] : Real{0}) +
                     (recv != nullptr ? recv[receiver * h + c] : Real{0});
    y[row * h + c] = e != nullptr ? sum + e[row * h + c] : sum;
  }
}

// y = send + recv [+ e]; absent ends are null.
void spread(Device device, const Tensor& send, const Tensor& recv, const Tensor& e,
            const Tensor& y) {
  const std::int64_t batch = y.dim(0), n = y.dim(1), h = y.dim(3);
  if (device != Device::kCpu) {
    return launch(one_warp_each(y.rows()), spread_rows, y.rows(), n, h, send.data, recv.data,
                  e.data, y.data);
  }
  spread_on_cpu(batch, n, h, send.data, recv.data, y.data);
  for (std::int64_t i = 0; e && i < y.size(); ++i) y.data[i] += e.data[i];
}

// On a device: a thread has channel c of node q and sums over all that it sends, and receives.
struct GatherAtNode {
  std::int64_t n, h;
  const Real* dy;
  Real *dsend, *drecv;

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

RENAR_CLONES void stop_inactive_on_cpu(std::int64_t size, const Real* y, Real* dy) {
  for (std::int64_t i = 0; i < size; ++i) dy[i] = y[i] > 0 ? dy[i] : Real{0};
}

struct StopInactive {
  const Real* y;
  Real* dy;

  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { dy[i] = y[i] > 0 ? dy[i] : Real{0}; }
};

// dy = 0 where relu was.
void stop_inactive(Device device, const Tensor& y) {
  if (device == Device::kCpu) return stop_inactive_on_cpu(y.size(), y.data, y.grad);
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

struct SumBiases {
  const Real* biases[kMaxTerms];
  int count;
  Real* sum;

  RENAR_HOST_DEVICE void operator()(std::int64_t c) const {
    Real all = biases[0][c];
    for (int k = 1; k < kMaxTerms; ++k) {  // of fixed length, so that the list needs no indexing
      if (k < count) all += biases[k][c];
    }
    sum[c] = all;
  }
};

const Real* sum_of(Tape& tape, const Biases& biases) {
  if (biases.size() == 0) return nullptr;
  if (biases.size() == 1) return biases[0].data;
  Tensor sum = tape.constant(biases[0].shape);
  SumBiases add{{}, biases.size(), sum.data};
  for (int k = 0; k < biases.size(); ++k) add.biases[k] = biases[k].data;
  for_each(tape.device(), sum.size(), add);
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

// y [+]= sum over terms, then biases and relu, all in the epilogue of the last product.
void forward(Tape& tape, const Terms& terms, const Biases& biases, Activation activation,
             bool started, Tensor y) {
  const Real* bias = sum_of(tape, biases);
  for (int t = 0; t < terms.size(); ++t) {
    const auto& [x, w] = terms[t];
    const bool last = t + 1 == terms.size();
    gemm(tape.device(), y.rows(), y.cols(), x.cols(), {x.data, x.cols(), 1}, {w.data, w.dim(1), 1},
         y.data,
         {.accumulate = started || t > 0,
          .bias = last ? bias : nullptr,
          .relu = last && activation == Activation::kRelu});
  }
}

/// What backward needs beside the tensors, on a device.
struct Scratch {
  Real* products = nullptr;  // of gemm, for the gradients of the w
  Real* sums = nullptr;      // (groups_of(y), O), for those of the biases
};

// A bias sums over all rows, often thousands. Seen as (rows / groups, groups O), y has enough
// columns to keep a device busy; 64 groups of 128 are 256 blocks of add_column_sums.
std::int64_t groups_of(const Tensor& y) { return std::gcd(y.rows(), std::int64_t{64}); }

Scratch scratch_for(Tape& tape, const Terms& terms, const Biases& biases, const Tensor& y) {
  Scratch scratch;
  if (tape.device() == Device::kCpu || !y.has_grad()) return scratch;
  std::int64_t most = 0;
  for (const auto& [x, w] : terms) {
    if (w.has_grad()) most = std::max(most, gemm_scratch(x.cols(), y.cols(), y.rows()));
  }
  if (most > 0) scratch.products = tape.array<Real>(most);
  if (any_grad(biases)) scratch.sums = tape.array<Real>(groups_of(y) * y.cols());
  return scratch;
}

void add_to_biases(Device device, const Biases& biases, const Tensor& y, Real* sums) {
  if (device == Device::kCpu) {
    for (const Tensor& bias : biases) {
      if (bias.has_grad()) add_column_sums(device, y.rows(), y.cols(), y.grad, bias.grad);
    }
    return;
  }
  if (sums == nullptr) return;
  const std::int64_t groups = groups_of(y), out = y.cols();
  fill_bytes(device, sums, 0, static_cast<std::size_t>(groups * out) * sizeof(Real));
  add_column_sums(device, y.rows() / groups, groups * out, y.grad, sums);
  for (const Tensor& bias : biases) {
    if (bias.has_grad()) add_column_sums(device, groups, out, sums, bias.grad);
  }
}

void backward(Device device, const Terms& terms, const Biases& biases, Activation activation,
              const Tensor& y, const Scratch& scratch) {
  const std::int64_t rows = y.rows(), out = y.cols();
  if (activation == Activation::kRelu) stop_inactive(device, y);
  for (const auto& [x, w] : terms) {
    const std::int64_t in = x.cols();
    if (x.has_grad()) {
      gemm(device, rows, in, out, {y.grad, out, 1}, {w.data, 1, out}, x.grad, {.accumulate = true});
    }
    if (w.has_grad()) {
      gemm(device, in, out, rows, {x.data, 1, in}, {y.grad, out, 1}, w.grad,
           {.accumulate = true, .scratch = scratch.products});
    }
  }
  add_to_biases(device, biases, y, scratch.sums);
}

}  // namespace

Tensor linear(Tape& tape, const Terms& terms, const Biases& biases, Activation activation) {
  RENAR_CHECK(terms.size() > 0, "[linear] no terms");
  Shape shape = terms[0].x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = terms[0].w.cols();
  check(terms, biases, terms[0].x.rows(), terms[0].w.cols());
  Tensor y = tape.output(shape, any_grad(terms, biases));
  forward(tape, terms, biases, activation, false, y);
  const Scratch scratch = scratch_for(tape, terms, biases, y);
  tape.record(
      y, [=, device = tape.device()] { backward(device, terms, biases, activation, y, scratch); });
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
  spread(tape.device(), send, recv, {}, y);
  forward(tape, terms, biases, activation, true, y);
  const Scratch scratch = scratch_for(tape, terms, biases, y);
  tape.record(y, [=, device = tape.device()] {
    backward(device, terms, biases, activation, y, scratch);
    gather(device, y, send, recv);
  });
  return y;
}

Tensor edge_add(Tape& tape, Tensor send, Tensor recv, Tensor e) {
  const std::int64_t batch = e.dim(0), n = e.dim(1), h = e.dim(3);
  RENAR_CHECK((!send || send.size() == batch * n * h) && (!recv || recv.size() == batch * n * h),
              "[edge_add] send or recv do not fit e {}", e.shape.text());
  Tensor y = tape.output(e.shape, {send, recv, e});
  spread(tape.device(), send, recv, e, y);
  tape.record(y, [=, device = tape.device()] {
    gather(device, y, send, recv);
    if (e.has_grad()) accumulate(device, y.size(), y.grad, e.grad);
  });
  return y;
}

}  // namespace renar

#include "kernels/log_sinkhorn.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace renar {
namespace {

constexpr Real kTemperature = Real(0.1);
constexpr Real kOffDiagonal = Real(1e6);

/// The rows of a matrix, or its columns: where each begins and how far its numbers lie apart.
struct Lines {
  std::int64_t apart, step;
};
Lines rows_of(std::int64_t n) { return {n, 1}; }
Lines columns_of(std::int64_t n) { return {1, n}; }

// Takes log sum exp of every line from it. The largest goes first and alone: small differences of
// large numbers keep their digits.
void normalise(std::int64_t n, Lines lines, Real* x) {
  for (std::int64_t l = 0; l < n; ++l) {
    Real* line = x + l * lines.apart;
    Real largest = line[0];
    for (std::int64_t k = 1; k < n; ++k) largest = std::max(largest, line[k * lines.step]);
    Real sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += std::exp(line[k * lines.step] - largest);
    const Real log_sum = std::log(sum);
    for (std::int64_t k = 0; k < n; ++k) {
      line[k * lines.step] = (line[k * lines.step] - largest) - log_sum;
    }
  }
}

// The gradient of normalise's result y becomes that of its argument.
void pass_back(std::int64_t n, Lines lines, const Real* y, Real* dy) {
  for (std::int64_t l = 0; l < n; ++l) {
    const Real* line = y + l * lines.apart;
    Real *dline = dy + l * lines.apart, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += dline[k * lines.step];
    for (std::int64_t k = 0; k < n; ++k) {
      dline[k * lines.step] -= std::exp(line[k * lines.step]) * sum;
    }
  }
}

void scale(std::int64_t n, const Real* logits, const Real* noise, Real* x) {
  for (std::int64_t i = 0; i < n * n; ++i) {
    x[i] = (noise == nullptr ? logits[i] : logits[i] + noise[i]) / kTemperature;
  }
  for (std::int64_t i = 0; i < n; ++i) x[i * n + i] -= kOffDiagonal;
}

// Turns x into y in place; kept, where it is not null, takes the result of every half round.
void iterate(std::int64_t n, int rounds, Real* x, Real* kept) {
  for (int half = 0; half < 2 * rounds; ++half) {
    normalise(n, half % 2 == 0 ? rows_of(n) : columns_of(n), x);
    if (kept != nullptr) kept = std::copy_n(x, n * n, kept);
  }
}

}  // namespace

Tensor log_sinkhorn(Tape& tape, Tensor logits, int rounds, Tensor noise) {
  RENAR_CHECK(logits.shape.rank == 3 && logits.dim(1) == logits.dim(2) && rounds >= 0,
              "[log_sinkhorn] logits {} in {} rounds: expected (B,N,N) and at least 0",
              logits.shape.text(), rounds);
  RENAR_CHECK(!noise || noise.shape == logits.shape,
              "[log_sinkhorn] noise {} does not fit logits {}", noise.shape.text(),
              logits.shape.text());
  const std::int64_t batch = logits.dim(0), n = logits.dim(1), each = n * n;
  Tensor y = tape.output(logits.shape, {logits});
  const std::int64_t kept_each = y.has_grad() ? 2 * rounds * each : 0;
  Real* kept = kept_each > 0 ? tape.array<Real>(batch * kept_each) : nullptr;
  for (std::int64_t b = 0; b < batch; ++b) {
    Real* x = y.data + b * each;
    scale(n, logits.data + b * each, noise ? noise.data + b * each : nullptr, x);
    iterate(n, rounds, x, kept == nullptr ? nullptr : kept + b * kept_each);
  }
  tape.record(y, [=] {
    for (std::int64_t b = 0; b < batch; ++b) {
      Real* dx = y.grad + b * each;  // nobody reads it later
      for (int half = 2 * rounds; half-- > 0;) {
        const Real* result = kept + b * kept_each + half * each;
        pass_back(n, half % 2 == 0 ? rows_of(n) : columns_of(n), result, dx);
      }
      for (std::int64_t i = 0; i < each; ++i) logits.grad[b * each + i] += dx[i] / kTemperature;
    }
  });
  return y;
}

void log_sinkhorn_of(std::int64_t n, int rounds, const Real* logits, Real* y) {
  scale(n, logits, nullptr, y);
  iterate(n, rounds, y, nullptr);
}

}  // namespace renar

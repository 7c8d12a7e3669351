#include "kernels/adam.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"

namespace renar {
namespace {

struct Update {
  const Real* grads;
  Real *values, *m, *v;

  RENAR_HOST_DEVICE void operator()(std::int64_t i, const AdamFactors& f, Real grad_scale) const {
    const Real g = grads[i] * grad_scale;
    m[i] = f.keep_m * m[i] + f.take_m * g;
    v[i] = f.keep_v * v[i] + f.take_v * g * g;
    values[i] -=
        f.learning_rate * (m[i] / f.m_correction) / (std::sqrt(v[i] / f.v_correction) + f.epsilon);
  }
};

RENAR_CLONES void update_on_cpu(std::int64_t size, AdamFactors f, Real grad_scale,
                                const Real* grads, Real* values, Real* m, Real* v) {
  const Update update{grads, values, m, v};
  for (std::int64_t i = 0; i < size; ++i) update(i, f, grad_scale);
}

double norm_on_cpu(std::int64_t size, const Real* grads) {
  double squares = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    squares += static_cast<double>(grads[i]) * static_cast<double>(grads[i]);
  }
  return std::sqrt(squares);
}

/// What a loss adds to a norm: 0 or, where it is not finite, NaN.
RENAR_HOST_DEVICE double spoils(double loss) { return loss - loss; }

RENAR_HOST_DEVICE Clip clip_of(double norm, double max_norm) {
  return {norm, max_norm > 0 && norm > max_norm ? max_norm / norm : 1.0};
}

RENAR_HOST_DEVICE bool finite(double x) { return spoils(x) == 0; }

__global__ void update_values(std::int64_t size, const AdamFactors* factors, const Clip* clip,
                              Update update) {
  const std::int64_t i = thread_index();
  if (i < size && finite(clip->norm)) update(i, *factors, static_cast<Real>(clip->scale));
}

// How many blocks share the gradients depends on their number and not on the GPU, so neither do the
// bits: up to kClipScratch, which fill a large one. A second kernel of one block adds what they
// found.
__global__ void sum_squares(std::int64_t size, const Real* grads, double* partial) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  double squares = 0;
  for (std::int64_t i = thread_index(); i < size; i += threads) {
    squares += static_cast<double>(grads[i]) * static_cast<double>(grads[i]);
  }
  squares = block_sum(squares);
  if (threadIdx.x == 0) partial[blockIdx.x] = squares;
}

__global__ void finish_norm(std::int64_t blocks, ClipOptions options, const double* partial,
                            Clip* clip) {
  double squares = threadIdx.x < blocks ? partial[threadIdx.x] : 0;
  if (threadIdx.x < options.count) squares += spoils(options.losses[threadIdx.x]);
  const double norm = std::sqrt(block_sum(squares));
  if (threadIdx.x == 0) *clip = clip_of(norm, options.max_norm);
}

}  // namespace

AdamFactors adam_factors(const AdamStep& s) {
  constexpr double kB1 = 0.9, kB2 = 0.999;
  const double t = static_cast<double>(s.step);
  return {.keep_m = static_cast<Real>(kB1),
          .take_m = static_cast<Real>(1 - kB1),  // in double first: 1 - 0.999f is 1e-5 off
          .keep_v = static_cast<Real>(kB2),
          .take_v = static_cast<Real>(1 - kB2),
          .m_correction = static_cast<Real>(1 - std::pow(kB1, t)),
          .v_correction = static_cast<Real>(1 - std::pow(kB2, t)),
          .learning_rate = static_cast<Real>(s.learning_rate),
          .epsilon = static_cast<Real>(1e-8)};
}

void measure_clip(Device device, std::int64_t size, const Real* grads, const ClipOptions& options,
                  double* scratch, Clip* clip) {
  if (device == Device::kCpu) {
    double norm = norm_on_cpu(size, grads);
    for (std::int64_t i = 0; i < options.count; ++i) norm += spoils(options.losses[i]);
    *clip = clip_of(norm, options.max_norm);
    return;
  }
  RENAR_CHECK(options.count <= kClipScratch, "[adam] {} losses, at most {}", options.count,
              kClipScratch);
  static_assert(kClipScratch == kThreads);
  const std::int64_t blocks = std::min(blocks_for(size, kThreads), kClipScratch);
  count_work(size * static_cast<std::int64_t>(sizeof(Real)));
  launch({{blocks}, {kThreads}, kBlockSumBytes}, sum_squares, size, grads, scratch);
  launch({{1}, {kThreads}, kBlockSumBytes}, finish_norm, blocks, options, scratch, clip);
}

void clipped_adam(Device device, std::int64_t size, const AdamFactors* factors, const Clip* clip,
                  const Real* grads, Real* values, Real* m, Real* v) {
  if (device != Device::kCpu) {
    count_work(7 * size * static_cast<std::int64_t>(sizeof(Real)));
    launch(one_thread_each(size), update_values, size, factors, clip, Update{grads, values, m, v});
    return;
  }
  if (!finite(clip->norm)) return;
  update_on_cpu(size, *factors, static_cast<Real>(clip->scale), grads, values, m, v);
}

}  // namespace renar

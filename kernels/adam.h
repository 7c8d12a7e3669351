// adam: one pass over flat buffers of parameters, moments and gradients (Kingma and Ba 2015).
//
//   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g^2      p -= lr m / (1 - b1^t) / (sqrt(v / (1 -
//       b2^t)) + eps)
//   b1 = 0.9, b2 = 0.999, eps = 1e-8. g is first scaled so that the global norm is at most `clip`
//       (0: never).
//
// On a device: measure_clip and then clipped_adam, once for each range that moves. The host reads
// nothing back in between, and what varies from step to step lies in the device's memory, so that a
// recorded update can be played again.
#pragma once

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

/// Euclidean norm over all `size` gradients, summed in double in one fixed order.
double global_norm(const Real* grads, std::int64_t size);

struct AdamStep {
  std::int64_t step;  ///< t, the first is 1
  double learning_rate;
  double grad_scale;  ///< min(1, clip / norm)
};

void adam(std::int64_t size, const AdamStep& settings, const Real* grads, Real* values, Real* m,
          Real* v);

/// A gradient's global norm and what brings it to the largest one allowed.
struct Clip {
  double norm;
  double scale;  ///< 1 where nothing is to be clipped
};
/// Doubles of scratch that measure_clip needs.
constexpr std::int64_t kClipScratch = 256;

struct ClipOptions {
  double max_norm;                 ///< 0: never clipped
  const double* losses = nullptr;  ///< a norm beside losses that are not finite is not, either
  std::int64_t count = 0;          ///< of them, at most kClipScratch
};
/// `clip` of `size` gradients. All memory is the device's.
void measure_clip(Device device, std::int64_t size, const Real* grads, const ClipOptions& options,
                  double* scratch, Clip* clip);

/// What an AdamStep makes of the formula; made on the host, where powers are exact.
struct AdamFactors {
  Real grad_scale, keep_m, take_m, keep_v, take_v, m_correction, v_correction, learning_rate,
      epsilon;
};
AdamFactors adam_factors(const AdamStep& settings);

/// adam whose grad_scale is the clip's (that of the factors is not read). All memory is the
/// device's, `factors` and `clip` too. Where the norm is not finite nothing changes: the host may
/// look at it later.
void clipped_adam(Device device, std::int64_t size, const AdamFactors* factors, const Clip* clip,
                  const Real* grads, Real* values, Real* m, Real* v);

}  // namespace renar

// adam: one pass over flat buffers of parameters, moments and gradients (Kingma and Ba 2015).
//
//   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g^2
//   p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)
//
// b1 = 0.9, b2 = 0.999, eps = 1e-8. g is first scaled so that the global norm is at most a largest
// one, if there is one.
//
// An update is measure_clip and then clipped_adam, once for each range that moves. Of a device's
// the host reads nothing back in between, and what varies from step to step lies in the device's
// memory, so that a recorded update can be played again.
#pragma once

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

/// A gradient's global norm, Euclidean, and what brings it to the largest one allowed.
struct Clip {
  double norm;
  double scale;  ///< 1 where nothing is to be clipped
};
/// Doubles of scratch that measure_clip needs on a device.
constexpr std::int64_t kClipScratch = 256;

struct ClipOptions {
  double max_norm;                 ///< 0: never clipped
  const double* losses = nullptr;  ///< a norm beside losses that are not finite is not, either
  std::int64_t count = 0;          ///< of them, at most kClipScratch
};
/// `clip` of `size` gradients, whose squares are summed in double in one fixed order. All memory is
/// the device's.
void measure_clip(Device device, std::int64_t size, const Real* grads, const ClipOptions& options,
                  double* scratch, Clip* clip);

struct AdamStep {
  std::int64_t step;  ///< t, the first is 1
  double learning_rate;
};
/// What an AdamStep makes of the formula; made on the host, where powers are exact.
struct AdamFactors {
  Real keep_m, take_m, keep_v, take_v, m_correction, v_correction, learning_rate, epsilon;
};
AdamFactors adam_factors(const AdamStep& settings);

/// Moves values and moments. All memory is the device's, `factors` and `clip` too. Where the norm
/// is not finite nothing changes: the host may look at it later.
void clipped_adam(Device device, std::int64_t size, const AdamFactors* factors, const Clip* clip,
                  const Real* grads, Real* values, Real* m, Real* v);

}  // namespace renar

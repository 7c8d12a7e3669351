#include "nn/features.h"

namespace renar {

Term Composer::term(const Features& features, Tensor w) {
  if (!exact_.features_as_products || !features.encoders) return {dense(features), w};
  for (const Composed& known : composed_) {
    if (known.encoders == features.encoders.data && known.w == w.data) {
      return {features.raw, known.product};
    }
  }
  const Tape::OfTrajectory lasting(tape_);                             // it serves all steps
  const Tensor product = linear(tape_, {{features.encoders, w}}, {});  // (R,O)
  composed_.add({features.encoders.data, w.data, product});
  return {features.raw, product};
}

}  // namespace renar

// A prediction on its way back into the encoder, or to a score. MODEL.md 5.
//
//   soft: scalar as it is, mask sigmoid, mask_one and categorical and pointer softmax
//   hard: scalar as it is, mask 0 / 1, the others one-hot at their first largest; nothing has a
//       gradient
#pragma once

#include "algos/spec.h"
#include "core/tape.h"

namespace renar {

enum class Postprocess { kSoft, kHard };

/// Logits as decoders give them to features as encoders read them; the shape stays.
Tensor postprocess(Tape& tape, const Probe& probe, Tensor logits, Postprocess mode);

/// The first largest of `count` numbers.
std::int64_t largest(const Real* x, std::int64_t count);

}  // namespace renar

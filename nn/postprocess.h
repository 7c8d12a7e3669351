// A prediction on its way back into the encoder, or to a score. docs/model.md 5.
//
//   soft: scalar as it is, mask sigmoid, mask_one and categorical and pointer softmax, permutation
//       pointer exp(log_sinkhorn) of kFeedbackRounds
//   hard: scalar as it is, mask 0 / 1, the others one-hot at their first largest, of permutation
//       pointers after as many rounds; nothing has a gradient
#pragma once

#include "algos/spec.h"
#include "core/tape.h"

namespace renar {

enum class Postprocess { kSoft, kHard };

/// Rounds of log_sinkhorn on a permutation pointer that is fed back, and on one that is scored.
constexpr int kFeedbackRounds = 25, kScoreRounds = 50;

/// Logits as decoders give them to what they predict; the shape stays.
Tensor postprocess(Tape& tape, const Probe& probe, Tensor logits, Postprocess mode);

/// The first largest of `count` numbers.
std::int64_t largest(const Real* x, std::int64_t count);

}  // namespace renar

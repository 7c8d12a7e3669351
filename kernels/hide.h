// hide: y = hidden ? 0 : x, element by element: what a masked round of M-ReNAR reads
// (paper, section 4.2; docs/model.md 9). Hidden elements pass no gradient.
#pragma once

#include "core/tape.h"

namespace renar {

/// `hidden` has 1 where x is hidden and 0 elsewhere, as many as x. Throws renar::Error where the
/// sizes differ.
Tensor hide(Tape& tape, Tensor x, Tensor hidden);

}  // namespace renar

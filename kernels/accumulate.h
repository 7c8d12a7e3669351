// accumulate: to[i] += scale * from[i], what most backward passes end with.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

void accumulate(Device device, std::int64_t count, const Real* from, Real* to, Real scale = 1);

}  // namespace renar

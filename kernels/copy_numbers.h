// copy_numbers: to[i] = from[i], on one device. There it is a kernel that is collected, so that the
// copies of a time step are one launch: between two kernels, a copy of the driver's starts all that
// waits.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

/// They must not overlap.
void copy_numbers(Device device, std::int64_t count, const Real* from, Real* to);

}  // namespace renar

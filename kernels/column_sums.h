// column_sums: sums[c] += sum over r of x[r,c];  x (rows, cols): the gradient of a bias.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

void add_column_sums(Device device, std::int64_t rows, std::int64_t cols, const Real* x,
                     Real* sums);

}  // namespace renar

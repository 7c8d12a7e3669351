#include "kernels/element_loss.h"

#include "core/check.h"

namespace renar {

double* costs_for(const LossSum& sum, std::int64_t count) {
  RENAR_CHECK(sum.costs != nullptr && count <= sum.room,
              "[element_loss] a loss of {} elements, but the sum was opened for {}", count,
              sum.costs == nullptr ? 0 : sum.room);
  return sum.costs;
}

}  // namespace renar

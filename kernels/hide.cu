#include "kernels/hide.h"

#include "core/check.h"

namespace renar {

Tensor hide(Tape& tape, Tensor x, Tensor hidden) {
  RENAR_CHECK(x.size() == hidden.size(), "[hide] {} numbers, {} say what is hidden", x.size(),
              hidden.size());
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t i = 0; i < y.size(); ++i) y.data[i] = x.data[i] * (1 - hidden.data[i]);
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < y.size(); ++i) x.grad[i] += y.grad[i] * (1 - hidden.data[i]);
  });
  return y;
}

}  // namespace renar

#include "kernels/choose_samples.h"

#include <algorithm>

#include "core/check.h"

namespace renar {

Tensor choose_samples(Tape& tape, Tensor x, Tensor truth, const std::uint8_t* forced) {
  RENAR_CHECK(x.size() == truth.size() && x.dim(0) == truth.dim(0),
              "[choose_samples] {} predicted, {} true", x.shape.text(), truth.shape.text());
  const std::int64_t batch = x.dim(0), each = x.size() / std::max<std::int64_t>(batch, 1);
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n((forced[b] != 0 ? truth : x).data + b * each, each, y.data + b * each);
  }
  tape.record(y, [=] {
    for (std::int64_t b = 0; b < batch; ++b) {
      if (forced[b] != 0) continue;
      for (std::int64_t i = b * each; i < (b + 1) * each; ++i) x.grad[i] += y.grad[i];
    }
  });
  return y;
}

}  // namespace renar

#include "kernels/choose_samples.h"

#include <algorithm>

#include "core/check.h"
#include "core/launch.h"
#include "kernels/accumulate.h"

namespace renar {
namespace {

void forward_on_cpu(std::int64_t each, const Tensor& x, const Tensor& truth,
                    const std::uint8_t* forced, const Tensor& y) {
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    std::copy_n((forced[b] != 0 ? truth : x).data + b * each, each, y.data + b * each);
  }
}

void backward_on_cpu(std::int64_t each, const std::uint8_t* forced, const Tensor& x,
                     const Tensor& y) {
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    if (forced[b] == 0) accumulate(Device::kCpu, each, y.grad + b * each, x.grad + b * each);
  }
}

// The kernels take an element a thread, and find its sample.
struct ChooseSamples {
  std::int64_t each;
  const Real *x, *truth;
  const std::uint8_t* forced;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(x, count)
        .reads(truth, count)
        .reads(forced, count / each)
        .writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    y[i] = forced[i / each] != 0 ? truth[i] : x[i];
  }
};

struct PassToChosen {
  std::int64_t each;
  const Real* dy;
  const std::uint8_t* forced;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count).reads(forced, count / each).writes(dx, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    if (forced[i / each] == 0) dx[i] += dy[i];
  }
};

}  // namespace

Tensor choose_samples(Tape& tape, Tensor x, Tensor truth, const std::uint8_t* forced) {
  RENAR_CHECK(x.size() == truth.size() && x.dim(0) == truth.dim(0),
              "[choose_samples] {} predicted, {} true", x.shape.text(), truth.shape.text());
  const std::int64_t each = x.size() / std::max<std::int64_t>(x.dim(0), 1);
  const Device device = tape.device();
  Tensor y = tape.output(x.shape, {x});
  if (device == Device::kCpu) {
    forward_on_cpu(each, x, truth, forced, y);
  } else {
    for_each(device, y.size(), ChooseSamples{each, x.data, truth.data, forced, y.data});
  }
  tape.record(y, [=] {
    if (device == Device::kCpu) return backward_on_cpu(each, forced, x, y);
    for_each(device, y.size(), PassToChosen{each, y.grad, forced, x.grad});
  });
  return y;
}

}  // namespace renar

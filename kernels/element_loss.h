// element_loss: sum += scale * (cost(0) + .. + cost(count - 1)), for losses of which each element
// has a cost and a gradient of its own. `scale` is read through a pointer, where the tape's device
// is, as in every loss: it changes with the batch and its masks, and a kernel that was recorded
// (core/launch_graphs.h) must find that of the update in which it is played.
//
// A loss is a named functor that holds pointers and numbers:
//   Touched touched(std::int64_t count)     what it reads and writes (core/collected.h)
//   double cost(std::int64_t i)             0 for what does not count; found in Real, summed in
//                                           double
//   void pass(std::int64_t i, Real scale)   adds to the gradients of element i
//   bool has_grad()                         whether there are any
// On the CPU the costs are summed now and backward passes the gradients. On a device backward finds
// both in one kernel: nobody reads a loss before it.
#pragma once

#include "core/launch.h"
#include "kernels/loss_sum.h"

namespace renar {

/// The costs of a device's sum for a loss of `count` elements. Throws renar::Error if it was not
/// opened for so many.
double* costs_for(const LossSum& sum, std::int64_t count);

template <class Loss>
void add_costs_on_cpu(std::int64_t count, const Loss& loss, const Real* scale, const LossSum& sum) {
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += loss.cost(i);
  *sum.total += static_cast<double>(*scale) * total;
}

template <class Loss>
struct FindElement {
  Loss loss;
  const Real* scale;
  double* costs;

  Touched touched(std::int64_t count) const {
    return loss.touched(count).reads(scale, 1).writes(costs, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    costs[i] += static_cast<double>(*scale) * loss.cost(i);
    if (loss.has_grad()) loss.pass(i, *scale);
  }
};

template <class Loss>
void element_loss(Tape& tape, std::int64_t count, const Loss& loss, const Real* scale,
                  const LossSum& sum) {
  const Device device = tape.device();
  if (device != Device::kCpu) {
    double* costs = costs_for(sum, count);
    return tape.record_loss([=] {
      for_each(device, count, FindElement<Loss>{loss, scale, costs});
    });
  }
  add_costs_on_cpu(count, loss, scale, sum);
  if (!loss.has_grad()) return;
  tape.record_loss([=] {
    const Real by = *scale;
    for (std::int64_t i = 0; i < count; ++i) loss.pass(i, by);
  });
}

}  // namespace renar

#include "kernels/keep_last.h"

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

// One launch has the numbers of all tensors, one after another.
struct Part {
  const Real* x;
  Real *held, *dx;
  const Real* dheld;
  std::int64_t begin;  // how many numbers stand before it
  std::int64_t each;   // of a sample
};
struct Parts {
  Part of[kMostKept] = {};  // all of which a kernel is given
  int count = 0;
  std::int64_t size = 0;
  const std::uint8_t* last = nullptr;

  void add(const Keeping& k) {
    of[count++] = {k.x.data, k.held.data, k.x.grad, k.held.grad, size, k.x.size() / k.x.dim(0)};
    size += k.x.size();
  }
  Touched touched() const {
    const std::int64_t samples = count == 0 ? 0 : size_of(0) / of[0].each;
    return Touched().reads(last, samples);
  }
  std::int64_t size_of(int p) const {
    return (p + 1 < count ? of[p + 1].begin : size) - of[p].begin;
  }
  /// Whose number `at` is.
  RENAR_HOST_DEVICE const Part& holding(std::int64_t at) const {
    int p = 0;
    while (p + 1 < count && of[p + 1].begin <= at) ++p;
    return of[p];
  }
};

struct KeepLast {
  Parts parts;

  Touched touched(std::int64_t) const {
    Touched all = parts.touched();
    for (int p = 0; p < parts.count; ++p) {
      all.reads(parts.of[p].x, parts.size_of(p)).writes(parts.of[p].held, parts.size_of(p));
    }
    return all;
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const Part& part = parts.holding(at);
    const std::int64_t i = at - part.begin;
    if (parts.last[i / part.each] != 0) part.held[i] = part.x[i];
  }
};

struct PassToLast {
  Parts parts;

  Touched touched(std::int64_t) const {
    Touched all = parts.touched();
    for (int p = 0; p < parts.count; ++p) {
      all.reads(parts.of[p].dheld, parts.size_of(p)).writes(parts.of[p].dx, parts.size_of(p));
    }
    return all;
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const Part& part = parts.holding(at);
    const std::int64_t i = at - part.begin;
    if (parts.last[i / part.each] != 0) part.dx[i] += part.dheld[i];
  }
};

void check(const Keeping& k) {
  bool fits = k.x.shape.rank == k.held.shape.rank && k.x.dim(0) <= k.held.dim(0);
  for (int axis = 1; fits && axis < k.x.shape.rank; ++axis)
    fits = k.x.dim(axis) == k.held.dim(axis);
  RENAR_CHECK(fits, "[keep_last] {} does not fit in {}", k.x.shape.text(), k.held.shape.text());
}

}  // namespace

void keep_last(Tape& tape, const Keepings& keepings, const std::uint8_t* last) {
  Parts all, learned;
  all.last = learned.last = last;
  Tensor wanted;
  for (const Keeping& k : keepings) {
    check(k);
    all.add(k);
    if (!k.x.has_grad() || !k.held.has_grad()) continue;
    learned.add(k);
    wanted = k.held;
  }
  const Device device = tape.device();
  for_each(device, all.size, KeepLast{all});
  tape.record(wanted, [=] { for_each(device, learned.size, PassToLast{learned}); });
}

}  // namespace renar

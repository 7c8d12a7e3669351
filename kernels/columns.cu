#include "kernels/columns.h"

#include <algorithm>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

bool any_grad(const Sources& sources) {
  return std::any_of(sources.begin(), sources.end(), [](const Tensor& s) { return s.has_grad(); });
}

// The kernels handle all sources in one launch, for most are small, and are given this list.
// Numbers of 32 bits, so that what is made of nodes, edges and graphs fits into one launch.
struct Place {
  const Real* data;
  Real* grad;
  std::int32_t begin;   // how many numbers stand in the list before it
  std::int32_t column;  // of y where it starts
  std::int32_t cols;
  std::int32_t repeat;  // rows of y that read one of its rows
};
struct Places {
  Place of[kMaxSources] = {};  // all of which a kernel is given
  int count = 0;
  std::int32_t size = 0;  // numbers of all

  void add(const Tensor& source, std::int64_t column, std::int64_t repeat) {
    const auto small = [&](std::int64_t number) {
      RENAR_CHECK(number < std::int64_t{1} << 31, "[columns] a source {}", source.shape.text());
      return static_cast<std::int32_t>(number);
    };
    of[count++] = {source.data,   source.grad,          size,
                   small(column), small(source.cols()), small(repeat)};
    size = small(size + source.size());
  }
  std::int64_t size_of(int p) const {
    return (p + 1 < count ? of[p + 1].begin : size) - of[p].begin;
  }
  /// Whose number `at` of the list is.
  RENAR_HOST_DEVICE const Place& holding(std::int64_t at) const {
    int s = 0;
    while (s + 1 < count && of[s + 1].begin <= at) ++s;
    return of[s];
  }
};

enum class Listed { kAll, kWithGradient };

Places places_in(std::int64_t rows, const Sources& sources, Listed listed) {
  Places places;
  std::int64_t column = 0;
  for (const Tensor& source : sources) {
    if (listed == Listed::kAll || source.has_grad()) {
      places.add(source, column, rows / source.rows());
    }
    column += source.cols();
  }
  return places;
}

Places one_after_another(const Sources& sources) {
  Places places;
  for (const Tensor& source : sources) places.add(source, 0, 1);
  return places;
}

// A thread a number of y.
struct PlaceColumns {
  Places places;
  std::int64_t width;
  Real* y;

  Touched touched(std::int64_t count) const {
    Touched all;
    for (int p = 0; p < places.count; ++p) all.reads(places.of[p].data, places.size_of(p));
    return all.writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t row = at / width, col = at % width;
    if (col + 1 == width) {
      y[at] = 1;
      return;
    }
    int s = 0;
    while (s + 1 < places.count && places.of[s + 1].column <= col) ++s;
    const Place& p = places.of[s];
    y[at] = p.data[row / p.repeat * p.cols + col - p.column];
  }
};

// A warp a number of a source, since a number of a graph may be repeated over hundreds of edges.
struct GatherColumns {
  Places places;
  std::int64_t rows, width;
  const Real* dy;

  Touched touched(std::int64_t) const {
    Touched all;
    for (int p = 0; p < places.count; ++p) all.writes(places.of[p].grad, places.size_of(p));
    return all.reads(dy, rows * width);
  }
  __device__ void operator()(std::int64_t at) const {
    const Place& p = places.holding(at);
    const std::int64_t row = (at - p.begin) / p.cols, col = (at - p.begin) % p.cols;
    const Real* first = dy + row * p.repeat * width + p.column + col;
    Real sum = 0;
    for (std::int64_t r = lane_index(); r < p.repeat; r += kWarp) sum += first[r * width];
    sum = warp_sum(sum);
    if (lane_index() == 0) p.grad[at - p.begin] += sum;
  }
};

// A thread a number of y: of a weight, or of the last row.
__global__ void stack_up(Places weights, Places biases, std::int64_t size, Real* y) {
  const std::int64_t at = thread_index();
  if (at >= size) return;
  if (at >= weights.size) {
    Real sum = 0;
    for (int b = 0; b < biases.count; ++b) sum += biases.of[b].data[at - weights.size];
    y[at] = sum;
    return;
  }
  const Place& p = weights.holding(at);
  y[at] = p.data[at - p.begin];
}

__global__ void unstack(Places weights, Places biases, std::int64_t size, const Real* dy) {
  const std::int64_t at = thread_index();
  if (at >= size) return;
  if (at >= weights.size) {
    for (int b = 0; b < biases.count; ++b) {
      Real* grad = biases.of[b].grad;
      if (grad != nullptr) grad[at - weights.size] += dy[at];
    }
    return;
  }
  const Place& p = weights.holding(at);
  if (p.grad != nullptr) p.grad[at - p.begin] += dy[at];
}

void place_on_cpu(const Sources& sources, Tensor y) {
  const std::int64_t rows = y.dim(0), width = y.dim(1);
  std::int64_t at = 0;
  for (const Tensor& source : sources) {
    const std::int64_t repeat = rows / source.rows(), cols = source.cols();
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        y.data[r * width + at + c] = source.data[r / repeat * cols + c];
      }
    }
    at += cols;
  }
  for (std::int64_t r = 0; r < rows; ++r) y.data[r * width + at] = 1;
}

void gather_on_cpu(const Sources& sources, const Tensor& y) {
  const std::int64_t rows = y.dim(0), width = y.dim(1);
  std::int64_t from = 0;
  for (const Tensor& source : sources) {
    const std::int64_t repeat = rows / source.rows(), cols = source.cols();
    for (std::int64_t r = 0; source.has_grad() && r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        source.grad[r / repeat * cols + c] += y.grad[r * width + from + c];
      }
    }
    from += cols;
  }
}

void gather(Device device, const Sources& sources, const Tensor& y) {
  if (device == Device::kCpu) return gather_on_cpu(sources, y);
  const Places places = places_in(y.dim(0), sources, Listed::kWithGradient);
  for_each_row(places.size, GatherColumns{places, y.dim(0), y.dim(1), y.grad});
}

void stack_on_cpu(const Sources& weights, const Sources& biases, Tensor y) {
  const std::int64_t hidden = y.dim(1);
  Real* out = y.data;
  for (const Tensor& w : weights) out = std::copy_n(w.data, w.size(), out);
  std::fill_n(out, hidden, Real{0});
  for (const Tensor& bias : biases) {
    for (std::int64_t c = 0; c < hidden; ++c) out[c] += bias.data[c];
  }
}

void unstack_on_cpu(const Sources& weights, const Sources& biases, const Tensor& y) {
  const std::int64_t hidden = y.dim(1);
  const Real* dy = y.grad;
  for (const Tensor& w : weights) {
    for (std::int64_t i = 0; w.has_grad() && i < w.size(); ++i) w.grad[i] += dy[i];
    dy += w.size();
  }
  for (const Tensor& bias : biases) {
    for (std::int64_t c = 0; bias.has_grad() && c < hidden; ++c) bias.grad[c] += dy[c];
  }
}

}  // namespace

Tensor columns(Tape& tape, std::int64_t rows, const Sources& sources) {
  std::int64_t width = 1;
  for (const Tensor& source : sources) {
    RENAR_CHECK(source.rows() > 0 && rows % source.rows() == 0,
                "[columns] a source {} cannot be spread over {} rows", source.shape.text(), rows);
    width += source.cols();
  }
  Tensor y = tape.output({rows, width}, any_grad(sources));
  if (tape.device() == Device::kCpu) {
    place_on_cpu(sources, y);
  } else {
    for_each(tape.device(), y.size(),
             PlaceColumns{places_in(rows, sources, Listed::kAll), width, y.data});
  }
  tape.record(y, [=, device = tape.device()] { gather(device, sources, y); });
  return y;
}

Tensor stack(Tape& tape, std::int64_t hidden, const Sources& weights, const Sources& biases) {
  std::int64_t rows = 1;
  for (const Tensor& w : weights) {
    RENAR_CHECK(w.cols() == hidden, "[stack] w {} has not {} outputs", w.shape.text(), hidden);
    rows += w.dim(0);
  }
  for (const Tensor& bias : biases) {
    RENAR_CHECK(bias.size() == hidden, "[stack] bias {} for {} outputs", bias.shape.text(), hidden);
  }
  Tensor y = tape.output({rows, hidden}, any_grad(weights) || any_grad(biases));
  const bool on_cpu = tape.device() == Device::kCpu;
  const auto bytes = 2 * y.size() * static_cast<std::int64_t>(sizeof(Real));
  if (on_cpu) {
    stack_on_cpu(weights, biases, y);
  } else {
    count_work(bytes);
    launch(one_thread_each(y.size()), stack_up, one_after_another(weights),
           one_after_another(biases), y.size(), y.data);
  }
  tape.record(y, [=] {
    if (on_cpu) return unstack_on_cpu(weights, biases, y);
    count_work(bytes);
    launch(one_thread_each(y.size()), unstack, one_after_another(weights),
           one_after_another(biases), y.size(), y.grad);
  });
  return y;
}

}  // namespace renar

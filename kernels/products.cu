#include "kernels/products.h"

#include "core/check.h"
#include "kernels/gemm.h"
#include "kernels/product_tiles.cuh"

namespace renar {
namespace {

// --- Tasks: what one kernel computes of layers, or of their inputs' gradients, side by side. ---

constexpr int kMostTasks = 16, kMostFactors = 48, kMostBiases = 24;

/// a (rows, k) times b: forward (k, out); backward (out, k), turned.
struct Factors {
  const Real* a;
  const Real* b;
  std::int64_t k;
  int next;        // of the same task, or -1
  int unused = 0;  // no padding: core/simt_recording.h
};

/// y (rows, out) [+]= the sum of its factors' products + ends + biases, then relu; in backward 0
/// where `relu_of` was not positive, if given.
struct Task {
  std::int64_t rows, out, nodes = 1, tiles = 0;
  Real* y;
  const Real *send = nullptr, *recv = nullptr, *relu_of = nullptr;
  int first_factors = -1, last_factors = -1, first_bias = 0, biases = 0;
  bool relu = false;
};

struct Tasks {
  int count, factors, biases;
  Task task[kMostTasks];
  Factors factor[kMostFactors];
  const Real* bias[kMostBiases];
};
static_assert(sizeof(Tasks) <= 4096);  // what a kernel can be given

template <bool kBackward>
struct FactorSegments {
  const Tasks& all;
  int next_factors;
  std::int64_t out;

  __device__ bool next(Segment& segment) {
    if (next_factors < 0) return false;
    const Factors& f = all.factor[next_factors];
    segment = {{f.a, f.k, 1}, {f.b, kBackward ? f.k : 1, kBackward ? 1 : out}, 0, f.k};
    next_factors = f.next;
    return true;
  }
};

// Adds to a thread's part of a tile what its columns have in common. All is read before anything is
// written, here and below, or each number would be waited for alone.
__device__ void add_biases(const Tasks& all, const Task& task, std::int64_t j, Sums& sums) {
  for (int b = 0; b < task.biases; ++b) {
    const Real* bias = all.bias[task.first_bias + b];
    Real at[kOwn];
    RENAR_UNROLL
    for (int q = 0; q < kOwn; ++q) at[q] = j + q < task.out ? bias[j + q] : Real{0};
    RENAR_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      RENAR_UNROLL
      for (int q = 0; q < kOwn; ++q) sums[r][q] += at[q];
    }
  }
}

// Adds a row of `ends` to each row of the part: its sender's or its receiver's.
__device__ void add_ends(const Task& task, const Real* ends, bool of_sender, std::int64_t i0,
                         std::int64_t j, Sums& sums) {
  const auto nodes = static_cast<unsigned>(task.nodes);  // 32 bits divide several times faster
  RENAR_UNROLL
  for (int r = 0; r < kOwn; ++r) {
    const auto i = static_cast<unsigned>(i0 + r);
    const unsigned sender = i / nodes,
                   node = of_sender ? sender : sender / nodes * nodes + i % nodes;
    const Real* row = ends + static_cast<std::int64_t>(node) * task.out + j;
    RENAR_UNROLL
    for (int q = 0; q < kOwn; ++q) {
      sums[r][q] += i0 + r < task.rows && j + q < task.out ? row[q] : Real{0};
    }
  }
}

// Four rows and columns of a layer from (i0,j) on.
__device__ void finish_tile(const Tasks& all, const Task& task, std::int64_t i0, std::int64_t j,
                            Sums& sums) {
  if (task.send != nullptr) add_ends(task, task.send, true, i0, j, sums);
  if (task.recv != nullptr) add_ends(task, task.recv, false, i0, j, sums);
  add_biases(all, task, j, sums);
  if (task.relu) {
    RENAR_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      RENAR_UNROLL
      for (int q = 0; q < kOwn; ++q) sums[r][q] = sums[r][q] > 0 ? sums[r][q] : Real{0};
    }
  }
  put_tile(i0, j, task.rows, task.out, sums, false, task.y);
}

// The tasks' tiles lie one after the other in the grid.
template <class T, class Arithmetic, bool kBackward>
__global__ void multiply_tasks(const Tasks RENAR_GIVEN all) {
  std::int64_t tile = blockIdx.x;
  int t = 0;
  for (; tile >= all.task[t].tiles; ++t) tile -= all.task[t].tiles;
  const Task& task = all.task[t];
  const Place<T, Arithmetic> at(tile, task.out);
  SumsOf<T> sums = {};
  multiply_all<T, Arithmetic, true, kBackward>(
      FactorSegments<kBackward>{all, task.first_factors, task.out}, at, task.rows, task.out, sums);
  if (at.team != 0) return;
  at.for_each_block(sums, [&](std::int64_t i, std::int64_t j, Sums& block) {
    if constexpr (kBackward) {
      put_tile(i, j, task.rows, task.out, block, true, task.y, task.relu_of);
    } else {
      finish_tile(all, task, i, j, block);
    }
  });
}

// Two for each of an H100's 132 multiprocessors, which is how many their registers leave room for.
constexpr std::int64_t kLeastBroad = 264;

Size size_of(const Task& task, Precision precision) {
  if (is_narrow(tiles_of<Wide>(task.rows, task.out), task.out)) return Size::kNarrow;
  const bool broad = precision == Precision::kFp32 && fills_broad(task.out) &&
                     tiles_of<Broad>(task.rows, task.out) >= kLeastBroad;
  return broad ? Size::kBroad : Size::kWide;
}

/// What is collected of layers, or of their inputs' gradients.
struct Collection {
  Tasks all = {};
  Size size = Size::kWide;
  Precision precision = Precision::kFp32;
};

template <class T, class Arithmetic>
void start_tasks(const Tasks& all, std::int64_t tiles, bool backward) {
  backward ? launch_collected(grid_of<T>(tiles), multiply_tasks<T, Arithmetic, true>, all)
           : launch_collected(grid_of<T>(tiles), multiply_tasks<T, Arithmetic, false>, all);
}
template <class T>
void start_tasks(const Tasks& all, std::int64_t tiles, bool backward, Precision precision) {
  switch (precision) {
    case Precision::kFp32: return start_tasks<T, Plain>(all, tiles, backward);
    case Precision::kTf32: return start_tasks<T, TensorCores<Tf32>>(all, tiles, backward);
    case Precision::kBf16: return start_tasks<T, TensorCores<Bf16>>(all, tiles, backward);
  }
}

template <bool kOfInputs>
void start_collection(const void* given) {
  const auto& c = *static_cast<const Collection*>(given);
  std::int64_t tiles = 0;
  for (int t = 0; t < c.all.count; ++t) tiles += c.all.task[t].tiles;
  switch (c.size) {
    case Size::kNarrow: return start_tasks<Narrow>(c.all, tiles, kOfInputs, c.precision);
    case Size::kWide: return start_tasks<Wide>(c.all, tiles, kOfInputs, c.precision);
    case Size::kBroad: return start_tasks<Broad, Plain>(c.all, tiles, kOfInputs);
  }
}
constexpr CollectedKind kForward{"products", start_collection<false>};
constexpr CollectedKind kBackward{"products", start_collection<true>};

// Whose element sums are one: in backward both add to a gradient.
bool same_sum(const Task& a, const Task& b) {
  return a.y == b.y && a.rows == b.rows && a.out == b.out;
}

// The place of one that is not ended by relu; all.count if there is none.
int find_sum(const Tasks& all, const Task& task) {
  int t = 0;
  while (t < all.count && !(same_sum(all.task[t], task) && all.task[t].relu_of == nullptr)) ++t;
  return t;
}

/// A task that is collected, with the collection that has it.
struct Collected {
  Tasks& all;
  Task& task;

  void add_factors(const Real* a, const Real* b, std::int64_t k) const {
    const int at = all.factors++;
    all.factor[at] = {a, b, k, -1};
    (task.last_factors < 0 ? task.first_factors : all.factor[task.last_factors].next) = at;
    task.last_factors = at;
  }
};

// The task has room for so many factors more and for its biases; in backward it may be one that
// another layer has brought, whose sum goes to the same gradient.
Collected add_task(Task task, bool backward, Precision precision, int factors,
                   const Touched& touched) {
  const Size size = size_of(task, precision);
  const auto may_join = [&](const Collection& c, bool meets) {
    const bool fits = c.all.count < kMostTasks && c.all.factors + factors <= kMostFactors &&
                      c.all.biases + task.biases <= kMostBiases;
    const bool alike = size == c.size && precision == c.precision;
    return fits && alike && (!meets || (backward && find_sum(c.all, task) < c.all.count));
  };
  Collection& c = collect<Collection>(backward ? kBackward : kForward, touched, may_join);
  c.size = size;
  c.precision = precision;
  const int t = find_sum(c.all, task);
  if (t == c.all.count) {
    task.tiles = tiles_of(size, task.rows, task.out);
    task.first_bias = c.all.biases;
    c.all.task[c.all.count++] = task;
  }
  return {c.all, c.all.task[t]};
}

}  // namespace

void add_products(const ProductSum& sum) {
  if (sum.rows == 0) return;
  RENAR_CHECK(sum.rows < std::int64_t{1} << 31, "[products] a layer of {} rows", sum.rows);
  Touched touched;
  for (int t = 0; t < sum.terms; ++t) {
    const auto& [x, w, in] = sum.term[t];
    touched.reads(x, sum.rows * in).reads(w, in * sum.out);
    const std::int64_t flops = 2 * sum.rows * sum.out * in;
    touched.computes(flops);
    add_flops(flops);
  }
  if (launches_are_left_out()) return;
  const std::int64_t ends = sum.rows / sum.nodes * sum.out;
  touched.reads(sum.send, ends).reads(sum.recv, ends).writes(sum.y, sum.rows * sum.out);
  for (int b = 0; b < sum.biases; ++b) touched.reads(sum.bias[b], sum.out);
  const Collected layer = add_task({.rows = sum.rows,
                                    .out = sum.out,
                                    .nodes = sum.nodes,
                                    .y = sum.y,
                                    .send = sum.send,
                                    .recv = sum.recv,
                                    .biases = sum.biases,
                                    .relu = sum.relu},
                                   false, sum.precision, sum.terms, touched);
  for (int t = 0; t < sum.terms; ++t) {
    layer.add_factors(sum.term[t].x, sum.term[t].w, sum.term[t].in);
  }
  for (int b = 0; b < sum.biases; ++b) layer.all.bias[layer.all.biases++] = sum.bias[b];
}

void add_to_input(std::int64_t rows, std::int64_t in, std::int64_t out, const Real* dy,
                  const Real* w, Real* dx, Precision precision) {
  if (rows == 0) return;
  const std::int64_t flops = 2 * rows * out * in;
  add_flops(flops);
  if (launches_are_left_out()) return;
  const Touched touched =
      Touched().reads(dy, rows * out).reads(w, in * out).writes(dx, rows * in).computes(flops);
  add_task({.rows = rows, .out = in, .y = dx}, true, precision, 1, touched).add_factors(dy, w, out);
}

bool end_with_relu(std::int64_t rows, std::int64_t out, const Real* y, Real* dy) {
  if (launches_are_left_out()) return false;
  const Task sum{.rows = rows, .out = out, .y = dy};
  const auto has_it = [&](const Collection& c) { return find_sum(c.all, sum) < c.all.count; };
  Collection* c = end_collected<Collection>(
      kBackward, Touched().reads(y, rows * out).writes(dy, rows * out), has_it);
  if (c == nullptr) return false;
  c->all.task[find_sum(c->all, sum)].relu_of = y;
  return true;
}

}  // namespace renar

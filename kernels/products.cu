#include "kernels/products.h"

#include <algorithm>
#include <utility>
#include <vector>

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
  int next;  // of the same task, or -1
};

/// y (rows, out) [+]= the sum of its factors' products + ends + biases, then relu.
struct Task {
  std::int64_t rows, out, nodes = 1, tiles = 0;
  Real* y;
  const Real *send = nullptr, *recv = nullptr;
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
      put_tile(i, j, task.rows, task.out, block, true, task.y);
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

/// The tasks that wait for company, and the memory that they read and write. The device has one
/// queue, fed by one thread.
struct Collection {
  Tasks all = {};
  bool backward = false;
  Size size = Size::kWide;
  Precision precision = Precision::kFp32;
  std::vector<Stretch> reads, writes;  // writes[t] is task t's
};
Collection& collection() {
  static Collection only;
  return only;
}

template <class T, class Arithmetic>
void start_tasks(const Tasks& all, std::int64_t tiles, bool backward) {
  backward ? launch(grid_of<T>(tiles), multiply_tasks<T, Arithmetic, true>, all)
           : launch(grid_of<T>(tiles), multiply_tasks<T, Arithmetic, false>, all);
}
template <class T>
void start_tasks(const Tasks& all, std::int64_t tiles, bool backward, Precision precision) {
  switch (precision) {
    case Precision::kFp32: return start_tasks<T, Plain>(all, tiles, backward);
    case Precision::kTf32: return start_tasks<T, TensorCores<Tf32>>(all, tiles, backward);
    case Precision::kBf16: return start_tasks<T, TensorCores<Bf16>>(all, tiles, backward);
  }
}

void start_collection() {
  Collection& c = collection();
  const Tasks all = std::exchange(c.all, {});
  c.reads.clear();
  c.writes.clear();
  std::int64_t tiles = 0;
  for (int t = 0; t < all.count; ++t) tiles += all.task[t].tiles;
  switch (c.size) {
    case Size::kNarrow: return start_tasks<Narrow>(all, tiles, c.backward, c.precision);
    case Size::kWide: return start_tasks<Wide>(all, tiles, c.backward, c.precision);
    case Size::kBroad: return start_tasks<Broad, Plain>(all, tiles, c.backward);
  }
}

bool same_sum(const Task& a, const Task& b) {
  return a.y == b.y && a.rows == b.rows && a.out == b.out;
}

// Whether the task cannot stand beside the collected ones: it reads what they write, or writes what
// they read or write. In backward two may add to one gradient.
bool conflicts(const Collection& c, const Task& task, const std::vector<Stretch>& reads) {
  const Stretch write = stretch(task.y, task.rows * task.out);
  const auto meets = [](const std::vector<Stretch>& ranges, const Stretch& range) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const Stretch& other) { return other.meets(range); });
  };
  for (int t = 0; t < c.all.count; ++t) {
    const bool joined = c.backward && same_sum(c.all.task[t], task);
    if (!joined && c.writes[static_cast<std::size_t>(t)].meets(write)) return true;
  }
  return meets(c.reads, write) ||
         std::any_of(reads.begin(), reads.end(),
                     [&](const Stretch& range) { return meets(c.writes, range); });
}

// Adds a task whose factors and biases number so many and which reads `reads`; gives it or, in
// backward, the one that adds to the same gradient.
Task& add_task(Task task, bool backward, Precision precision, int factors,
               const std::vector<Stretch>& reads) {
  Collection& c = collection();
  const Size size = size_of(task, precision);
  const bool fits = c.all.count < kMostTasks && c.all.factors + factors <= kMostFactors &&
                    c.all.biases + task.biases <= kMostBiases;
  const bool alike = backward == c.backward && size == c.size && precision == c.precision;
  if (!fits || !alike || conflicts(c, task, reads)) start_collected();
  if (c.all.count == 0) collect(start_collection);
  c.backward = backward;
  c.size = size;
  c.precision = precision;
  c.reads.insert(c.reads.end(), reads.begin(), reads.end());
  for (int t = 0; t < c.all.count; ++t) {
    if (same_sum(c.all.task[t], task)) return c.all.task[t];
  }
  task.tiles = tiles_of(size, task.rows, task.out);
  task.first_bias = c.all.biases;
  c.writes.push_back(stretch(task.y, task.rows * task.out));
  return c.all.task[c.all.count++] = task;
}

void add_factors(Task& task, const Real* a, const Real* b, std::int64_t k) {
  Tasks& all = collection().all;
  const int at = all.factors++;
  all.factor[at] = {a, b, k, -1};
  (task.last_factors < 0 ? task.first_factors : all.factor[task.last_factors].next) = at;
  task.last_factors = at;
}

}  // namespace

void add_products(const ProductSum& sum) {
  if (sum.rows == 0) return;
  RENAR_CHECK(sum.rows < std::int64_t{1} << 31, "[products] a layer of {} rows", sum.rows);
  static std::vector<Stretch> reads;
  reads.clear();
  for (int t = 0; t < sum.terms; ++t) {
    const auto& [x, w, in] = sum.term[t];
    reads.push_back(stretch(x, sum.rows * in));
    reads.push_back(stretch(w, in * sum.out));
    add_flops(2 * sum.rows * sum.out * in);
  }
  const std::int64_t ends = sum.rows / sum.nodes * sum.out;
  if (sum.send != nullptr) reads.push_back(stretch(sum.send, ends));
  if (sum.recv != nullptr) reads.push_back(stretch(sum.recv, ends));
  for (int b = 0; b < sum.biases; ++b) reads.push_back(stretch(sum.bias[b], sum.out));
  Task& task = add_task({.rows = sum.rows,
                         .out = sum.out,
                         .nodes = sum.nodes,
                         .y = sum.y,
                         .send = sum.send,
                         .recv = sum.recv,
                         .biases = sum.biases,
                         .relu = sum.relu},
                        false, sum.precision, sum.terms, reads);
  for (int t = 0; t < sum.terms; ++t) {
    add_factors(task, sum.term[t].x, sum.term[t].w, sum.term[t].in);
  }
  Tasks& all = collection().all;
  for (int b = 0; b < sum.biases; ++b) all.bias[all.biases++] = sum.bias[b];
}

void add_to_input(std::int64_t rows, std::int64_t in, std::int64_t out, const Real* dy,
                  const Real* w, Real* dx, Precision precision) {
  if (rows == 0) return;
  add_flops(2 * rows * out * in);
  static std::vector<Stretch> reads;
  reads.assign({stretch(dy, rows * out), stretch(w, in * out)});
  add_factors(add_task({.rows = rows, .out = in, .y = dx}, true, precision, 1, reads), dy, w, out);
}

}  // namespace renar

#include "kernels/learned_sums.h"

#include "kernels/gemm.h"
#include "kernels/product_tiles.cuh"

namespace renar {
namespace {

static_assert(kStride % Broad::kDepth == 0 && kStride % Wide::kDepth == 0 &&
              kStride % Narrow::kDepth == 0);

// Parts of a long sum: enough for two blocks on each multiprocessor of an H100, none so short that
// it does not pay for writing its partial tile. Constants, so that every GPU gives the same bits.
constexpr std::int64_t kBlocksWanted = 264;
constexpr std::int64_t kLeastStrides = 4;

/// The strides [from, to) of a weight's uses.
struct UseSegments {
  Uses of;
  std::int64_t in, out;
  std::int64_t from, to;
  std::int64_t u = 0;  // the use that stride `from` is in

  __device__ void find_first() {
    for (std::int64_t above = of.count; above - u > 1;) {
      const std::int64_t middle = (u + above) / 2;
      (of.uses[middle].first <= from ? u : above) = middle;
    }
  }

  __device__ bool next(Segment& segment) {
    if (from >= to) return false;
    const Use use = of.uses[u++];
    const std::int64_t from_row = (from - use.first) * kStride, to_row = (to - use.first) * kStride;
    segment = {{use.x, 1, in}, {use.dy, 1, out}, from_row, to_row < use.rows ? to_row : use.rows};
    from = use.first + strides_of(use.rows);
    return true;
  }
};

// Block y has strides [y part, (y + 1) part). One part alone is added to dw, else each is written
// to its (in, out) at `parts`.
template <class T, class Arithmetic>
__global__ void multiply_uses(const Uses uses, std::int64_t in, std::int64_t out, std::int64_t part,
                              Real* parts, Real* dw) {
  const Place<T, Arithmetic> at(blockIdx.x, out);
  const std::int64_t from = blockIdx.y * part;
  const std::int64_t end = from + part < uses.strides ? from + part : uses.strides;
  SumsOf<T> sums = {};
  UseSegments segments{uses, in, out, from, end};
  segments.find_first();
  multiply_all<T, Arithmetic, false, false>(segments, at, in, out, sums);
  if (at.team != 0) return;
  const bool add = gridDim.y == 1;
  Real* to = add ? dw : parts + blockIdx.y * in * out;
  at.for_each_block(sums, [&](std::int64_t i, std::int64_t j, const Sums& block) {
    put_tile(i, j, in, out, block, add, to);
  });
}

// Block (x, y): a warp's width of columns, in strides [y part, (y + 1) part); writes its sums.
__global__ void sum_uses(const Uses uses, std::int64_t out, std::int64_t part, Real* to) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  const std::int64_t from = blockIdx.y * part;
  const std::int64_t end = from + part < uses.strides ? from + part : uses.strides;
  UseSegments segments{uses, 0, out, from, end};
  segments.find_first();
  Segment segment;
  Real sum = 0;
  while (segments.next(segment)) {
    for (std::int64_t r = segment.from_k + threadIdx.y; c < out && r < segment.to_k;
         r += kRowsAtOnce) {
      sum += segment.b.data[r * out + c];
    }
  }
  sum = column_sum(sum);
  if (threadIdx.y == 0 && c < out) to[blockIdx.y * out + c] = sum;
}

// The parts of each element: by a thread, first to last, where there are many elements, and by a
// warp, each lane every 32nd part, where there are few.
constexpr std::int64_t kFewElements = 4096;

__global__ void add_many(std::int64_t size, std::int64_t parts, const Real* from, Real* to) {
  const std::int64_t i = thread_index();
  if (i >= size) return;
  constexpr int kAtOnce = 16;  // on their way from memory together
  Real sum = 0;
  for (std::int64_t first = 0; first < parts; first += kAtOnce) {
    Real of_part[kAtOnce];
    RENAR_UNROLL
    for (int e = 0; e < kAtOnce; ++e) {
      of_part[e] = first + e < parts ? from[(first + e) * size + i] : Real{0};
    }
    RENAR_UNROLL
    for (int e = 0; e < kAtOnce; ++e) sum += of_part[e];
  }
  to[i] += sum;
}

__global__ void add_few(std::int64_t size, std::int64_t parts, const Real* from, Real* to) {
  const std::int64_t i = warp_index();
  if (i >= size) return;
  Real sum = 0;
  for (std::int64_t part = lane_index(); part < parts; part += kWarp) sum += from[part * size + i];
  sum = warp_sum(sum);
  if (lane_index() == 0) to[i] += sum;
}

void add_parts(std::int64_t size, std::int64_t parts, const Real* from, Real* to) {
  if (size <= kFewElements) return launch(one_warp_each(size), add_few, size, parts, from, to);
  launch(one_thread_each(size), add_many, size, parts, from, to);
}

std::int64_t strides_of_part(std::int64_t tiles, std::int64_t strides) {
  const std::int64_t length = blocks_for(strides, blocks_for(kBlocksWanted, tiles));
  return length > kLeastStrides ? length : kLeastStrides;
}

// Of a weight both sides count: a row of C here is a column of x.
Size size_of(std::int64_t in, std::int64_t out) {
  if (in <= Narrow::kSide || out <= Narrow::kSide) return Size::kNarrow;
  return fills_broad(in) && fills_broad(out) ? Size::kBroad : Size::kWide;
}
std::int64_t strides_of_weight_part(std::int64_t in, std::int64_t out, std::int64_t strides) {
  return strides_of_part(tiles_of(size_of(in, out), in, out), strides);
}

template <class T, class Arithmetic>
void multiply_parts(std::int64_t in, std::int64_t out, const Uses& uses, std::int64_t part,
                    Real* scratch, Real* dw) {
  const std::int64_t parts = blocks_for(uses.strides, part);
  launch(grid_of<T>(tiles_of<T>(in, out), parts), multiply_uses<T, Arithmetic>, uses, in, out, part,
         scratch, dw);
}
template <class T>
void multiply_parts(std::int64_t in, std::int64_t out, const Uses& uses, std::int64_t part,
                    Real* scratch, Real* dw, Precision precision) {
  switch (precision) {
    case Precision::kFp32: return multiply_parts<T, Plain>(in, out, uses, part, scratch, dw);
    case Precision::kTf32:
      return multiply_parts<T, TensorCores<Tf32>>(in, out, uses, part, scratch, dw);
    case Precision::kBf16:
      return multiply_parts<T, TensorCores<Bf16>>(in, out, uses, part, scratch, dw);
  }
}
// Parts are as many as Broad tiles ask for where those fit, also for tensor cores, which have none.
void multiply_parts(std::int64_t in, std::int64_t out, const Uses& uses, std::int64_t part,
                    Real* scratch, Real* dw, Precision precision) {
  const Size size = size_of(in, out);
  if (size == Size::kNarrow) {
    multiply_parts<Narrow>(in, out, uses, part, scratch, dw, precision);
  } else if (size == Size::kBroad && precision == Precision::kFp32) {
    multiply_parts<Broad, Plain>(in, out, uses, part, scratch, dw);
  } else {
    multiply_parts<Wide>(in, out, uses, part, scratch, dw, precision);
  }
}

// --- What the tape notes. ---

struct UseNode {
  Use use;
  UseNode* next;
};

/// What one weight or bias was used for, the last first.
struct UseList {
  UseNode* last = nullptr;
  std::int64_t count = 0;
};

enum class Learned { kWeight, kBias };

// dw (in, out) or, with in = 1, db (out).
void add_uses(Tape& tape, const UseList& list, Learned learned, std::int64_t in, std::int64_t out,
              Real* grad) {
  Use* table = tape.host_array<Use>(list.count);
  std::int64_t at = 0, strides = 0;
  for (const UseNode* node = list.last; node != nullptr; node = node->next) {
    table[at] = node->use;
    table[at++].first = strides;
    strides += strides_of(node->use.rows);
  }
  const Uses uses{tape.send<Use>(table, list.count), list.count, strides};
  const bool is_weight = learned == Learned::kWeight;
  const std::int64_t room =
      is_weight ? weight_scratch(in, out, strides) : bias_scratch(out, strides);
  Real* scratch = room > 0 ? tape.array<Real>(room) : nullptr;
  if (is_weight) return add_to_weight(in, out, uses, scratch, grad, tape.precision());
  add_to_bias(out, uses, scratch, grad);
}

// A parameter that belongs to a time step has no more than that step's sum.
void note_use(Tape& tape, Learned learned, const Tensor& parameter, std::int64_t in,
              std::int64_t out, const Use& use) {
  if (!parameter.has_grad()) return;
  bool made = true;
  UseList* list;
  if (tape.lasts(parameter.grad)) {
    list = &tape.shared<UseList>(parameter.grad, made);
  } else {
    list = new (tape.host_array<UseList>(1)) UseList();
  }
  list->last = new (tape.host_array<UseNode>(1)) UseNode{use, list->last};
  ++list->count;
  if (!made) return;
  tape.record(parameter,
              [=, &tape, grad = parameter.grad] { add_uses(tape, *list, learned, in, out, grad); });
}

}  // namespace

void learn_weight(Tape& tape, const Tensor& w, const Real* x, const Real* dy, std::int64_t rows) {
  note_use(tape, Learned::kWeight, w, w.dim(0), w.dim(1), {x, dy, rows, 0});
}

void learn_bias(Tape& tape, const Tensor& bias, const Real* dy, std::int64_t rows) {
  note_use(tape, Learned::kBias, bias, 1, bias.size(), {nullptr, dy, rows, 0});
}

std::int64_t weight_scratch(std::int64_t in, std::int64_t out, std::int64_t strides) {
  const std::int64_t parts = blocks_for(strides, strides_of_weight_part(in, out, strides));
  return parts > 1 ? parts * in * out : 0;
}

void add_to_weight(std::int64_t in, std::int64_t out, const Uses& uses, Real* scratch, Real* dw,
                   Precision precision) {
  const std::int64_t part = strides_of_weight_part(in, out, uses.strides);
  const std::int64_t parts = blocks_for(uses.strides, part);
  if (parts == 0) return;
  multiply_parts(in, out, uses, part, scratch, dw, precision);
  if (parts > 1) add_parts(in * out, parts, scratch, dw);
}

std::int64_t bias_scratch(std::int64_t out, std::int64_t strides) {
  return blocks_for(strides, strides_of_part(blocks_for(out, kWarp), strides)) * out;
}

void add_to_bias(std::int64_t out, const Uses& uses, Real* scratch, Real* db) {
  const std::int64_t across = blocks_for(out, kWarp), part = strides_of_part(across, uses.strides);
  const std::int64_t parts = blocks_for(uses.strides, part);
  if (parts == 0) return;
  launch(column_blocks({across, parts}), sum_uses, uses, out, part, scratch);
  add_parts(out, parts, scratch, db);
}

}  // namespace renar

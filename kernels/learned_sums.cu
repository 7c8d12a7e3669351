#include "kernels/learned_sums.h"

#include <array>
#include <utility>

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

/// A long sum that is cut into parts.
struct Parts {
  Uses uses;
  std::int64_t in, out;
  std::int64_t strides;  // of each part but the last
  std::int64_t count;

  RENAR_HOST_DEVICE UseSegments segments_of(std::int64_t part) const {
    const std::int64_t from = part * strides, end = from + strides;
    return {uses, in, out, from, end < uses.strides ? end : uses.strides};
  }
};

// Of a weight: block y has part y. One part alone is added to dw, else each is written to its (in,
// out) at `to`. A launch has one weight: with more of them its threads would need registers for
// what they now read where they need it, and fewer would fit.
template <class T, class Arithmetic>
__global__ void multiply_uses(const Parts parts, Real* to) {
  const Place<T, Arithmetic> at(blockIdx.x, parts.out);
  SumsOf<T> sums = {};
  UseSegments segments = parts.segments_of(blockIdx.y);
  segments.find_first();
  multiply_all<T, Arithmetic, false, false>(segments, at, parts.in, parts.out, sums);
  if (at.team != 0) return;
  Real* there = to + blockIdx.y * parts.in * parts.out;
  at.for_each_block(sums, [&](std::int64_t i, std::int64_t j, const Sums& block) {
    put_tile(i, j, parts.in, parts.out, block, gridDim.y == 1, there);
  });
}

/// Biases, small sums, of which a launch has several.
constexpr int kMostBiases = 32;
struct Biases {
  int count;
  struct Bias {
    Parts parts;
    Real* to;             // (parts, out)
    std::int64_t across;  // blocks of columns

    RENAR_HOST_DEVICE std::int64_t blocks() const { return across * parts.count; }
  } of[kMostBiases];
};

// A block has a warp's width of columns.
__global__ void sum_uses(const Biases RENAR_GIVEN all) {
  std::int64_t block = blockIdx.x;
  int k = 0;
  for (; block >= all.of[k].blocks(); ++k) block -= all.of[k].blocks();
  const Biases::Bias& my = all.of[k];
  const std::int64_t c = block % my.across * kWarp + threadIdx.x, out = my.parts.out;
  const std::int64_t part = block / my.across;
  UseSegments segments = my.parts.segments_of(part);
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
  if (threadIdx.y == 0 && c < out) my.to[part * out + c] = sum;
}

// The parts of each element: by a thread, first to last, where there are many elements, and by a
// warp, each lane every 32nd part, where there are few.
constexpr std::int64_t kFewElements = 4096;

struct SumOfParts {
  std::int64_t size, parts;
  const Real* from;  // (parts, size)
  Real* to;

  Touched touched(std::int64_t count) const {
    return Touched().reads(from, parts * count).writes(to, count);
  }
};

struct AddMany : SumOfParts {
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
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
};

struct AddFew : SumOfParts {
  __device__ void operator()(std::int64_t i) const {
    Real sum = 0;
    for (std::int64_t part = lane_index(); part < parts; part += kWarp) {
      sum += from[part * size + i];
    }
    sum = warp_sum(sum);
    if (lane_index() == 0) to[i] += sum;
  }
};

void add_parts(std::int64_t size, std::int64_t parts, const Real* from, Real* to) {
  if (size <= kFewElements) return for_each_row(size, AddFew{{size, parts, from, to}});
  for_each_on_device(size, AddMany{{size, parts, from, to}});
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

bool is_weight(const LongSum& sum) { return sum.in > 0; }

Parts parts_of(const LongSum& sum) {
  const std::int64_t in = sum.in, out = sum.out, strides = sum.uses.strides;
  const std::int64_t part = is_weight(sum) ? strides_of_weight_part(in, out, strides)
                                           : strides_of_part(blocks_for(out, kWarp), strides);
  return {sum.uses, in, out, part, blocks_for(strides, part)};
}

std::int64_t rows_of(const LongSum& sum) {
  std::int64_t rows = 0;
  for (std::int64_t u = 0; u < sum.uses.count; ++u) rows += sum.here[u].rows;
  return rows;
}

// Says so of the kernel that was collected last.
void last_collected_reads_uses(const LongSum& sum) {
  last_collected_reads(sum.uses.uses, sum.uses.count);
  for (std::int64_t u = 0; u < sum.uses.count; ++u) {
    const Use& use = sum.here[u];
    if (is_weight(sum)) last_collected_reads(use.x, use.rows * sum.in);
    last_collected_reads(use.dy, use.rows * sum.out);
  }
}

template <class T, class Arithmetic>
void multiply_parts(const LongSum& sum) {
  const Parts parts = parts_of(sum);
  Real* to = parts.count > 1 ? sum.scratch : sum.grad;
  const std::int64_t flops = 2 * rows_of(sum) * sum.in * sum.out;
  add_flops(flops);
  launch_later("multiply_uses",
               Touched().writes(to, parts.count * sum.in * sum.out).computes(flops), [parts, to] {
                 launch_collected(grid_of<T>(tiles_of<T>(parts.in, parts.out), parts.count),
                                  multiply_uses<T, Arithmetic>, parts, to);
               });
  last_collected_reads_uses(sum);
}
template <class T>
void multiply_parts(const LongSum& sum, Precision precision) {
  switch (precision) {
    case Precision::kFp32: return multiply_parts<T, Plain>(sum);
    case Precision::kTf32: return multiply_parts<T, TensorCores<Tf32>>(sum);
    case Precision::kBf16: return multiply_parts<T, TensorCores<Bf16>>(sum);
  }
}
// Parts are as many as Broad tiles ask for where those fit, also for tensor cores, which have none.
void multiply_parts(const LongSum& sum, Precision precision) {
  if (parts_of(sum).count == 0) return;
  const Size size = size_of(sum.in, sum.out);
  if (size == Size::kNarrow) {
    multiply_parts<Narrow>(sum, precision);
  } else if (size == Size::kBroad && precision == Precision::kFp32) {
    multiply_parts<Broad, Plain>(sum);
  } else {
    multiply_parts<Wide>(sum, precision);
  }
}

// At most kMostBiases of them.
void sum_some_biases(std::span<const LongSum* const> sums) {
  Biases all = {};
  std::int64_t blocks = 0;
  Touched touched;
  for (const LongSum* sum : sums) {
    const Biases::Bias bias{parts_of(*sum), sum->scratch, blocks_for(sum->out, kWarp)};
    touched.writes(sum->scratch, bias.parts.count * sum->out);
    all.of[all.count++] = bias;
    blocks += bias.blocks();
  }
  launch_later("sum_uses", touched,
               [all, blocks] { launch_collected(column_blocks({blocks}), sum_uses, all); });
  for (const LongSum* sum : sums) last_collected_reads_uses(*sum);
}

void sum_biases(std::span<const LongSum> sums) {
  std::array<const LongSum*, kMostBiases> some;
  std::size_t count = 0;
  for (const LongSum& sum : sums) {
    if (is_weight(sum) || parts_of(sum).count == 0) continue;
    some[count++] = &sum;
    if (count == some.size()) sum_some_biases({some.data(), std::exchange(count, 0)});
  }
  if (count > 0) sum_some_biases({some.data(), count});
}

// --- What the tape notes. ---

struct UseNode {
  Use use;
  UseNode* next;
};

/// What one weight or bias was used for, the last first.
struct UseList {
  std::int64_t in, out;
  Real* grad;
  UseNode* last = nullptr;
  std::int64_t count = 0;
  UseList* before = nullptr;  // that of another parameter
};

/// Of all parameters of the net.
struct UseLists {
  UseList* last = nullptr;
};
constexpr char kOfParameters = 0;  // its address is what the tape finds them by

void add_uses(Tape& tape, const UseList* last) {
  std::int64_t uses = 0, sums = 0;
  for (const UseList* list = last; list != nullptr; list = list->before, ++sums) {
    uses += list->count;
  }
  Use* table = tape.host_array<Use>(uses);
  std::int64_t at = 0;
  for (const UseList* list = last; list != nullptr; list = list->before) {
    std::int64_t strides = 0;
    for (const UseNode* node = list->last; node != nullptr; node = node->next) {
      table[at] = node->use;
      table[at++].first = strides;
      strides += strides_of(node->use.rows);
    }
  }
  const Use* there = tape.send<Use>(table, uses);
  LongSum* all = tape.host_array<LongSum>(sums);
  LongSum* next = all;
  at = 0;
  for (const UseList* list = last; list != nullptr; list = list->before) {
    const Use& first_of_it = table[at + list->count - 1];
    const std::int64_t strides = first_of_it.first + strides_of(first_of_it.rows);
    const std::int64_t room = long_sum_scratch(list->in, list->out, strides);
    *next++ = {list->in,
               list->out,
               {there + at, list->count, strides},
               table + at,
               room > 0 ? tape.array<Real>(room) : nullptr,
               list->grad};
    at += list->count;
  }
  add_long_sums({all, next}, tape.precision());
}

// Those of the net's parameters are one closure, which backward meets after all of them: nothing in
// it reads their gradients. Any other weight is itself the result of an op, which is to read its
// gradient: it has a closure of its own; where it belongs to a time step, of that step alone.
void note_use(Tape& tape, const Tensor& parameter, std::int64_t in, std::int64_t out,
              const Use& use) {
  if (!parameter.has_grad()) return;
  constexpr const char* kOp = "learned_sums";
  bool made = true;
  UseList* list;
  if (tape.lasts(parameter.grad)) {
    list = &tape.shared<UseList>(parameter.grad, made);
  } else {
    list = tape.host_array<UseList>(1);
  }
  if (made) new (list) UseList{.in = in, .out = out, .grad = parameter.grad};
  list->last = new (tape.host_array<UseNode>(1)) UseNode{use, list->last};
  ++list->count;
  if (!made) return;
  if (tape.owns(parameter.grad)) {
    return tape.record(
        parameter, [&tape, list] { add_uses(tape, list); }, kOp);
  }
  UseLists& all = tape.shared<UseLists>(&kOfParameters, made);
  list->before = all.last;
  all.last = list;
  if (made)
    tape.record(
        parameter, [&tape, &all] { add_uses(tape, all.last); }, kOp);
}

}  // namespace

void learn_weight(Tape& tape, const Tensor& w, const Real* x, const Real* dy, std::int64_t rows) {
  note_use(tape, w, w.dim(0), w.dim(1), {x, dy, rows, 0});
}

void learn_bias(Tape& tape, const Tensor& bias, const Real* dy, std::int64_t rows) {
  note_use(tape, bias, 0, bias.size(), {nullptr, dy, rows, 0});
}

std::int64_t long_sum_scratch(std::int64_t in, std::int64_t out, std::int64_t strides) {
  const Parts parts = parts_of({in, out, {nullptr, 0, strides}, nullptr, nullptr, nullptr});
  if (in == 0) return parts.count * out;
  return parts.count > 1 ? parts.count * in * out : 0;
}

void add_long_sums(std::span<const LongSum> sums, Precision precision) {
  for (const LongSum& sum : sums) {
    if (is_weight(sum)) multiply_parts(sum, precision);
  }
  sum_biases(sums);
  for (const LongSum& sum : sums) {
    const std::int64_t parts = parts_of(sum).count;
    const std::int64_t size = is_weight(sum) ? sum.in * sum.out : sum.out;
    const bool is_done = is_weight(sum) ? parts <= 1 : parts == 0;
    if (!is_done) add_parts(size, parts, sum.scratch, sum.grad);
  }
}

}  // namespace renar

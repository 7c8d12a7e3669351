#include "kernels/memory.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

/// The row of a table of `words` - 1 rows that x names, or -1 for nil.
RENAR_HOST_DEVICE std::int64_t word_of(Real x, std::int64_t words) {
  const Real count = static_cast<Real>(words);
  if (!(x > -count - 1 && x < count)) return -1;  // NaN too
  const auto word = static_cast<std::int64_t>(x);
  const std::int64_t from_start = word < 0 ? word + words : word;
  return from_start == words - 1 ? -1 : from_start;
}

/// The numbers that name words; position(c,e) = 1 + slope(c) (e + 1 - E/2).
struct Words {
  std::int64_t rows, count, width;
  Real step;
  const Real* x;  // (rows, count)

  RENAR_HOST_DEVICE std::int64_t at(std::int64_t r, std::int64_t c) const {
    return word_of(x[r * count + c], count);
  }
  RENAR_HOST_DEVICE Real slope(std::int64_t c) const {
    return step * (static_cast<Real>(c + 1) - static_cast<Real>(count) / 2);
  }
};

// y[e] += x[e] (1 + slope (e + 1 - E/2))
RENAR_CLONES void add_placed(std::int64_t width, Real slope, const Real* x, Real* y) {
  const Real middle = static_cast<Real>(width) / 2;
  for (std::int64_t e = 0; e < width; ++e) {
    y[e] += x[e] * (1 + slope * (static_cast<Real>(e + 1) - middle));
  }
}

/// Calls each(word, slope) for every number of row r that names a word but nil.
template <class Each>
void for_each_word(const Words& in, std::int64_t r, const Each& each) {
  for (std::int64_t c = 0; c < in.count; ++c) {
    const std::int64_t word = in.at(r, c);
    if (word >= 0) each(word, in.slope(c));
  }
}

RENAR_CLONES void add_scaled(std::int64_t width, Real scale, const Real* x, Real* y) {
  for (std::int64_t e = 0; e < width; ++e) y[e] += scale * x[e];
}

RENAR_HOST_DEVICE Real dot(std::int64_t width, const Real* a, const Real* b) {
  Real sum = 0;
  for (std::int64_t e = 0; e < width; ++e) sum += a[e] * b[e];
  return sum;
}

// On a device a gradient that all rows share, of a table or of the contents, has a block for each
// of its rows and a warp's width of E; the block's warps share the rows of the input.
Grid block_per_row(std::int64_t rows, std::int64_t width) {
  return column_blocks({rows, blocks_for(width, kWarp)});
}
__device__ std::int64_t own_column() {
  return static_cast<std::int64_t>(blockIdx.y) * kWarp + threadIdx.x;
}
__device__ void add_of_warps(std::int64_t width, Real sum, Real* to) {
  sum = column_sum(sum);
  if (threadIdx.y != 0 || own_column() >= width) return;
  to[static_cast<std::int64_t>(blockIdx.x) * width + own_column()] += sum;
}

void sum_words_on_cpu(const Words& in, const Real* table, Real* y) {
  std::fill_n(y, in.rows * in.width, Real{0});
  for (std::int64_t r = 0; r < in.rows; ++r) {
    for_each_word(in, r, [&](std::int64_t word, Real slope) {
      add_placed(in.width, slope, table + word * in.width, y + r * in.width);
    });
  }
}

void pass_to_words_on_cpu(const Words& in, const Real* dy, Real* dtable) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    for_each_word(in, r, [&](std::int64_t word, Real slope) {
      add_placed(in.width, slope, dy + r * in.width, dtable + word * in.width);
    });
  }
}

// A thread an output; the table is small enough to stay in cache.
struct SumWords {
  Words in;
  const Real* table;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(in.x, in.rows * in.count)
        .reads(table, (in.count - 1) * in.width)
        .writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t r = at / in.width, e = at % in.width;
    const Real from_middle = static_cast<Real>(e + 1) - static_cast<Real>(in.width) / 2;
    Real sum = 0;
    for (std::int64_t c = 0; c < in.count; ++c) {
      const std::int64_t word = in.at(r, c);
      if (word < 0) continue;
      sum += table[word * in.width + e] * (1 + in.slope(c) * from_middle);
    }
    y[at] = sum;
  }
};

// A block is a word and looks for it in all rows. What a row adds to the word's gradient is
// dy[r,e] (how often it names the word + the sum of those slopes (e + 1 - E/2)).
__global__ void pass_to_words(Words in, const Real* dy, Real* dtable) {
  const std::int64_t word = blockIdx.x, e = own_column();
  const Real from_middle = static_cast<Real>(e + 1) - static_cast<Real>(in.width) / 2;
  Real sum = 0;
  for (std::int64_t r = threadIdx.y; r < in.rows; r += kRowsAtOnce) {
    Real named = 0, slopes = 0;
    for (std::int64_t c = threadIdx.x; c < in.count; c += kWarp) {
      if (in.at(r, c) != word) continue;
      named += 1;
      slopes += in.slope(c);
    }
    if (!__any_sync(kAllLanes, named > 0)) continue;
    named = warp_sum(named);
    slopes = warp_sum(slopes);
    if (e < in.width) sum += dy[r * in.width + e] * (named + slopes * from_middle);
  }
  add_of_warps(in.width, sum, dtable);
}

void pass_to_words_on_device(const Words& in, const Real* dy, Real* dtable) {
  const std::int64_t words = in.count - 1;
  const Touched touched = Touched()
                              .reads(in.x, in.rows * in.count)
                              .reads(dy, in.rows * in.width)
                              .writes(dtable, words * in.width);
  launch_later("pass_to_words", touched, [=] {
    launch_collected(block_per_row(words, in.width), pass_to_words, in, dy, dtable);
  });
}

/// What memory_read has and its backward needs.
struct Read {
  std::int64_t queries, stories, memories, width;
  Tensor query, heard, told, contents, y;
  Real* p;        // (queries, memories)
  Real* dlogits;  // the same, on a device
};

void read_on_cpu(const Read& s) {
  const std::int64_t stories = s.stories, memories = s.memories, width = s.width;
  std::fill_n(s.y.data, s.y.size(), Real{0});
  for (std::int64_t q = 0; q < s.queries; ++q) {
    const Real* asked = s.query.data + q * width;
    Real* row = s.p + q * memories;
    for (std::int64_t m = 0; m < memories; ++m) {
      row[m] = dot(width, s.contents.data + m * width, asked);
      if (m < stories) row[m] += dot(width, s.heard.data + (q * stories + m) * width, asked);
    }
    const SoftmaxRow softmax = softmax_row(row, memories);
    for (std::int64_t m = 0; m < memories; ++m) row[m] = softmax.probability(row[m]);
    for (std::int64_t m = 0; m < stories; ++m) {
      add_scaled(width, row[m], s.told.data + (q * stories + m) * width, s.y.data + q * width);
    }
  }
}

void pass_read_on_cpu(const Read& s) {
  const std::int64_t stories = s.stories, memories = s.memories, width = s.width;
  for (std::int64_t q = 0; q < s.queries; ++q) {
    const Real *row = s.p + q * memories, *dy = s.y.grad + q * width;
    const auto dp = [&](std::int64_t m) {  // an empty memory tells nothing
      return m < stories ? dot(width, s.told.data + (q * stories + m) * width, dy) : Real{0};
    };
    Real along = 0;
    for (std::int64_t m = 0; m < stories; ++m) along += row[m] * dp(m);
    for (std::int64_t m = 0; m < memories; ++m) {
      const Real dlogit = row[m] * (dp(m) - along);
      const std::int64_t asked = q * width, kept = m * width, story = (q * stories + m) * width;
      if (s.query.has_grad()) {
        add_scaled(width, dlogit, s.contents.data + kept, s.query.grad + asked);
        if (m < stories) add_scaled(width, dlogit, s.heard.data + story, s.query.grad + asked);
      }
      if (s.contents.has_grad()) {
        add_scaled(width, dlogit, s.query.data + asked, s.contents.grad + kept);
      }
      if (m >= stories) continue;
      if (s.heard.has_grad()) add_scaled(width, dlogit, s.query.data + asked, s.heard.grad + story);
      if (s.told.has_grad()) add_scaled(width, row[m], dy, s.told.grad + story);
    }
  }
}

// A warp a query: first a lane a memory, whose E numbers it reads alone, then a lane each of y's
// E numbers, which needs all the lanes' p.
struct ReadMemories {
  std::int64_t stories, memories, width;
  const Real *query, *heard, *told, *contents;
  Real *p, *y;

  Touched touched(std::int64_t queries) const {
    const std::int64_t told_size = queries * stories * width;
    return Touched()
        .reads(query, queries * width)
        .reads(heard, told_size)
        .reads(told, told_size)
        .reads(contents, memories * width)
        .writes(p, queries * memories)
        .writes(y, queries * width);
  }
  __device__ void operator()(std::int64_t q) const {
    const std::int64_t first = q * stories * width;
    const Real* asked = query + q * width;
    Real *row = p + q * memories, largest = kMinusInfinity, sum = 0;
    for (std::int64_t m = lane_index(); m < memories; m += kWarp) {
      Real logit = dot(width, contents + m * width, asked);
      if (m < stories) logit += dot(width, heard + first + m * width, asked);
      row[m] = logit;
      largest = logit > largest ? logit : largest;
    }
    largest = warp_max(largest);
    for (std::int64_t m = lane_index(); m < memories; m += kWarp) {
      row[m] = std::exp(row[m] - largest);
      sum += row[m];
    }
    sum = warp_sum(sum);
    for (std::int64_t m = lane_index(); m < memories; m += kWarp) row[m] /= sum;
    __syncwarp();
    for (std::int64_t e = lane_index(); e < width; e += kWarp) {
      Real total = 0;
      for (std::int64_t m = 0; m < stories; ++m) total += row[m] * told[first + m * width + e];
      y[q * width + e] = total;
    }
  }
};

// Backward in the same shape: a lane a memory for its dlogit, then a lane each of dquery's numbers.
struct PassToQueries {
  std::int64_t stories, memories, width;
  const Real *heard, *told, *contents, *p, *dy;
  Real *dlogits, *dquery;

  Touched touched(std::int64_t queries) const {
    const std::int64_t told_size = queries * stories * width;
    return Touched()
        .reads(heard, told_size)
        .reads(told, told_size)
        .reads(contents, memories * width)
        .reads(p, queries * memories)
        .reads(dy, queries * width)
        .writes(dlogits, queries * memories)
        .writes(dquery, queries * width);
  }
  __device__ void operator()(std::int64_t q) const {
    const std::int64_t first = q * stories * width;
    const Real *row = p + q * memories, *to_y = dy + q * width;
    Real *to_logits = dlogits + q * memories, along = 0;
    for (std::int64_t m = lane_index(); m < memories; m += kWarp) {
      // An empty memory tells nothing.
      const Real dp = m < stories ? dot(width, told + first + m * width, to_y) : Real{0};
      to_logits[m] = dp;
      along += row[m] * dp;
    }
    along = warp_sum(along);
    for (std::int64_t m = lane_index(); m < memories; m += kWarp) {
      to_logits[m] = row[m] * (to_logits[m] - along);
    }
    if (dquery == nullptr) return;
    __syncwarp();
    for (std::int64_t e = lane_index(); e < width; e += kWarp) {
      Real total = 0;
      for (std::int64_t m = 0; m < memories; ++m) {
        Real said = contents[m * width + e];
        if (m < stories) said += heard[first + m * width + e];
        total += to_logits[m] * said;
      }
      dquery[q * width + e] += total;
    }
  }
};

// A thread a number of the stories.
struct PassToStories {
  std::int64_t stories, memories, width;
  const Real *query, *p, *dlogits, *dy;
  Real *dheard, *dtold;

  Touched touched(std::int64_t count) const {
    const std::int64_t queries = count / stories / width;
    return Touched()
        .reads(query, queries * width)
        .reads(p, queries * memories)
        .reads(dlogits, queries * memories)
        .reads(dy, queries * width)
        .writes(dheard, count)
        .writes(dtold, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t e = at % width, m = at / width % stories, q = at / width / stories,
                       place = q * memories + m;
    if (dheard != nullptr) dheard[at] += dlogits[place] * query[q * width + e];
    if (dtold != nullptr) dtold[at] += p[place] * dy[q * width + e];
  }
};

// A block a memory: the sum over all queries of dlogit times the query.
__global__ void pass_to_contents(std::int64_t queries, std::int64_t memories, std::int64_t width,
                                 const Real* dlogits, const Real* query, Real* dcontents) {
  const std::int64_t m = blockIdx.x, e = own_column();
  Real sum = 0;
  if (e < width) {
    for (std::int64_t q = threadIdx.y; q < queries; q += kRowsAtOnce) {
      sum += dlogits[q * memories + m] * query[q * width + e];
    }
  }
  add_of_warps(width, sum, dcontents);
}

void read_on_device(const Read& s) {
  for_each_row(s.queries, ReadMemories{s.stories, s.memories, s.width, s.query.data, s.heard.data,
                                       s.told.data, s.contents.data, s.p, s.y.data});
}

void pass_read_on_device(const Read& s) {
  const std::int64_t queries = s.queries, memories = s.memories, width = s.width;
  const Real *query = s.query.data, *dlogits = s.dlogits;
  for_each_row(queries, PassToQueries{s.stories, memories, width, s.heard.data, s.told.data,
                                      s.contents.data, s.p, s.y.grad, s.dlogits, s.query.grad});
  if (s.heard.has_grad() || s.told.has_grad()) {
    for_each_on_device(s.heard.size(), PassToStories{s.stories, memories, width, query, s.p,
                                                     dlogits, s.y.grad, s.heard.grad, s.told.grad});
  }
  if (!s.contents.has_grad()) return;
  Real* dcontents = s.contents.grad;
  const Touched touched = Touched()
                              .reads(dlogits, queries * memories)
                              .reads(query, queries * width)
                              .writes(dcontents, memories * width);
  launch_later("pass_to_contents", touched, [=] {
    launch_collected(block_per_row(memories, width), pass_to_contents, queries, memories, width,
                     dlogits, query, dcontents);
  });
}

}  // namespace

Tensor word_sum(Tape& tape, Tensor x, Tensor table) {
  RENAR_CHECK(table.shape.rank == 2 && table.dim(0) == x.cols() - 1,
              "[word_sum] table {} for {} words, the last of them nil", table.shape.text(),
              x.cols());
  const std::int64_t count = x.cols(), width = table.cols(), rows = x.rows();
  Shape shape = x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = width;
  Tensor y = tape.output(shape, {table});  // (..,E)
  const Real step = 4 / (static_cast<Real>(width) * static_cast<Real>(count));
  const Words words{rows, count, width, step, x.data};
  const bool on_cpu = tape.device() == Device::kCpu;
  if (on_cpu) {
    sum_words_on_cpu(words, table.data, y.data);
  } else {
    for_each(tape.device(), y.size(), SumWords{words, table.data, y.data});
  }
  tape.record(y, [=] {
    if (on_cpu) return pass_to_words_on_cpu(words, y.grad, table.grad);
    pass_to_words_on_device(words, y.grad, table.grad);
  });
  return y;
}

Tensor memory_read(Tape& tape, Tensor query, Tensor heard, Tensor told, Tensor contents) {
  RENAR_CHECK(heard.shape.rank == 4 && heard.shape == told.shape,
              "[memory_read] heard {} and told {} are not both (B,Q,S,E)", heard.shape.text(),
              told.shape.text());
  const std::int64_t stories = heard.dim(2), width = heard.dim(3), memories = contents.rows();
  const std::int64_t queries = heard.rows() / stories;
  RENAR_CHECK(query.size() == queries * width && contents.cols() == width,
              "[memory_read] query {} and contents {} do not fit heard {}", query.shape.text(),
              contents.shape.text(), heard.shape.text());
  RENAR_CHECK(stories <= memories, "[memory_read] {} stories for {} memories", stories, memories);
  Tensor y = tape.output(query.shape, {query, heard, told, contents});
  const bool on_cpu = tape.device() == Device::kCpu;
  Read s{queries, stories, memories, width, query, heard, told, contents, y, nullptr, nullptr};
  s.p = tape.array<Real>(queries * memories);
  if (on_cpu) {
    read_on_cpu(s);
  } else {
    if (y.has_grad()) s.dlogits = tape.array<Real>(queries * memories);
    read_on_device(s);
  }
  tape.record(y, [=] { on_cpu ? pass_read_on_cpu(s) : pass_read_on_device(s); });
  return y;
}

}  // namespace renar

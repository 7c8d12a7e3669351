#include "kernels/triplet_max.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"

namespace renar {
namespace {

// The three loops below, for one j: best[k] = max over i of left[i,j] + right[i,k]; how many are
// equal to it; and the gradient of each of those. The sum must be the same expression in all of
// them: winners are found again by value. V is a vector of the usual number of features, or one
// number; loops over 8 features in place of vectors become shuffles.
constexpr int kUsualFeatures = 8;
using Features [[gnu::vector_size(kUsualFeatures * sizeof(Real))]] = Real;
template <class V>
constexpr std::int64_t kTogether = sizeof(V) / sizeof(Real);

template <class V>
[[gnu::always_inline]] inline void read(const Real* from, V& v) {
  std::memcpy(&v, from, sizeof(V));
}
template <class V>
[[gnu::always_inline]] inline void write(const V& v, Real* to) {
  std::memcpy(to, &v, sizeof(V));
}

template <class V>
[[gnu::always_inline]] inline void best_senders_of(std::int64_t n, std::int64_t f, const Real* left,
                                                   const Real* right, Real* __restrict best) {
  std::fill_n(best, n * f, kMinusInfinity);
  for (std::int64_t i = 0; i < n; ++i, left += n * f, right += n * f) {
    for (std::int64_t c = 0; c < f; c += kTogether<V>) {
      V l, r, top;
      read(left + c, l);
      for (std::int64_t e = c; e < n * f; e += f) {
        read(right + e, r);
        read(best + e, top);
        const V sum = l + r;
        write<V>(sum > top ? sum : top, best + e);
      }
    }
  }
}

template <class V>
[[gnu::always_inline]] inline void count_winners_of(std::int64_t n, std::int64_t f,
                                                    const Real* left, const Real* right,
                                                    const Real* best, Real* __restrict count) {
  std::fill_n(count, n * f, Real{0});
  const V one = V{} + 1;
  for (std::int64_t i = 0; i < n; ++i, left += n * f, right += n * f) {
    for (std::int64_t c = 0; c < f; c += kTogether<V>) {
      V l, r, top, equal;
      read(left + c, l);
      for (std::int64_t e = c; e < n * f; e += f) {
        read(right + e, r);
        read(best + e, top);
        read(count + e, equal);
        write<V>(equal + (l + r == top ? one : V{}), count + e);
      }
    }
  }
}

template <class V>
[[gnu::always_inline]] inline void pass_to_winners_of(std::int64_t n, std::int64_t f,
                                                      const Real* left, const Real* right,
                                                      const Real* best, const Real* share,
                                                      Real* __restrict dleft,
                                                      Real* __restrict dright) {
  const std::int64_t row = n * f;
  for (std::int64_t i = 0; i < n; ++i, left += row, dleft += row, right += row, dright += row) {
    for (std::int64_t c = 0; c < f; c += kTogether<V>) {
      V l, r, top, g, dl, dr, sum = {};
      read(left + c, l);
      for (std::int64_t e = c; e < row; e += f) {
        read(right + e, r);
        read(best + e, top);
        read(share + e, g);
        read(dright + e, dr);
        const V won = l + r == top ? g : V{};
        sum += won;
        write<V>(dr + won, dright + e);
      }
      read(dleft + c, dl);
      write<V>(dl + sum, dleft + c);
    }
  }
}

RENAR_CLONES void best_senders(std::int64_t n, std::int64_t f, const Real* left, const Real* right,
                               Real* best) {
  f == kUsualFeatures ? best_senders_of<Features>(n, f, left, right, best)
                      : best_senders_of<Real>(n, f, left, right, best);
}

RENAR_CLONES void count_winners(std::int64_t n, std::int64_t f, const Real* left, const Real* right,
                                const Real* best, Real* count) {
  f == kUsualFeatures ? count_winners_of<Features>(n, f, left, right, best, count)
                      : count_winners_of<Real>(n, f, left, right, best, count);
}

RENAR_CLONES void pass_to_winners(std::int64_t n, std::int64_t f, const Real* left,
                                  const Real* right, const Real* best, const Real* share,
                                  Real* dleft, Real* dright) {
  f == kUsualFeatures ? pass_to_winners_of<Features>(n, f, left, right, best, share, dleft, dright)
                      : pass_to_winners_of<Real>(n, f, left, right, best, share, dleft, dright);
}

/// What forward has and backward needs.
struct Saved {
  std::int64_t batch, n, f;
  Tensor left, right, rest, y;
  Real* best;   // (B,N,N,F)
  Real* count;  // (B,N,N,F) on a device: how many are equal to the best
};

void forward_on_cpu(const Saved& s) {
  const std::int64_t row = s.n * s.f;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      best_senders(s.n, s.f, s.left.data + b * s.n * row + j * s.f, s.right.data + b * s.n * row,
                   s.best + (b * s.n + j) * row);
    }
  }
  for (std::int64_t e = 0; e < s.y.size(); ++e) s.y.data[e] = s.best[e] + s.rest.data[e];
}

void backward_on_cpu(const Saved& s) {
  static thread_local std::vector<Real> share;
  const std::int64_t n = s.n, row = s.n * s.f;
  share.resize(static_cast<std::size_t>(row));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const Real* r = s.right.data + b * n * row;
    for (std::int64_t j = 0; j < n; ++j) {
      const Real* l = s.left.data + b * n * row + j * s.f;
      const Real* m = s.best + (b * n + j) * row;
      const Real* g = s.y.grad + (b * n + j) * row;
      count_winners(n, s.f, l, r, m, share.data());
      for (std::int64_t e = 0; e < row; ++e) {
        share[static_cast<std::size_t>(e)] = g[e] / share[static_cast<std::size_t>(e)];
      }
      pass_to_winners(n, s.f, l, r, m, share.data(), s.left.grad + b * n * row + j * s.f,
                      s.right.grad + b * n * row);
    }
  }
  for (std::int64_t e = 0; e < s.y.size(); ++e) s.rest.grad[e] += s.y.grad[e];
}

// On a device a block has a tile of results: kTile rows by kTile nodes with kChannels channels. It
// brings kTile of the summed-over nodes at a time to shared memory, where every number serves kTile
// results. Eight channels are all that the default F has: a row of a tile is then 64 numbers side
// by side in memory, two lines. Eight nodes cut a sample of 16 into four blocks, so that a batch of
// 32 fills a GPU. A thread has one (node, channel) and kEach rows, whose sums are in registers.
constexpr int kTile = 8, kChannels = 8, kWide = kTile * kChannels;
constexpr int kThreadRows = 2, kEach = kTile / kThreadRows;

Grid grid_of_tiles(const Saved& s, int times, int shared_tiles) {
  const std::int64_t tiles = blocks_for(s.n, kTile);
  return {{times * tiles * tiles * blocks_for(s.f, kChannels), s.batch},
          {kWide, kThreadRows},
          static_cast<std::size_t>(shared_tiles * kTile * kWide) * sizeof(Real)};
}

/// Where the block's tile starts, and the thread's node and channel.
struct Place {
  std::int64_t sample;  // offset of the sample
  std::int64_t row, node, channel;
  std::int64_t my_node, my_channel;
};

__device__ inline Place place_of(std::int64_t n, std::int64_t f, std::int64_t block) {
  const std::int64_t tiles = (n + kTile - 1) / kTile;
  const std::int64_t row = block % tiles * kTile, node = block / tiles % tiles * kTile;
  const std::int64_t channel = block / tiles / tiles * kChannels, x = threadIdx.x;
  return {static_cast<std::int64_t>(blockIdx.y) * n * n * f,
          row,
          node,
          channel,
          node + x / kChannels,
          channel + x % kChannels};
}

// tile[r,x] = from[row + r, node + x / kChannels, channel + x % kChannels], whose axes lie
// row_step, node_step and 1 apart; 0 outside of the sample. Divided by the same of `by`, if given.
__device__ inline void load_tile(std::int64_t n, std::int64_t f, const Real* from, std::int64_t row,
                                 std::int64_t row_step, std::int64_t node, std::int64_t node_step,
                                 std::int64_t channel, Real* tile, const Real* by = nullptr) {
  const int x = static_cast<int>(threadIdx.x);
  node += x / kChannels;
  channel += x % kChannels;
  for (int r = static_cast<int>(threadIdx.y); r < kTile; r += kThreadRows) {
    const bool inside = row + r < n && node < n && channel < f;
    const std::int64_t at = (row + r) * row_step + node * node_step + channel;
    const Real number = inside ? from[at] : Real{0};
    tile[r * kWide + x] = inside && by != nullptr ? number / by[at] : number;
  }
}

// Rows are j, nodes are k; the count of equal sums is kept if `count` is given.
__global__ void find_best(std::int64_t n, std::int64_t f, const Real* left, const Real* right,
                          const Real* rest, Real* best, Real* count, Real* y) {
  Real* left_tile = shared_memory<Real>();       // (i, j, c)
  Real* right_tile = left_tile + kTile * kWide;  // (i, k, c)
  const Place at = place_of(n, f, blockIdx.x);
  const int x = static_cast<int>(threadIdx.x), first = static_cast<int>(threadIdx.y);
  Real tops[kEach], equal[kEach];
  for (int e = 0; e < kEach; ++e) {
    tops[e] = kMinusInfinity;
    equal[e] = 0;
  }
  for (std::int64_t from = 0; from < n; from += kTile) {
    __syncthreads();  // nobody reads the last tiles any more
    load_tile(n, f, left + at.sample, from, n * f, at.row, f, at.channel, left_tile);
    load_tile(n, f, right + at.sample, from, n * f, at.node, f, at.channel, right_tile);
    __syncthreads();
    for (int i = 0; i < kTile && from + i < n; ++i) {
      const Real r = right_tile[i * kWide + x];
      for (int e = 0; e < kEach; ++e) {
        const int j = first + e * kThreadRows;
        const Real v = left_tile[i * kWide + j * kChannels + x % kChannels] + r;
        equal[e] = v > tops[e] ? Real{1} : equal[e] + (v == tops[e] ? Real{1} : Real{0});
        tops[e] = v > tops[e] ? v : tops[e];
      }
    }
  }
  if (at.my_node >= n || at.my_channel >= f) return;
  for (int e = 0; e < kEach; ++e) {
    const std::int64_t j = at.row + first + e * kThreadRows;
    if (j >= n) return;
    const std::int64_t place = at.sample + (j * n + at.my_node) * f + at.my_channel;
    y[place] = tops[e] + rest[place];
    best[place] = tops[e];
    if (count != nullptr) count[place] = equal[e];
  }
}

/// The gradient of left or of right. Of left a = j and o = k, of right a = k and o = j: best and dy
/// lie a_step and o_step apart.
struct Side {
  const Real *mine, *other;
  std::int64_t a_step, o_step;
  Real* dmine;
};

// dmine[i,a] += sum over o of dy[a,o] / count[a,o] where mine[i,a] + other[i,o] = best[a,o].
// Instead of adding to all winners of a maximum, every number looks which maxima it won. Rows are
// i, nodes are a. The first half of the blocks has left, and passes dy on to rest; the second has
// right.
__global__ void gather_shares(std::int64_t n, std::int64_t f, Side left, Side right,
                              const Real* best, const Real* count, const Real* dy, Real* drest) {
  Real* other_tile = shared_memory<Real>();      // (i, o, c)
  Real* best_tile = other_tile + kTile * kWide;  // (o, a, c)
  Real* share_tile = best_tile + kTile * kWide;  // (o, a, c)
  const std::int64_t half = gridDim.x / 2;
  const bool is_left = blockIdx.x < half;
  const Side side = is_left ? left : right;
  const Place at = place_of(n, f, is_left ? blockIdx.x : blockIdx.x - half);
  const int x = static_cast<int>(threadIdx.x), first = static_cast<int>(threadIdx.y);
  const bool inside = at.my_node < n && at.my_channel < f;
  const std::int64_t mine_at = at.sample + at.my_node * f + at.my_channel;
  Real own[kEach], sums[kEach];
  for (int e = 0; e < kEach; ++e) {
    const std::int64_t i = at.row + first + e * kThreadRows;
    own[e] = inside && i < n ? side.mine[mine_at + i * n * f] : Real{0};
    sums[e] = 0;
  }
  for (std::int64_t from = 0; from < n; from += kTile) {
    __syncthreads();  // nobody reads the last tiles any more
    load_tile(n, f, side.other + at.sample, at.row, n * f, from, f, at.channel, other_tile);
    load_tile(n, f, best + at.sample, from, side.o_step, at.node, side.a_step, at.channel,
              best_tile);
    load_tile(n, f, dy + at.sample, from, side.o_step, at.node, side.a_step, at.channel, share_tile,
              count + at.sample);
    __syncthreads();
    for (int o = 0; o < kTile && from + o < n; ++o) {
      const Real top = best_tile[o * kWide + x], g = share_tile[o * kWide + x];
      for (int e = 0; e < kEach; ++e) {
        const int i = first + e * kThreadRows;
        const Real v = own[e] + other_tile[i * kWide + o * kChannels + x % kChannels];
        sums[e] += v == top ? g : Real{0};
      }
    }
  }
  if (!inside) return;
  for (int e = 0; e < kEach; ++e) {
    const std::int64_t i = at.row + first + e * kThreadRows, place = mine_at + i * n * f;
    if (i >= n) return;
    side.dmine[place] += sums[e];
    if (is_left) drest[place] += dy[place];
  }
}

void forward_on_device(const Saved& s) {
  const std::int64_t size = s.y.size();
  const Touched touched = Touched()
                              .reads(s.left.data, size)
                              .reads(s.right.data, size)
                              .reads(s.rest.data, size)
                              .writes(s.best, size)
                              .writes(s.count, size)
                              .writes(s.y.data, size)
                              .computes(2 * size * s.n);
  launch_later("find_best", touched, [s] {
    launch_collected(grid_of_tiles(s, 1, 2), find_best, s.n, s.f, s.left.data, s.right.data,
                     s.rest.data, s.best, s.count, s.y.data);
  });
}

void backward_on_device(const Saved& s) {
  const std::int64_t size = s.y.size();
  const Touched touched = Touched()
                              .reads(s.left.data, size)
                              .reads(s.right.data, size)
                              .reads(s.best, size)
                              .reads(s.count, size)
                              .reads(s.y.grad, size)
                              .writes(s.left.grad, size)
                              .writes(s.right.grad, size)
                              .writes(s.rest.grad, size)
                              .computes(2 * 2 * size * s.n);  // of two sides
  const Side left{s.left.data, s.right.data, s.n * s.f, s.f, s.left.grad};
  const Side right{s.right.data, s.left.data, s.f, s.n * s.f, s.right.grad};
  launch_later("gather_shares", touched, [=] {
    launch_collected(grid_of_tiles(s, 2, 3), gather_shares, s.n, s.f, left, right, s.best, s.count,
                     s.y.grad, s.rest.grad);
  });
}

struct Sum {
  std::int64_t n, f;
  const Real *left, *right, *rest;
  Real* y;

  Touched touched(std::int64_t count) const {
    const std::int64_t size = count / n;
    return Touched().reads(left, size).reads(right, size).reads(rest, size).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % f, k = at / f % n, j = at / f / n % n, i = at / f / n / n % n;
    const std::int64_t b = at / f / n / n / n;
    y[at] = (left[((b * n + i) * n + j) * f + c] + right[((b * n + i) * n + k) * f + c]) +
            rest[((b * n + j) * n + k) * f + c];
  }
};

// Entry (b, p, q, c) of all three inputs: each was added n times.
struct PassSum {
  std::int64_t n, f;
  const Real* dy;
  Real *dleft, *dright, *drest;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(dy, count * n)
        .writes(dleft, count)
        .writes(dright, count)
        .writes(drest, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % f, q = at / f % n, p = at / f / n % n, b = at / f / n / n;
    for (std::int64_t o = 0; o < n; ++o) {
      dleft[at] += dy[(((b * n + p) * n + q) * n + o) * f + c];
      dright[at] += dy[(((b * n + p) * n + o) * n + q) * f + c];
      drest[at] += dy[(((b * n + o) * n + p) * n + q) * f + c];
    }
  }
};

void check(const Tensor& left, const Tensor& right, const Tensor& rest) {
  RENAR_CHECK(left.shape.rank == 4 && left.dim(1) == left.dim(2) && left.shape == right.shape &&
                  left.shape == rest.shape,
              "[triplet_max] left {}, right {} and rest {} must be one (B,N,N,F)",
              left.shape.text(), right.shape.text(), rest.shape.text());
  RENAR_CHECK(left.has_grad() == right.has_grad() && left.has_grad() == rest.has_grad(),
              "[triplet_max] left, right and rest must all want a gradient, or none");
}

}  // namespace

Tensor triplet_max(Tape& tape, Tensor left, Tensor right, Tensor rest) {
  check(left, right, rest);
  const bool on_cpu = tape.device() == Device::kCpu;
  Tensor y = tape.output(left.shape, {left, right, rest});
  const Saved saved{left.dim(0),
                    left.dim(1),
                    left.dim(3),
                    left,
                    right,
                    rest,
                    y,
                    tape.array<Real>(y.size()),
                    on_cpu || !y.has_grad() ? nullptr : tape.array<Real>(y.size())};
  on_cpu ? forward_on_cpu(saved) : forward_on_device(saved);
  tape.record(y, [=] { on_cpu ? backward_on_cpu(saved) : backward_on_device(saved); });
  return y;
}

Tensor triplet_sum(Tape& tape, Tensor left, Tensor right, Tensor rest) {
  check(left, right, rest);
  const std::int64_t batch = left.dim(0), n = left.dim(1), f = left.dim(3);
  const Device device = tape.device();
  Tensor y = tape.output({batch, n, n, n, f}, {left, right, rest});
  for_each(device, y.size(), Sum{n, f, left.data, right.data, rest.data, y.data});
  tape.record(y, [=] {
    for_each(device, left.size(), PassSum{n, f, y.grad, left.grad, right.grad, rest.grad});
  });
  return y;
}

}  // namespace renar

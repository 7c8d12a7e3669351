// Maximum subarray by divide and conquer (CLRS, 3rd edition 4.1, not in the 4th).
//
// Output: start(N) and end(N), the first and last index of a subarray of the largest sum, marked
// in one mask each. Hints: the call low .. high with its mid; what is known of the best subarray
// in the left half, in the right half, across the middle (low, high and sum of each), and of what
// the call returns; the scan indices i and j with the running sum and the best sums of both scans;
// and the phase. A frame is recorded when a call of one element returns, when a larger one
// divides, after each of its recursive calls, before and at each step of both scans, and when it
// returns (the outermost call does not: its answer is the output). Of equally good parts the left
// one wins, then the right, then the crossing one.
//
// Where the benchmark leaves the textbook: the scans start with the first element's value less 0.1
// instead of minus infinity; until a part is known its hint holds a guess (its whole half, the two
// elements of the middle) and the sum 0, for the crossing the two start values; and during the
// second scan left_sum and right_sum show the sums of the two scans. One element has no frame
// there, and here the frame of its call.

#include <vector>

#include "algos/registry.h"

namespace renar {
namespace {

enum SubarrayPhase { kDivide, kScanLeft, kScanRight };
constexpr int kSubarrayPhases = 3;

/// How far below its first element a scan's best sum starts.
constexpr double kMargin = 0.1;

const Spec& find_maximum_subarray_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"start", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"end", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"mid", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"left_low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"left_high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"left_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"right_low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"right_high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"right_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"cross_low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"cross_high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"cross_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"ret_low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"ret_high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"ret_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"left_x_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"right_x_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, kSubarrayPhases},
  };
  return spec;
}

struct Subarray {
  int low, high;
  double sum;
};

/// What one call of the recursion shows of itself.
struct Call {
  int low, high, mid;
  Subarray left, right, cross, ret;
  int i, j;                        // the indices of the two scans
  double sum = 0;                  // of the scan that is under way
  double left_x_sum, right_x_sum;  // the best sums of both
  SubarrayPhase phase = kDivide;
};

class Search {
 public:
  Search(const std::vector<double>& key, Trace& trace)
      : a_(key), n_(trace.nodes()), pred_(predecessors(self_pointers(n_))), trace_(trace) {}

  /// FIND-MAXIMUM-SUBARRAY(A, low, high).
  Subarray find(int low, int high) {
    if (low == high) {
      record(one_element(low));
      return {low, high, a_[low]};
    }
    const int mid = (low + high) / 2;
    Call call = divided(low, high, mid);
    record(call);
    call.left = find(low, mid);
    record(call);
    call.right = find(mid + 1, high);
    record(call);
    find_crossing(call);

    const Subarray &left = call.left, &right = call.right, &cross = call.cross;
    if (left.sum >= right.sum && left.sum >= cross.sum) {
      call.ret = left;
    } else if (right.sum >= left.sum && right.sum >= cross.sum) {
      call.ret = right;
    } else {
      call.ret = cross;
    }
    call.phase = kDivide;
    call.i = low;
    call.j = high;
    if (high - low + 1 < n_) record(call);
    return call.ret;
  }

 private:
  Call one_element(int k) const {
    const Subarray none = {k, k, 0};
    return {.low = k,
            .high = k,
            .mid = k,
            .left = none,
            .right = none,
            .cross = none,
            .ret = {k, k, a_[k]},
            .i = k,
            .j = k,
            .left_x_sum = a_[k] - kMargin,
            .right_x_sum = a_[k] - kMargin};
  }

  Call divided(int low, int high, int mid) const {
    return {.low = low,
            .high = high,
            .mid = mid,
            .left = {low, mid, 0},
            .right = {mid + 1, high, 0},
            .cross = {mid, mid + 1, a_[mid] + a_[mid + 1] - 2 * kMargin},
            .ret = {low, high, 0},
            .i = mid,
            .j = mid + 1,
            .left_x_sum = a_[mid] - kMargin,
            .right_x_sum = a_[mid + 1] - kMargin};
  }

  /// FIND-MAX-CROSSING-SUBARRAY: the best part that holds both mid and mid + 1.
  void find_crossing(Call& call) {
    const double left_sum = call.left.sum, right_sum = call.right.sum;
    call.phase = kScanLeft;
    record(call);
    for (int i = call.mid; i >= call.low; --i) {
      call.i = i;
      call.sum += a_[i];
      if (call.sum > call.left_x_sum) {
        call.left_x_sum = call.sum;
        call.cross.low = i;
      }
      call.cross.sum = call.left_x_sum + a_[call.mid + 1] - kMargin;
      record(call);
    }

    call.phase = kScanRight;
    call.sum = 0;
    const auto show_sums = [&call] {
      call.left.sum = call.left_x_sum;
      call.right.sum = call.right_x_sum;
      call.cross.sum = call.left_x_sum + call.right_x_sum;
    };
    show_sums();
    record(call);
    for (int j = call.mid + 1; j <= call.high; ++j) {
      call.j = j;
      call.sum += a_[j];
      if (call.sum > call.right_x_sum) {
        call.right_x_sum = call.sum;
        call.cross.high = j;
      }
      show_sums();
      record(call);
    }
    call.left.sum = left_sum;  // the halves' own again
    call.right.sum = right_sum;
  }

  void record(const Call& call) {
    const auto mark = [this](int index) { return one_hot(index, n_); };
    trace_.hint({{"pred_h", pred_},
                 {"low", mark(call.low)},
                 {"high", mark(call.high)},
                 {"mid", mark(call.mid)},
                 {"left_low", mark(call.left.low)},
                 {"left_high", mark(call.left.high)},
                 {"left_sum", call.left.sum},
                 {"right_low", mark(call.right.low)},
                 {"right_high", mark(call.right.high)},
                 {"right_sum", call.right.sum},
                 {"cross_low", mark(call.cross.low)},
                 {"cross_high", mark(call.cross.high)},
                 {"cross_sum", call.cross.sum},
                 {"ret_low", mark(call.ret.low)},
                 {"ret_high", mark(call.ret.high)},
                 {"ret_sum", call.ret.sum},
                 {"i", mark(call.i)},
                 {"j", mark(call.j)},
                 {"sum", call.sum},
                 {"left_x_sum", call.left_x_sum},
                 {"right_x_sum", call.right_x_sum},
                 {"phase", one_hot(call.phase, kSubarrayPhases)}});
  }

  const std::vector<double>& a_;
  int n_;
  std::vector<int> pred_;
  Trace& trace_;
};

}  // namespace

/// Finds a contiguous, non-empty part of `key` (N) with the largest sum. Throws renar::Error for an
/// empty array or where a sum is not finite.
Trace find_maximum_subarray(const std::vector<double>& key) {
  const int n = static_cast<int>(key.size());
  Trace trace(find_maximum_subarray_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", key}});
  const Subarray best = Search(key, trace).find(0, n - 1);
  trace.output({{"start", one_hot(best.low, n)}, {"end", one_hot(best.high, n)}});
  return trace;
}

namespace {

Trace sample_find_maximum_subarray(NumpyRandom& random, int length, const SamplerParams&) {
  return find_maximum_subarray(random_sequence(random, length, -1, 1));
}

Trace run_find_maximum_subarray(const UserInput& input) {
  return find_maximum_subarray(input.list("key"));
}

}  // namespace

Algorithm find_maximum_subarray_algorithm() {
  return {.name = "find_maximum_subarray",
          .category = Category::kDivideAndConquer,
          .spec = find_maximum_subarray_spec,
          .sample = sample_find_maximum_subarray,
          .inputs = {"key"},
          .run = run_find_maximum_subarray,
          .in_clrs30 = false,
          .pred_is_input = true};
}

}  // namespace renar

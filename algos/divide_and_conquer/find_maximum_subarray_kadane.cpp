// Maximum subarray in linear time (CLRS, 3rd edition exercise 4.1-5, not in the 4th; Kadane, told
// by Bentley, 1984).
//
// Output: start(N) and end(N), the first and last index of a subarray of the largest sum, marked
// in one mask each. Hints: i .. j, the best subarray that ends at j, and its sum; best_low ..
// best_high, the best one so far, and best_sum. A frame is recorded for each j: N frames. The
// subarray is never empty. Of equally good ones the first to end wins, and a subarray whose sum
// is 0 is carried on rather than dropped.

#include <vector>

#include "algos/registry.h"

namespace renar {
namespace {

const Spec& find_maximum_subarray_kadane_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"start", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"end", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"best_low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"best_high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"best_sum", Stage::kHint, Location::kGraph, Type::kScalar},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"sum", Stage::kHint, Location::kGraph, Type::kScalar},
  };
  return spec;
}

}  // namespace

/// Finds a contiguous, non-empty part of `key` (N) with the largest sum. Throws renar::Error for an
/// empty array or where a sum is not finite.
Trace find_maximum_subarray_kadane(const std::vector<double>& key) {
  const int n = static_cast<int>(key.size());
  Trace trace(find_maximum_subarray_kadane_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", key}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  int i = 0, best_low = 0, best_high = 0;
  double sum = key[0], best_sum = key[0];
  for (int j = 0; j < n; ++j) {
    if (j > 0) {
      if (sum + key[j] >= key[j]) {
        sum += key[j];
      } else {
        i = j;
        sum = key[j];
      }
    }
    if (sum > best_sum) {
      best_low = i;
      best_high = j;
      best_sum = sum;
    }
    trace.hint({{"pred_h", pred},
                {"best_low", one_hot(best_low, n)},
                {"best_high", one_hot(best_high, n)},
                {"best_sum", best_sum},
                {"i", one_hot(i, n)},
                {"j", one_hot(j, n)},
                {"sum", sum}});
  }

  trace.output({{"start", one_hot(best_low, n)}, {"end", one_hot(best_high, n)}});
  return trace;
}

namespace {

Trace sample_find_maximum_subarray_kadane(NumpyRandom& random, int length, const SamplerParams&) {
  return find_maximum_subarray_kadane(random_sequence(random, length, -1, 1));
}

Trace run_find_maximum_subarray_kadane(const UserInput& input) {
  return find_maximum_subarray_kadane(input.list("key"));
}

}  // namespace

Algorithm find_maximum_subarray_kadane_algorithm() {
  return {.name = "find_maximum_subarray_kadane",
          .category = Category::kDivideAndConquer,
          .spec = find_maximum_subarray_kadane_spec,
          .sample = sample_find_maximum_subarray_kadane,
          .inputs = {"key"},
          .run = run_find_maximum_subarray_kadane,
          .multiplier = 32,
          .pred_is_input = true};
}

}  // namespace renar

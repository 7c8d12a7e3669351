// Comparisons with what the reference made (tests/golden).
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "algos/trace_batch.h"
#include "core/npz.h"
#include "tests/source_dir.h"

namespace renar {

inline Npz read_golden(const std::string& name) {
  return read_npz(test::source_dir() + "/tests/golden/" + name);
}

/// Checks that the arrays under `prefix` are the batch, to the last bit. The reference may pad
/// hints further with zeros than we do.
inline void check_equals_golden(const TraceBatch& batch, const Npz& golden,
                                const std::string& prefix) {
  int arrays = 0;
  for (const auto& [key, array] : arrays_of(batch, prefix)) {
    CAPTURE(key);
    const StoredArray& theirs = array_of(golden, key);
    const std::vector<double> ours = array.doubles(), expected = theirs.doubles();
    REQUIRE(expected.size() >= ours.size());
    CHECK(std::equal(array.shape.rbegin(), array.shape.rend() - 1, theirs.shape.rbegin()));
    CHECK(std::equal(ours.begin(), ours.end(), expected.begin()));
    CHECK(std::all_of(expected.begin() + static_cast<std::ptrdiff_t>(ours.size()), expected.end(),
                      [](double x) { return x == 0; }));
    CHECK((expected.size() == ours.size() || key.starts_with(prefix + "hint/")));
    ++arrays;
  }
  CHECK(arrays == std::count_if(golden.begin(), golden.end(), [&](const auto& entry) {
          return entry.first.starts_with(prefix);
        }));
}

}  // namespace renar

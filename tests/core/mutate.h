// Damaged files for the readers to survive: bit flips, truncations, splices, repeated and removed
// ranges, and sizes overwritten with extreme numbers. Seeded, so that a failure can be repeated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/check.h"

namespace renar {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    for (std::size_t rounds = 1 + below(4); rounds > 0 && !bytes.empty(); --rounds) {
      const std::size_t at = below(bytes.size());
      const std::size_t size = std::min(bytes.size() - at, 1 + below(64));
      switch (below(6)) {
        case 0: bytes[at] ^= static_cast<char>(1u << below(8)); break;
        case 1: bytes.resize(at); break;
        case 2: bytes.insert(below(bytes.size()), bytes.substr(at, size)); break;
        case 3: bytes.erase(at, size); break;
        case 4: overwrite_size(bytes, at); break;
        case 5: bytes[at] = "0123456789-{}[]()\":,<|fiub"[below(26)]; break;
      }
    }
    return bytes;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_()) % n; }

  void overwrite_size(std::string& bytes, std::size_t at) {
    constexpr std::uint64_t kOnes = ~std::uint64_t{0};
    constexpr std::uint64_t kSizes[] = {0,           1,           0x7f,       0xffff, kOnes >> 33,
                                        kOnes >> 32, kOnes >> 31, kOnes >> 1, kOnes};
    const std::uint64_t value = below(2) == 0 ? kSizes[below(9)] : random_();
    const std::size_t width = std::min(std::size_t{1} << below(4), bytes.size() - at);
    std::memcpy(bytes.data() + at, &value, width);
  }

  std::mt19937 random_;
};

/// Reads 10,000 mutations of the files. Each is read or refused with a renar::Error; anything else
/// (another exception, a crash, a sanitizer's report) fails the test. Returns how many were read.
inline int survive_mutations(const std::vector<std::string>& files,
                             const std::function<void(const std::string&)>& read) {
  Mutator mutate(1);
  int accepted = 0;
  for (std::size_t i = 0; i < 10'000; ++i) {
    try {
      read(mutate(files[i % files.size()]));
      ++accepted;
    } catch (const Error&) {
    }
  }
  return accepted;
}

}  // namespace renar

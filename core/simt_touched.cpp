#include "core/simt_touched.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "core/simt_memory.h"

namespace renar::simt {
namespace {

constexpr int kSpoiled = 0xff;  // a NaN, and no class, node or sample

bool watching = false;

/// How many bytes are alike before the first that is not. Most are: memcmp looks at pages of them.
std::size_t alike(const std::byte* a, const std::byte* b, std::size_t count) {
  constexpr std::size_t kPiece = 4096;
  std::size_t i = 0;
  while (i + kPiece <= count && std::memcmp(a + i, b + i, kPiece) == 0) i += kPiece;
  while (i < count && a[i] == b[i]) ++i;
  return i;
}

/// A copy of the device's memory.
class Copy {
 public:
  void take() {
    const std::vector<std::span<std::byte>> all = all_memory();
    blocks_.resize(all.size());  // with room for the last copy's bytes
    for (std::size_t i = 0; i < all.size(); ++i) {
      blocks_[i].memory = all[i];
      blocks_[i].bytes.assign(all[i].begin(), all[i].end());
    }
  }
  void put_back() const {
    for (const Block& b : blocks_) std::copy(b.bytes.begin(), b.bytes.end(), b.memory.begin());
  }
  void put_back(const Stretch& stretch) const {
    const std::byte* bytes = find(stretch);
    std::memcpy(const_cast<char*>(stretch.begin), bytes, size_of(stretch));
  }
  bool is_as_now(const Stretch& stretch) const {
    return std::memcmp(stretch.begin, find(stretch), size_of(stretch)) == 0;
  }
  bool is_as_now_but_for(std::span<const Stretch> stretches) const {
    return std::ranges::all_of(blocks_, [&](const Block& b) { return is_same(b, stretches); });
  }

  bool holds(std::span<const Stretch> stretches) const {
    return std::ranges::all_of(stretches, [&](const Stretch& s) { return find(s) != nullptr; });
  }

  static std::size_t size_of(const Stretch& stretch) {
    return static_cast<std::size_t>(stretch.end - stretch.begin);
  }

 private:
  struct Block {
    std::span<std::byte> memory;
    std::vector<std::byte> bytes;
  };

  static bool is_same(const Block& b, std::span<const Stretch> but_for) {
    const std::byte* now = b.memory.data();
    const std::size_t count = b.memory.size();
    for (std::size_t i = 0;;) {
      i += alike(now + i, b.bytes.data() + i, count - i);
      if (i == count) return true;
      const auto* at = reinterpret_cast<const char*>(now + i);
      const auto meant = std::ranges::find_if(
          but_for, [&](const Stretch& s) { return s.begin <= at && at < s.end; });
      if (meant == but_for.end()) return false;
      i = std::min(count, i + static_cast<std::size_t>(meant->end - at));
    }
  }

  /// Its bytes; null where it is not of one block.
  const std::byte* find(const Stretch& stretch) const {
    const auto* begin = reinterpret_cast<const std::byte*>(stretch.begin);
    const auto* end = reinterpret_cast<const std::byte*>(stretch.end);
    for (const Block& b : blocks_) {
      const std::byte* first = b.memory.data();
      if (first <= begin && end <= first + b.memory.size()) return b.bytes.data() + (begin - first);
    }
    return nullptr;
  }

  std::vector<Block> blocks_;
};

void spoil(const Stretch& stretch) {
  std::memset(const_cast<char*>(stretch.begin), kSpoiled, Copy::size_of(stretch));
}

bool all_is_spoiled() {
  return std::ranges::all_of(all_memory(), [](std::span<std::byte> block) {
    // The first byte is, and each is like the one before it.
    return block[0] == std::byte{kSpoiled} &&
           std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0;
  });
}

}  // namespace

void watch_touched(bool on) { watching = on; }
bool watches_touched() { return watching; }

void run_watched(const char* name, std::span<const Stretch> reads, std::span<const Stretch> writes,
                 const std::function<void()>& run) {
  static Copy before, after;
  {
    const Unlocked unlocked;
    before.take();
  }
  RENAR_CHECK(before.holds(reads) && before.holds(writes),
              "[simt] {} says that it touches what is not the device's memory", name);
  run();
  {
    const Unlocked unlocked;
    RENAR_CHECK(before.is_as_now_but_for(writes), "[simt] {} writes more than it says", name);
    after.take();
    for (const std::span<std::byte> block : all_memory()) {
      std::memset(block.data(), kSpoiled, block.size());
    }
    for (const Stretch& stretch : reads) before.put_back(stretch);
    for (const Stretch& stretch : writes) before.put_back(stretch);
  }
  run();
  const Unlocked unlocked;
  for (const Stretch& stretch : writes) {
    RENAR_CHECK(after.is_as_now(stretch), "[simt] {} reads more than it says", name);
  }
  // What it wrote elsewhere may have been there before: here it is not.
  for (const Stretch& stretch : writes) spoil(stretch);
  for (const Stretch& stretch : reads) spoil(stretch);
  RENAR_CHECK(all_is_spoiled(), "[simt] {} writes more than it says", name);
  after.put_back();
}

}  // namespace renar::simt

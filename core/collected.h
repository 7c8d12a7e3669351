// Kernels that are collected before they are started.
//
// A time step has a hundred ops, most of them less work than it is to start a kernel. So a kernel
// waits at first, with what it reads and writes, behind those that wait already. One that is like
// it joins it and both are started as one, however many others were asked for in between, unless
// one of these writes what it reads or touches what it writes. So the first layers of messages,
// triplets and gate become one launch, and so do all decoders of pointers, in whatever order the
// ops are called.
//
// What waits is started in its order before a copy that is no send, a release of the device's
// memory and every kernel that is not collected, and when too much waits. So nobody sees the
// difference: every kernel finds the numbers that it would find if each were started at once.
// Fibers start what waits in any order that is possible by what the kernels say they touch, as the
// schedule chooses, and look whether they touch more (core/simt_touched.h).
//
// kernels/products.cu collects layers, for_each and for_each_row (core/launch.h) what ops do
// element by element and row by row, launch_later a kernel that none can join. They collect nothing
// while launches are left out (core/cuda.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

namespace renar {

/// Memory that a kernel reads or writes.
struct Stretch {
  const char *begin = nullptr, *end = nullptr;

  bool meets(const Stretch& other) const { return begin < other.end && other.begin < end; }
};

/// What a kernel reads and writes of what another one might write, and what it computes.
class Touched {
 public:
  /// Null: nothing.
  template <class T>
  Touched& reads(const T* begin, std::int64_t count) {
    add(begin, count, reads_, read_count_);
    return *this;
  }
  template <class T>
  Touched& writes(const T* begin, std::int64_t count) {
    add(begin, count, writes_, write_count_);
    return *this;
  }

  /// Multiplications and additions, of kernels that have many.
  Touched& computes(std::int64_t flops) {
    flops_ += flops;
    return *this;
  }

  std::span<const Stretch> reads() const { return {reads_.data(), read_count_}; }
  std::span<const Stretch> writes() const { return {writes_.data(), write_count_}; }
  std::int64_t flops() const { return flops_; }

 private:
  static constexpr std::size_t kMost = 32;
  using Stretches = std::array<Stretch, kMost>;

  template <class T>
  static void add(const T* begin, std::int64_t count, Stretches& to, std::size_t& number) {
    if (begin == nullptr || count == 0) return;
    const auto* first = reinterpret_cast<const char*>(begin);
    put({first, first + count * static_cast<std::int64_t>(sizeof(T))}, to, number);
  }
  static void put(const Stretch& stretch, Stretches& to, std::size_t& number);

  Stretches reads_, writes_;  // as many as counted
  std::size_t read_count_ = 0, write_count_ = 0;
  std::int64_t flops_ = 0;
};

/// What kernels are like: those of one kind can join. It lives as long as the process.
struct CollectedKind {
  const char* name;                  ///< of its row in profiles
  void (*start)(const void* given);  ///< starts what was given
};

/// Bytes of what is given to the kernels of a launch.
constexpr std::size_t kMostGiven = 4352;

/// Whether a kernel may join what was `given`; `meets`: it writes what that writes.
using MayJoin = bool (*)(const void* given, bool meets, const void* of);
struct CollectedPlace {
  void* given;
  bool is_new;
};
CollectedPlace find_collected(const CollectedKind& kind, const Touched& touched, MayJoin may_join,
                              const void* of);

/// Collects a kernel: gives what its launch is given, to which the caller adds its own. It is a new
/// Given where no kernel of this kind can be joined; `may_join(given, meets)` says whether there is
/// room and whether, where both write the same memory, they may.
template <class Given, class MayJoinIt>
Given& collect(const CollectedKind& kind, const Touched& touched, const MayJoinIt& may_join) {
  static_assert(sizeof(Given) <= kMostGiven && std::is_trivially_destructible_v<Given>);
  const CollectedPlace place = find_collected(
      kind, touched,
      [](const void* given, bool meets, const void* of) {
        return (*static_cast<const MayJoinIt*>(of))(*static_cast<const Given*>(given), meets);
      },
      &may_join);
  return place.is_new ? *new (place.given) Given() : *static_cast<Given*>(place.given);
}

/// Collects a kernel that joins none: where what it is given goes.
void* add_collected(const CollectedKind& kind, const Touched& touched);

/// What the kernel that was collected last reads, too: for one with more arrays than Touched holds.
void last_collected_reads(const Stretch& stretch);
template <class T>
void last_collected_reads(const T* begin, std::int64_t count) {
  const auto* first = reinterpret_cast<const char*>(begin);
  last_collected_reads({first, first + count * static_cast<std::int64_t>(sizeof(T))});
}

/// Whether what was `given` can do some more at its end.
using MayEnd = bool (*)(const void* given, const void* of);
void* find_last_needed(const CollectedKind& kind, const Touched& touched, MayEnd may_end,
                       const void* of);

/// What was given to the last kernel that work which touches this would have to wait for, if it is
/// of this kind and `may_end(given)`: the caller then has it do that work at its end. Else null.
template <class Given, class MayEndWithIt>
Given* end_collected(const CollectedKind& kind, const Touched& touched,
                     const MayEndWithIt& may_end) {
  return static_cast<Given*>(find_last_needed(
      kind, touched,
      [](const void* given, const void* of) {
        return (*static_cast<const MayEndWithIt*>(of))(*static_cast<const Given*>(given));
      },
      &may_end));
}

/// Starts all that waits. Throws what starting throws; the rest is then forgotten.
void start_collected();
/// Starts none of it: after an error, when what it would read has not been computed.
void forget_collected();

}  // namespace renar

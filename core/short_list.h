// A list kept in place, without memory of its own, so that a closure can hold it.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include "core/check.h"

namespace renar {

template <class T, int kCapacity>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> items) {
    for (const T& item : items) add(item);
  }
  /// Throws renar::Error where there is no more room.
  void add(const T& item) {
    RENAR_CHECK(size_ < kCapacity, "[short list] more than {} entries", kCapacity);
    items_[static_cast<std::size_t>(size_++)] = item;
  }
  int size() const { return size_; }
  const T& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, kCapacity> items_{};
  int size_ = 0;
};

}  // namespace renar

// Matrices, row-major: the A[i, j] of the textbook's graphs and tables; and masks. A mask or a
// pointer needs no double: small numbers are quicker to fill, to compare and to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace renar {

template <class Number>
class Table {
 public:
  Table(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  Number& operator()(int i, int j) { return values_[index(i, j)]; }
  Number operator()(int i, int j) const { return values_[index(i, j)]; }
  std::vector<Number>& values() { return values_; }
  const std::vector<Number>& values() const { return values_; }

 private:
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(j);
  }

  int rows_, columns_;
  std::vector<Number> values_;
};

/// An element of a mask: 0, 1 or -1 (masked out).
using Mark = std::int8_t;
using Mask = std::vector<Mark>;

using Matrix = Table<double>;
using IntMatrix = Table<int>;  // of pointers or classes
using MaskMatrix = Table<Mark>;

}  // namespace renar

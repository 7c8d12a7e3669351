// A matrix of doubles, row-major: the A[i, j] of the textbook's graphs and tables.
#pragma once

#include <cstddef>
#include <vector>

namespace renar {

class Matrix {
 public:
  Matrix(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double& operator()(int i, int j) { return values_[index(i, j)]; }
  double operator()(int i, int j) const { return values_[index(i, j)]; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(j);
  }

  int rows_, columns_;
  std::vector<double> values_;
};

}  // namespace renar

// The matrices of a model once more, cut into panels as a product reads its right factor
// (kernels/gemm.h).
//
// A panel is kPanel columns side by side, row after row, so that a product walks it from front to
// back; what lies beyond the last column is zero. Every matrix W is cut as W, for y = x W, and as
// W^T, for dx = dy W^T: once for all products of an update, where cutting it for each one would
// cost as much as a product of 16 rows.
#pragma once

#include <vector>

#include "core/parameters.h"

namespace renar {

constexpr std::int64_t kPanel = 32;

struct Panels {
  const Real* data = nullptr;  ///< null: there are none
  std::int64_t apart = 0;      ///< from one panel to the next
};

class PackedWeights {
 public:
  /// Cuts the active matrices of a model as they are now, on `threads` threads.
  void pack(const Parameters& parameters, const ActiveParameters& active, int threads);

  /// The panels of w or w^T, where w (rows, cols) is a matrix that was cut or some rows of one; w^T
  /// has none where the first of the rows is not that of a panel.
  Panels of(const Real* w, std::int64_t cols) const;
  Panels of_transposed(const Real* w, std::int64_t cols) const;

 private:
  struct Matrix {
    const Real* w;
    std::int64_t rows, cols;
    std::int64_t panels, turned;  // where they begin in room_
  };
  void cut(const Matrix& matrix);
  const Matrix* find(const Real* w, std::int64_t cols) const;

  std::vector<Matrix> matrices_;  // by address
  std::vector<Real> room_;
};

}  // namespace renar

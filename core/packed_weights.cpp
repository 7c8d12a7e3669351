#include "core/packed_weights.h"

#include <algorithm>

#include "core/parallel.h"

namespace renar {
namespace {

std::int64_t panels_for(std::int64_t cols) { return (cols + kPanel - 1) / kPanel; }

// Panels of a matrix whose element (r, c) is from[r * row + c * col].
void cut_into(std::int64_t rows, std::int64_t cols, const Real* from, std::int64_t row,
              std::int64_t col, Real* to) {
  for (std::int64_t first = 0; first < cols; first += kPanel, from += kPanel * col) {
    const std::int64_t width = std::min(kPanel, cols - first);
    for (std::int64_t r = 0; r < rows; ++r, to += kPanel) {
      for (std::int64_t c = 0; c < width; ++c) to[c] = from[r * row + c * col];
      std::fill(to + width, to + kPanel, Real{0});
    }
  }
}

}  // namespace

void PackedWeights::pack(const Parameters& parameters, const ActiveParameters& active,
                         int threads) {
  matrices_.clear();
  std::int64_t size = 0;
  for (const Parameters::Entry& entry : parameters.entries()) {
    const auto& [offset, shape] = entry.param;
    const bool is_active =
        offset < active.shared || (offset >= active.begin && offset < active.end);
    if (!is_active || shape.rank != 2 || shape[1] == 1) continue;  // a column needs no panels
    const std::int64_t rows = shape[0], cols = shape[1];
    const std::int64_t turned = size + panels_for(cols) * rows * kPanel;
    matrices_.push_back({parameters.at(entry.param), rows, cols, size, turned});
    size = turned + panels_for(rows) * cols * kPanel;
  }
  if (static_cast<std::int64_t>(room_.size()) < size) room_.resize(static_cast<std::size_t>(size));
  for_each_shard(static_cast<int>(matrices_.size()), threads,
                 [&](int i, int) { cut(matrices_[static_cast<std::size_t>(i)]); });
}

void PackedWeights::cut(const Matrix& m) {
  cut_into(m.rows, m.cols, m.w, m.cols, 1, room_.data() + m.panels);
  cut_into(m.cols, m.rows, m.w, 1, m.cols, room_.data() + m.turned);
}

const PackedWeights::Matrix* PackedWeights::find(const Real* w, std::int64_t cols) const {
  const auto after = std::upper_bound(matrices_.begin(), matrices_.end(), w,
                                      [](const Real* at, const Matrix& m) { return at < m.w; });
  if (after == matrices_.begin()) return nullptr;
  const Matrix& m = *(after - 1);
  const std::int64_t at = w - m.w;
  return m.cols == cols && at % cols == 0 && at < m.rows * cols ? &m : nullptr;
}

Panels PackedWeights::of(const Real* w, std::int64_t cols) const {
  const Matrix* m = find(w, cols);
  if (m == nullptr) return {};
  return {room_.data() + m->panels + (w - m->w) / cols * kPanel, m->rows * kPanel};
}

Panels PackedWeights::of_transposed(const Real* w, std::int64_t cols) const {
  const Matrix* m = find(w, cols);
  const std::int64_t row = m == nullptr ? 0 : (w - m->w) / cols;
  if (m == nullptr || row % kPanel != 0) return {};
  return {room_.data() + m->turned + row * cols, cols * kPanel};
}

}  // namespace renar

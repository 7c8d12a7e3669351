#include "kernels/columns.h"

#include <algorithm>

#include "core/check.h"

namespace renar {
namespace {

bool any_grad(const Sources& sources) {
  return std::any_of(sources.begin(), sources.end(), [](const Tensor& s) { return s.has_grad(); });
}

}  // namespace

Tensor columns(Tape& tape, std::int64_t rows, const Sources& sources) {
  std::int64_t width = 1;
  for (const Tensor& source : sources) {
    RENAR_CHECK(source.rows() > 0 && rows % source.rows() == 0,
                "[columns] a source {} cannot be spread over {} rows", source.shape.text(), rows);
    width += source.cols();
  }
  Tensor y = tape.output({rows, width}, any_grad(sources));
  std::int64_t at = 0;
  for (const Tensor& source : sources) {
    const std::int64_t repeat = rows / source.rows(), cols = source.cols();
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        y.data[r * width + at + c] = source.data[r / repeat * cols + c];
      }
    }
    at += cols;
  }
  for (std::int64_t r = 0; r < rows; ++r) y.data[r * width + at] = 1;
  tape.record(y, [=] {
    std::int64_t from = 0;
    for (const Tensor& source : sources) {
      const std::int64_t repeat = rows / source.rows(), cols = source.cols();
      for (std::int64_t r = 0; source.has_grad() && r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          source.grad[r / repeat * cols + c] += y.grad[r * width + from + c];
        }
      }
      from += cols;
    }
  });
  return y;
}

Tensor stack(Tape& tape, std::int64_t hidden, const Sources& weights, const Sources& biases) {
  std::int64_t rows = 1;
  for (const Tensor& w : weights) {
    RENAR_CHECK(w.cols() == hidden, "[stack] w {} has not {} outputs", w.shape.text(), hidden);
    rows += w.dim(0);
  }
  for (const Tensor& bias : biases) {
    RENAR_CHECK(bias.size() == hidden, "[stack] bias {} for {} outputs", bias.shape.text(), hidden);
  }
  Tensor y = tape.output({rows, hidden}, any_grad(weights) || any_grad(biases));
  Real* out = y.data;
  for (const Tensor& w : weights) out = std::copy_n(w.data, w.size(), out);
  std::fill_n(out, hidden, Real{0});
  for (const Tensor& bias : biases) {
    for (std::int64_t c = 0; c < hidden; ++c) out[c] += bias.data[c];
  }
  tape.record(y, [=] {
    const Real* dy = y.grad;
    for (const Tensor& w : weights) {
      for (std::int64_t i = 0; w.has_grad() && i < w.size(); ++i) w.grad[i] += dy[i];
      dy += w.size();
    }
    for (const Tensor& bias : biases) {
      for (std::int64_t c = 0; bias.has_grad() && c < hidden; ++c) bias.grad[c] += dy[c];
    }
  });
  return y;
}

}  // namespace renar

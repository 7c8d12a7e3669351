#include "kernels/memory.h"

#include <algorithm>

#include "core/check.h"
#include "core/simd.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

/// The row of a table of `words` - 1 rows that x names, or -1 for nil.
std::int64_t word_of(Real x, std::int64_t words) {
  const Real count = static_cast<Real>(words);
  if (!(x > -count - 1 && x < count)) return -1;  // NaN too
  const auto word = static_cast<std::int64_t>(x);
  const std::int64_t from_start = word < 0 ? word + words : word;
  return from_start == words - 1 ? -1 : from_start;
}

// y[e] += x[e] (1 + slope (e + 1 - E/2))
RENAR_CLONES void add_placed(std::int64_t width, Real slope, const Real* x, Real* y) {
  const Real middle = static_cast<Real>(width) / 2;
  for (std::int64_t e = 0; e < width; ++e) {
    y[e] += x[e] * (1 + slope * (static_cast<Real>(e + 1) - middle));
  }
}

/// Calls each(word, slope) for every number of the row x that names a word but nil.
template <class Each>
void for_each_word(const Real* x, std::int64_t count, std::int64_t width, const Each& each) {
  const Real step = 4 / (static_cast<Real>(width) * static_cast<Real>(count));
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t word = word_of(x[c], count);
    if (word >= 0) each(word, step * (static_cast<Real>(c + 1) - static_cast<Real>(count) / 2));
  }
}

RENAR_CLONES void add_scaled(std::int64_t width, Real scale, const Real* x, Real* y) {
  for (std::int64_t e = 0; e < width; ++e) y[e] += scale * x[e];
}

Real dot(std::int64_t width, const Real* a, const Real* b) {
  Real sum = 0;
  for (std::int64_t e = 0; e < width; ++e) sum += a[e] * b[e];
  return sum;
}

}  // namespace

Tensor word_sum(Tape& tape, Tensor x, Tensor table) {
  RENAR_CHECK(table.shape.rank == 2 && table.dim(0) == x.cols() - 1,
              "[word_sum] table {} for {} words, the last of them nil", table.shape.text(),
              x.cols());
  const std::int64_t count = x.cols(), width = table.cols(), rows = x.rows();
  Shape shape = x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = width;
  Tensor y = tape.output(shape, {table});  // (..,E)
  std::fill_n(y.data, y.size(), Real{0});
  for (std::int64_t r = 0; r < rows; ++r) {
    for_each_word(x.data + r * count, count, width, [&](std::int64_t word, Real slope) {
      add_placed(width, slope, table.data + word * width, y.data + r * width);
    });
  }
  tape.record(y, [=] {
    for (std::int64_t r = 0; r < rows; ++r) {
      for_each_word(x.data + r * count, count, width, [&](std::int64_t word, Real slope) {
        add_placed(width, slope, y.grad + r * width, table.grad + word * width);
      });
    }
  });
  return y;
}

Tensor memory_read(Tape& tape, Tensor query, Tensor heard, Tensor told, Tensor contents) {
  RENAR_CHECK(heard.shape.rank == 4 && heard.shape == told.shape,
              "[memory_read] heard {} and told {} are not both (B,Q,S,E)", heard.shape.text(),
              told.shape.text());
  const std::int64_t stories = heard.dim(2), width = heard.dim(3), memories = contents.rows();
  const std::int64_t queries = heard.rows() / stories;
  RENAR_CHECK(query.size() == queries * width && contents.cols() == width,
              "[memory_read] query {} and contents {} do not fit heard {}", query.shape.text(),
              contents.shape.text(), heard.shape.text());
  RENAR_CHECK(stories <= memories, "[memory_read] {} stories for {} memories", stories, memories);
  Tensor y = tape.output(query.shape, {query, heard, told, contents});
  Tensor p = tape.constant({queries, memories});
  std::fill_n(y.data, y.size(), Real{0});
  for (std::int64_t q = 0; q < queries; ++q) {
    const Real* asked = query.data + q * width;
    Real* row = p.data + q * memories;
    for (std::int64_t m = 0; m < memories; ++m) {
      row[m] = dot(width, contents.data + m * width, asked);
      if (m < stories) row[m] += dot(width, heard.data + (q * stories + m) * width, asked);
    }
    const SoftmaxRow softmax = softmax_row(row, memories);
    for (std::int64_t m = 0; m < memories; ++m) row[m] = softmax.probability(row[m]);
    for (std::int64_t m = 0; m < stories; ++m) {
      add_scaled(width, row[m], told.data + (q * stories + m) * width, y.data + q * width);
    }
  }
  tape.record(y, [=] {
    for (std::int64_t q = 0; q < queries; ++q) {
      const Real *row = p.data + q * memories, *dy = y.grad + q * width;
      const auto dp = [&](std::int64_t m) {  // an empty memory tells nothing
        return m < stories ? dot(width, told.data + (q * stories + m) * width, dy) : Real{0};
      };
      Real along = 0;
      for (std::int64_t m = 0; m < stories; ++m) along += row[m] * dp(m);
      for (std::int64_t m = 0; m < memories; ++m) {
        const Real dlogit = row[m] * (dp(m) - along);
        const std::int64_t asked = q * width, kept = m * width, story = (q * stories + m) * width;
        if (query.has_grad()) {
          add_scaled(width, dlogit, contents.data + kept, query.grad + asked);
          if (m < stories) add_scaled(width, dlogit, heard.data + story, query.grad + asked);
        }
        if (contents.has_grad()) {
          add_scaled(width, dlogit, query.data + asked, contents.grad + kept);
        }
        if (m >= stories) continue;
        if (heard.has_grad()) add_scaled(width, dlogit, query.data + asked, heard.grad + story);
        if (told.has_grad()) add_scaled(width, row[m], dy, told.grad + story);
      }
    }
  });
  return y;
}

Tensor add_last(Tape& tape, Tensor x) {
  RENAR_CHECK(x.shape.rank == 3 && x.dim(1) > 1, "[add_last] x {} is not (B,N+1,H)",
              x.shape.text());
  const std::int64_t batch = x.dim(0), n = x.dim(1) - 1, h = x.dim(2);
  Tensor y = tape.output({batch, n, h}, {x});
  const auto for_each_row = [=](const auto& each) {  // (place in y, in x, of x's last)
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t i = 0; i < n; ++i) {
        each((b * n + i) * h, (b * (n + 1) + i) * h, (b * (n + 1) + n) * h);
      }
    }
  };
  for_each_row([=](std::int64_t to, std::int64_t from, std::int64_t last) {
    for (std::int64_t c = 0; c < h; ++c) y.data[to + c] = x.data[from + c] + x.data[last + c];
  });
  tape.record(y, [=] {
    for_each_row([=](std::int64_t to, std::int64_t from, std::int64_t last) {
      add_scaled(h, 1, y.grad + to, x.grad + from);
      add_scaled(h, 1, y.grad + to, x.grad + last);
    });
  });
  return y;
}

}  // namespace renar

// Matrix-chain multiplication (CLRS, 3rd edition 15.2, 4th edition 14.2).
//
// Input: p(N), the dimensions: node i >= 1 stands for the matrix A_i of p[i-1] x p[i], node 0 for
// no matrix. Output: s(N,N), where s[i,j] = k says that the product of A_i .. A_j is best split
// after A_k; 0 where j <= i. Hints: m, the least cost found so far, s_h, and msk, which cells of m
// hold a cost at all.
//
// Where the benchmark leaves the textbook: there is no loop over the chain length. Every sweep
// updates all cells at once from the m of the sweep before, one frame a sweep, until m stands
// still: products appear at every length up to the double of the sweep before, and their costs
// fall while their parts improve. Of equal splits the lowest k of the first such sweep wins.

#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& matrix_chain_order_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"p", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kOutput, Location::kEdge, Type::kPointer},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"m", Stage::kHint, Location::kEdge, Type::kScalar},
      {"s_h", Stage::kHint, Location::kEdge, Type::kPointer},
      {"msk", Stage::kHint, Location::kEdge, Type::kMask},
  };
  return spec;
}

}  // namespace

/// Finds the cheapest order to multiply matrices of p[0] x p[1], p[1] x p[2] and so on. Throws
/// renar::Error unless all dimensions are above 0 and all costs finite.
Trace matrix_chain_order(const std::vector<double>& p) {
  const int n = static_cast<int>(p.size());
  for (int i = 0; i < n; ++i) {
    RENAR_CHECK(p[i] > 0, "[matrix_chain_order] the dimension p[{}] is {}, expected more than 0", i,
                p[i]);
  }
  Trace trace(matrix_chain_order_spec(), n);
  trace.input({{"pos", positions(n)}, {"p", p}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  Matrix m(n, n), m_before(n, n);
  IntMatrix s(n, n);
  MaskMatrix known(n, n), known_before(n, n);
  for (int i = 1; i < n; ++i) known(i, i) = 1;
  do {
    trace.hint({{"pred_h", pred}, {"m", m}, {"s_h", s}, {"msk", known}});
    m_before = m;
    known_before = known;
    for (int i = 1; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        for (int k = i; k < j; ++k) {
          if (known_before(i, k) == 0 || known_before(k + 1, j) == 0) continue;
          const double q = m_before(i, k) + m_before(k + 1, j) + p[i - 1] * p[k] * p[j];
          if (known(i, j) == 0 || q < m(i, j)) {
            m(i, j) = q;
            s(i, j) = k;
            known(i, j) = 1;
          }
        }
      }
    }
    // The benchmark looks at m alone; where costs underflow to 0, that would end too early.
  } while (m.values() != m_before.values() || known.values() != known_before.values());

  trace.output({{"s", s}});
  return trace;
}

namespace {

Trace sample_matrix_chain_order(NumpyRandom& random, int length, const SamplerParams&) {
  return matrix_chain_order(random_sequence(random, length));
}

Trace run_matrix_chain_order(const UserInput& input) { return matrix_chain_order(input.list("p")); }

}  // namespace

Algorithm matrix_chain_order_algorithm() {
  return {.name = "matrix_chain_order",
          .category = Category::kDynamicProgramming,
          .spec = matrix_chain_order_spec,
          .sample = sample_matrix_chain_order,
          .inputs = {"p"},
          .run = run_matrix_chain_order,
          .pred_is_input = true};
}

}  // namespace renar

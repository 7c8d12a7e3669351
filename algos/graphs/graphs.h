// What the graph algorithms of CLRS, part VI, share. A graph is a matrix A (N,N): A(u, v) is the
// weight of the edge from u to v, and 0 means that there is no edge, whatever the textbook says of
// zero weights.
#pragma once

#include "algos/matrix.h"

namespace renar {

/// Throws renar::Error unless the matrix is square, not empty and finite.
void check_graph(const Matrix& a);

}  // namespace renar

// What the graph algorithms of CLRS, part VI, share. A graph is a matrix A (N,N): A(u, v) is the
// weight of the edge from u to v, and 0 means that there is no edge, whatever the textbook says of
// zero weights.
#pragma once

#include <string_view>
#include <vector>

#include "algos/matrix.h"

namespace renar {

/// A node's state in a depth-first search: not seen, on the stack, finished (CLRS, 3rd edition
/// 22.3, 4th edition 20.3).
enum Color { kWhite, kGray, kBlack };
constexpr int kColors = 3;

/// Throws renar::Error unless the matrix is square, not empty and finite.
void check_graph(const Matrix& a);

/// Throws renar::Error unless the source is one of the nodes.
void check_source(std::string_view algorithm, int source, int nodes);

/// Throws renar::Error unless A(u, v) = A(v, u) everywhere.
void check_undirected(std::string_view algorithm, const Matrix& a);

/// Takes the node of the smallest key out of the queue, the lowest of equal ones; -1 if the queue
/// is empty. The benchmark's stand-in for a heap: `in_queue` (N) is 1 for the nodes that wait.
int extract_min(const std::vector<double>& key, Mask& in_queue);

}  // namespace renar

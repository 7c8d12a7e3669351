// What the graph algorithms of CLRS, part VI, share. A graph is a matrix A (N,N): A(u, v) is the
// weight of the edge from u to v, and 0 means that there is no edge, whatever the textbook says of
// zero weights.
#pragma once

#include <cstddef>
#include <span>
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

/// The adjacency lists of CLRS: for each node, the ends of the edges that leave it, in increasing
/// order. Quicker to walk than a matrix row where the row is mostly 0.
class AdjacencyLists {
 public:
  explicit AdjacencyLists(const Matrix& a);

  std::span<const int> of(int u) const {
    return {ends_.data() + starts_[u], static_cast<std::size_t>(starts_[u + 1] - starts_[u])};
  }

 private:
  std::vector<int> starts_;  // (N+1) of each node's list in ends_
  std::vector<int> ends_;
};

/// A min-priority queue of nodes, the benchmark's stand-in for a heap: EXTRACT-MIN looks at all.
class MinQueue {
 public:
  explicit MinQueue(int nodes);

  /// INSERT, or DECREASE-KEY of a node that waits already.
  void put(int v, double key) { waits_[v] = 1, keys_[v] = key; }

  /// Takes out the node of the smallest key, the lowest of equal ones; -1 if the queue is empty.
  int extract_min();

  bool holds(int v) const { return waits_[v] != 0; }

  /// 1 for the nodes that wait.
  const Mask& nodes() const { return waits_; }

 private:
  Mask waits_;
  std::vector<double> keys_;  // infinite for those that do not wait
};

}  // namespace renar

// Random inputs, drawn from numpy's generator in the order of the benchmark's samplers, so that a
// seed gives the benchmark's own graphs.
#pragma once

#include <vector>

#include "algos/matrix.h"
#include "core/numpy_random.h"

namespace renar {

/// What a sampler may be told. Every sample draws one of the list for itself.
struct SamplerParams {
  std::vector<double> p = {0.5};  // edge probabilities
  int length_needle = 0;  // of the string matchers: 0 a fifth of all letters, -k drawn from 1..k
};

/// The edge probabilities of training, 0.1, 0.2, .., 0.9, rounded as the reference computes them.
SamplerParams sparse_to_dense();

/// The same for algorithms whose answer a dense graph makes trivial (bridges, for one): each edge
/// probability halved, 0.05, 0.1, .., 0.45.
SamplerParams sparse_to_half();

/// `count` numbers from U[low, high). Throws renar::Error for count < 1.
std::vector<double> random_sequence(NumpyRandom& random, int count, double low = 0,
                                    double high = 1);

/// `count` letters of 0 .. letters - 1. Throws renar::Error for count < 1 or letters < 1.
std::vector<int> random_string(NumpyRandom& random, int count, int letters);

/// One of params.p, drawn. Throws renar::Error if the list is empty or leaves [0, 1].
double choose_edge_probability(NumpyRandom& random, const SamplerParams& params);

enum class Edges { kUndirected, kDirected, kAcyclic };

/// An Erdos-Renyi graph as a 0/1 matrix, self-loops included (none in an acyclic one). Each of the
/// N^2 cells is drawn with probability p. An undirected edge stays only if both its cells were
/// drawn, so with probability p^2, but a self-loop with p: the benchmark's way. An acyclic graph
/// keeps the cells above the diagonal and renames the nodes at random. Throws for n < 1.
Matrix random_er_graph(NumpyRandom& random, int nodes, double p, Edges edges);

/// The same with weights from U[0, 1) on the edges; in an undirected graph the weight is
/// sqrt(w_ij w_ji + 0.001), which may exceed 1.
Matrix random_weighted_er_graph(NumpyRandom& random, int nodes, double p, Edges edges);

/// A directed 0/1 graph of `communities` equal blocks of nodes (the last takes what is left), each
/// an Erdos-Renyi graph of probability p. Then each cell is toggled with probability `toggle`,
/// but for those that lead from a block to an earlier one, so that no cycle joins two blocks; and
/// the nodes are renamed at random. Throws unless there are that many nodes.
Matrix random_community_graph(NumpyRandom& random, int nodes, int communities, double p,
                              double toggle);

/// The edges of a bipartite graph as a 0/1 matrix (left, right), each drawn with probability p.
/// Throws unless there is a left node; there may be no right one.
Matrix random_bipartite_graph(NumpyRandom& random, int left, int right, double p);

/// Two strings over the letters 0 .. 3.
struct Strings {
  std::vector<int> haystack, needle;
};

/// A needle hidden in a haystack, `length` letters in all; params.length_needle says how many are
/// the needle's. Both are drawn, then the needle is written over the haystack at a random place,
/// never at the last that would do: the benchmark's way. It may stand earlier by chance. Throws
/// renar::Error, before anything is drawn, unless the haystack is longer than the longest needle.
Strings random_needle_in_haystack(NumpyRandom& random, int length, const SamplerParams& params);

/// Points of the plane: point i is (x[i], y[i]).
struct Points {
  std::vector<double> x, y;

  int size() const { return static_cast<int>(x.size()); }
};

/// `count` points, uniform in the disk of radius 2 around the origin: first all angles are drawn,
/// then all distances. While any three lie almost on one line (the parallelogram that they span is
/// below 1e-12), all are drawn again. Throws renar::Error if count < 1 or 1000 draws were in vain.
Points random_points_in_disk(NumpyRandom& random, int count);

}  // namespace renar

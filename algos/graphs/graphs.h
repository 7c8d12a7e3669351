// The graph algorithms of CLRS, part VI. A graph is a matrix A (N,N): A(u, v) is the weight of the
// edge from u to v, and 0 means that there is no edge, whatever the textbook says of zero weights.
//
// <name>_spec lists the probes, <name> runs the algorithm on the user's own input and records them,
// sample_<name> does so on a random graph of the benchmark's sampler. All throw renar::Error on an
// input that is no graph.
#pragma once

#include "algos/matrix.h"
#include "algos/samplers.h"
#include "algos/spec.h"
#include "algos/trace.h"
#include "core/numpy_random.h"

namespace renar {

const Spec& dfs_spec();
Trace dfs(const Matrix& a);
Trace sample_dfs(NumpyRandom& random, int length, const SamplerParams& params);

const Spec& bfs_spec();
Trace bfs(const Matrix& a, int source);
Trace sample_bfs(NumpyRandom& random, int length, const SamplerParams& params);

/// Throws renar::Error unless the matrix is square, not empty and finite.
void check_graph(const Matrix& a);

}  // namespace renar

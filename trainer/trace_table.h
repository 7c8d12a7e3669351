// A run of an algorithm as a text to read: its inputs, then frame after frame what changed, then
// its outputs. A frame of dfs on three nodes:
//
//   frame 2     s 0  u 0  v 1*  s_last 1*  time 0.01
//                   0      1      2
//     pi_h          0      0*     2
//     color      gray   gray* white
//     s_prev        0      0*     2
//
// What has one value (a node, a class, a number) stands behind the frame's number; columns are
// nodes; a row is a probe, or one row of a probe of edges, A[u]; a mask is the set of its nodes.
// Frame 0 shows all hints. Later frames leave out the rows and sets that did not change; a star
// marks each value that did, + and - the nodes that came to a set or left it. Where the nodes do
// not fit the width, rows are cut into pieces, and a piece without a change is left out.
#pragma once

#include <string>

#include "algos/trace.h"

namespace renar {

constexpr int kTerminalWidth = 100;

/// The text, with a legend first. Lines have at most `width` characters unless a single column
/// needs more. Throws renar::Error if the trace is not complete.
std::string trace_table(const Trace& trace, int width = kTerminalWidth);

}  // namespace renar

// The pieces of a memory network. V words, E numbers an embedding, M memories.
//
// word_sum:    y[r,e] = sum over c of table[word(x[r,c])][e] position(c,e)                   (..,E)
// memory_read: y[b,q] = sum over m of p[b,q,m] told[b,q,m]                                (B,Q,E)
//              p = softmax over m of (heard[b,q,m] + contents[m]) . query[b,q]
//
// word(x) is x cut towards zero, counted from the end where it is negative, so that nothing passes
// back to x. The last of the V = H words, nil, is all zeros and has no row in the table. A number
// that names no word (it is not in (-V - 1, V)) names nil here; the reference makes NaN of it.
// position(c,e) = 1 + 4 (e + 1 - E/2) (c + 1 - H/2) / (E H). Memories beyond the Q's own are empty:
// heard and told are 0 there, but contents are read.
// Source: Sukhbaatar et al. 2015 (End-to-end memory networks); dm-clrs, MemNetMasked.
#pragma once

#include "core/tape.h"

namespace renar {

/// x (..,H), table (H - 1, E). No gradient reaches x.
Tensor word_sum(Tape& tape, Tensor x, Tensor table);

/// query (B,Q,E), heard and told (B,Q,S,E), contents (M,E), S <= M.
Tensor memory_read(Tape& tape, Tensor query, Tensor heard, Tensor told, Tensor contents);

}  // namespace renar

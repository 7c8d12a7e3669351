// A memory network, as odd as the field's reference has it. docs/model.md 3.
//
// Each node, and the graph as one node more, asks its row of edges. Features are cut to integers
// that name words (kernels/memory.h); masked: where there is no edge all features are 0.
//   q      = word_sum(fts)                              a node's question, E = 16 numbers
//   o      = memory_read(q, heard, told, contents)      both word_sums of its row of edge_fts
//   ret    = answer(relu(hop(q + o)))                   both without bias
//   ret[i] = ret[i] + ret[graph]                        no LayerNorm, and hidden is not read
//
// The embeddings start at zero, as they do there. Then every hop(q + o) is 0, where relu passes
// nothing, so that no parameter of the processor ever moves: trained from scratch, it adds nothing
// to what the encoders and decoders learn without it.
// Source: Sukhbaatar et al. 2015; dm-clrs, MemNetMasked and MemNetFull.
#pragma once

#include "nn/processor.h"

namespace renar {

struct MemnetOptions {
  bool masked = false;
};

std::unique_ptr<Processor> make_memnet(const Builder& builder, const ProcessorOptions& options,
                                       const MemnetOptions& memnet);

}  // namespace renar

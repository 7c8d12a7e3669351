#include "nn/processors/memnet.h"

#include "core/check.h"
#include "kernels/graph_node.h"
#include "kernels/memory.h"

namespace renar {
namespace {

constexpr std::int64_t kEmbedding = 16;
constexpr std::int64_t kMemories = 128;  // a node's row of edges and the graph's cell must fit

class Memnet final : public Processor {
 public:
  Memnet(const Builder& builder, const ProcessorOptions& options, const MemnetOptions& memnet)
      : memnet_(memnet) {
    const std::int64_t h = options.hidden;
    const auto embedding = [&](const char* name, std::int64_t rows) {
      return builder.parameters.add(builder.prefix + "processor/" + name, {rows, kEmbedding});
    };
    query_biases_ = embedding("query_biases", h - 1);
    stories_biases_ = embedding("stories_biases", h - 1);
    memory_contents_ = embedding("memory_contents", kMemories);
    output_biases_ = embedding("output_biases", h - 1);
    hop_ = make_weight(builder, "processor/hop", kEmbedding, h);
    answer_ = make_weight(builder, "processor/answer", h, h);
  }

  bool reads_adjacency() const override { return memnet_.masked; }
  bool masks_non_edges() const override { return false; }
  bool makes_edges() const override { return false; }
  void check_nodes(std::int64_t nodes) const override {
    RENAR_CHECK(nodes + 1 <= kMemories,
                "[processor] memnet keeps {} memories: graphs of at most {} nodes, not of {}",
                kMemories, kMemories - 1, nodes);
  }

  ProcessorOutputs step(Tape& tape, Composer& composer, const ProcessorInputs& in) const override {
    const Tensor rows = stories(tape, composer, in);  // (B,N+1,N+1,H)
    const Tensor q = word_sum(tape, queries(tape, composer, in), tape.use(query_biases_));
    const Tensor heard = word_sum(tape, rows, tape.use(stories_biases_));  // (B,N+1,N+1,E)
    const Tensor told = word_sum(tape, rows, tape.use(output_biases_));
    const Tensor o = memory_read(tape, q, heard, told, tape.use(memory_contents_));  // (B,N+1,E)
    const Tensor hop = tape.use(hop_);
    const Tensor middle = linear(tape, {{q, hop}, {o, hop}}, {}, Activation::kRelu);  // (B,N+1,H)
    return {add_last(tape, linear(tape, {{middle, tape.use(answer_)}}, {})), {}};
  }

 private:
  // No gradient passes the cut to integers, so none is asked for.
  static Tensor numbers(Composer& composer, Features features) {
    features.raw.grad = features.encoders.grad = nullptr;
    return composer.dense(features);
  }

  // node_fts, and graph_fts below them.   (B,N+1,H)
  static Tensor queries(Tape& tape, Composer& composer, const ProcessorInputs& in) {
    const Tensor node = numbers(composer, in.node), graph = numbers(composer, in.graph);
    return append_graph(tape, node, graph);
  }

  // edge_fts where there is an edge, and zeros in the graph's row and column.   (B,N+1,N+1,H)
  Tensor stories(Tape& tape, Composer& composer, const ProcessorInputs& in) const {
    const Tensor edge = numbers(composer, in.edge);
    check_nodes(edge.dim(1));
    return append_graph_edges(tape, edge, memnet_.masked ? in.adj : Tensor{});
  }

  MemnetOptions memnet_;
  Param query_biases_, stories_biases_, memory_contents_, output_biases_;  // embeddings
  Param hop_, answer_;
};

}  // namespace

std::unique_ptr<Processor> make_memnet(const Builder& builder, const ProcessorOptions& options,
                                       const MemnetOptions& memnet) {
  return std::make_unique<Memnet>(builder, options, memnet);
}

}  // namespace renar

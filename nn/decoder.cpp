#include "nn/decoder.h"

#include "kernels/adjacency.h"
#include "kernels/log_sinkhorn.h"
#include "kernels/node_add.h"
#include "kernels/node_max.h"
#include "kernels/pointer_head.h"

namespace renar {
namespace {

/// Columns of a decoder's output.
std::int64_t outputs_of(const Probe& probe) {
  return probe.type == Type::kCategorical ? probe.classes : 1;
}

Shape with_classes(Shape shape, const Probe& probe) {
  if (probe.type == Type::kCategorical) {
    shape.extent[static_cast<std::size_t>(shape.rank++)] = probe.classes;
  }
  return shape;
}

}  // namespace

DecoderInputs DecoderInputs::slice(std::int64_t begin, std::int64_t end) const {
  const auto part = [&](const Tensor& x) { return x ? x.slice(begin, end) : x; };
  return {encoded.slice(begin, end), part(hidden), part(next_hidden), part(next_edge),
          masks_non_edges};
}

std::array<Tensor*, 7> DecoderInputs::tensors() {
  return {&encoded.node.raw, &encoded.edge.raw, &encoded.graph.raw, &encoded.adj,
          &hidden,           &next_hidden,      &next_edge};
}

Decoder::Decoder(const Builder& builder, const std::string& name, const Probe& probe,
                 std::int64_t hidden, const DecoderReads& reads)
    : probe_(probe), hidden_(hidden) {
  const std::int64_t h_t = reads.node * hidden, e_t = reads.edge * hidden;
  std::size_t made = 0;
  const auto add = [&](std::int64_t in, std::int64_t out) {
    layers_.at(made) =
        make_linear(builder, name + "/" + probe.name + "/" + std::to_string(made), in, out);
    ++made;
  };
  const std::int64_t out = outputs_of(probe);
  switch (probe.location) {
    case Location::kNode:
      if (is_pointer(probe)) {
        add(h_t, hidden);
        add(h_t, hidden);
        add(e_t, hidden);
        add(hidden, 1);
      } else {
        add(h_t, out);
      }
      return;
    case Location::kEdge: {
      const std::int64_t each = is_index(probe) ? hidden : out;
      add(h_t, each);
      add(h_t, each);
      add(e_t, each);
      if (!is_index(probe)) return;
      add(h_t, hidden);
      add(hidden, 1);
      return;
    }
    case Location::kGraph:
      add(h_t, out);
      add(hidden, out);
      if (is_index(probe)) add(h_t, out);
      return;
  }
}

Tensor Decoder::decode(Tape& tape, Composer& composer, const DecoderInputs& in,
                       Tensor noise) const {
  switch (probe_.location) {
    case Location::kNode:
      if (probe_.type == Type::kPermutationPointer) {
        return log_sinkhorn(tape, decode_pointer(tape, composer, in), kDecoderRounds, noise);
      }
      return is_index(probe_) ? decode_pointer(tape, composer, in)
                              : decode_node(tape, composer, in);
    case Location::kEdge:
      return is_index(probe_) ? decode_edge_pointer(tape, composer, in)
                              : decode_edge(tape, composer, in);
    case Location::kGraph: return decode_graph(tape, composer, in);
  }
  return {};
}

bool Decoder::reads_edges() const {
  return probe_.location == Location::kEdge ||
         (probe_.location == Location::kNode && is_pointer(probe_));
}

// The parts that are there meet the next H rows of a weight each.
void Decoder::add_parts(Terms& terms, std::initializer_list<Tensor> parts, Tensor w) const {
  std::int64_t row = hidden_;
  for (const Tensor& part : parts) {
    if (!part) continue;
    terms.add({part, w.slice(row, row + hidden_)});
    row += hidden_;
  }
}

// h_t W: one term for each of its parts.
Terms Decoder::from_nodes(Tape& tape, Composer& composer, const DecoderInputs& in,
                          int layer) const {
  const Tensor w = tape.use(layer_(layer).w);  // (3H,O)
  Terms terms{composer.term(in.encoded.node, w.first(hidden_))};
  add_parts(terms, {in.hidden, in.next_hidden}, w);
  return terms;
}

Terms Decoder::from_edges(Tape& tape, Composer& composer, const DecoderInputs& in,
                          int layer) const {
  const Tensor w = tape.use(layer_(layer).w);  // (2H,O) or (H,O)
  Terms terms{composer.term(in.encoded.edge, w.first(hidden_))};
  add_parts(terms, {in.next_edge}, w);
  return terms;
}

Tensor Decoder::decode_node(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor y = linear(tape, from_nodes(tape, composer, in, 0), {bias(tape, 0)});
  return y.reshaped(with_classes({y.dim(0), y.dim(1)}, probe_));
}

Tensor Decoder::decode_pointer(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor p_1 = linear(tape, from_nodes(tape, composer, in, 0), {bias(tape, 0)});  // (B,N,H)
  const Tensor p_2 = linear(tape, from_nodes(tape, composer, in, 1), {bias(tape, 1)});  // (B,N,H)
  const Tensor target =
      edge_linear(tape, p_2, {}, from_edges(tape, composer, in, 2), {bias(tape, 2)});  // (B,N,N,H)
  const Tensor w = tape.use(layer_(3).w), b = bias(tape, 3);
  const Shape shape{p_1.dim(0), p_1.dim(1), p_1.dim(1)};
  const Tensor logits =
      composer.exact().fused_ops
          ? pointer_head(tape, p_1, target, w, b)
          : linear(tape, {{pointer_maximum(tape, p_1, target), w}}, {b}).reshaped(shape);
  return in.masks_non_edges ? mask_non_edges(tape, logits, in.encoded.adj) : logits;
}

// d1(h_t)[i] + d2(h_t)[j] + d3(e_t)[i,j]   (B,N,N,O)
Tensor Decoder::edges(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor d_1 = linear(tape, from_nodes(tape, composer, in, 0), {bias(tape, 0)});  // (B,N,O)
  const Tensor d_2 = linear(tape, from_nodes(tape, composer, in, 1), {bias(tape, 1)});
  return edge_linear(tape, d_1, d_2, from_edges(tape, composer, in, 2), {bias(tape, 2)});
}

Tensor Decoder::decode_edge(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor y = edges(tape, composer, in);  // (B,N,N,C)
  const Tensor logits = y.reshaped(with_classes({y.dim(0), y.dim(1), y.dim(2)}, probe_));
  const bool masked =
      in.masks_non_edges && (probe_.type == Type::kMask || probe_.type == Type::kMaskOne);
  return masked ? mask_non_edges(tape, logits, in.encoded.adj) : logits;
}

Tensor Decoder::decode_edge_pointer(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor point = edges(tape, composer, in);  // (B,N,N,H)
  const Tensor target =
      linear(tape, from_nodes(tape, composer, in, 3), {bias(tape, 3)});  // (B,N,H)
  const Tensor w = tape.use(layer_(4).w), b = bias(tape, 4);
  if (composer.exact().fused_ops) return edge_pointer_head(tape, point, target, w, b);
  const std::int64_t n = point.dim(1);
  return linear(tape, {{edge_pointer_maximum(tape, point, target), w}}, {b})
      .reshaped({point.dim(0), n, n, n});
}

Tensor Decoder::decode_graph(Tape& tape, Composer& composer, const DecoderInputs& in) const {
  const Tensor w = tape.use(layer_(0).w);  // (3H,C)
  const auto largest = [&](const Tensor& x) { return x ? node_max(tape, x) : x; };
  Terms terms{{largest(composer.dense(in.encoded.node)), w.first(hidden_)}};
  add_parts(terms, {largest(in.hidden), largest(in.next_hidden)}, w);
  terms.add(composer.term(in.encoded.graph, tape.use(layer_(1).w)));
  const Tensor y = linear(tape, terms, {bias(tape, 0), bias(tape, 1)});
  if (is_index(probe_)) {
    const Tensor d_3 = linear(tape, from_nodes(tape, composer, in, 2), {bias(tape, 2)});  // (B,N,1)
    return node_add(tape, d_3, y).reshaped({y.dim(0), d_3.dim(1)});
  }
  return y.reshaped(with_classes({y.dim(0)}, probe_));
}

}  // namespace renar

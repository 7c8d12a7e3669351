#include "nn/encoder.h"

#include <cmath>

#include "core/check.h"
#include "core/profile.h"
#include "kernels/adjacency.h"
#include "kernels/columns.h"
#include "kernels/edge_pointer_means.h"

namespace renar {
namespace {

bool is_read(const Probe& probe, HintMode hints) {
  switch (probe.stage) {
    case Stage::kInput: return true;
    case Stage::kHint: return reads_hints(hints);
    case Stage::kOutput: return false;
  }
  return false;
}

/// Whose features a probe's encoding is added to: a pointer relates its location to nodes.
Location target_of(const Probe& probe) {
  if (!is_pointer(probe)) return probe.location;
  switch (probe.location) {
    case Location::kNode:
    case Location::kEdge: return Location::kEdge;
    case Location::kGraph: return Location::kNode;
  }
  return probe.location;
}

/// How many numbers of a probe stand at each place of its target.
std::int64_t width_of(const Probe& probe) {
  if (is_edge_pointer(probe)) return 2;
  return probe.type == Type::kCategorical ? probe.classes : 1;
}

Sources raw_of(const Spec& spec, const std::vector<std::size_t>& read, const ProbeTensors& probes,
               std::int64_t batch, Location location) {
  Sources sources;
  for (const std::size_t p : read) {
    if (target_of(spec[p]) != location) continue;
    const Tensor x = probes[p].first(batch);
    sources.add(x.reshaped({x.size() / width_of(spec[p]), width_of(spec[p])}));
  }
  return sources;
}

}  // namespace

EncodedStep EncodedStep::slice(std::int64_t begin, std::int64_t end) const {
  return {node.slice(begin, end), edge.slice(begin, end), graph.slice(begin, end),
          graph_on_nodes.slice(begin, end), adj ? adj.slice(begin, end) : adj};
}

Encoder::Encoder(const Builder& builder, const std::string& name, const Spec& spec,
                 std::int64_t hidden, EncoderInit init, HintMode hints)
    : spec_(spec), hidden_(hidden) {
  RENAR_CHECK(spec.size() <= kMaxProbes, "[encoder] {} has {} probes, at most {} are supported",
              name, spec.size(), kMaxProbes);
  for (std::size_t p = 0; p < spec.size(); ++p) {
    if (is_read(spec[p], hints)) read_.push_back(p);
  }
  for (const Location location : {Location::kNode, Location::kEdge, Location::kGraph}) {
    int weights = 0;
    for (const std::size_t p : read_) {
      if (target_of(spec[p]) == location) weights += is_edge_pointer(spec[p]) ? 2 : 1;
    }
    RENAR_CHECK(weights <= kMaxSources, "[encoder] {} has {} encoders of a {}, at most {} fit",
                name, weights, name_of(location), kMaxSources);
  }
  for (const std::size_t p : read_) {
    const Probe& probe = spec[p];
    const bool xavier = init == EncoderInit::kXavierOnScalars && probe.stage == Stage::kHint &&
                        probe.type == Type::kScalar;
    const std::string layer = name + "/encode/" + probe.name;
    if (is_edge_pointer(probe)) {
      layers_[p] = make_linear(builder, layer + "/0", 1, hidden);
      second_[p] = make_linear(builder, layer + "/1", 1, hidden);
    } else {
      const LinearInit start{.stddev = xavier ? 1 / std::sqrt(static_cast<double>(hidden)) : 0.0};
      layers_[p] = make_linear(builder, layer, width_of(probe), hidden, start);
    }
  }
}

Encoder::Stacked Encoder::stack_encoders(Tape& tape) const {
  const ProfileRange range("stack encoders");
  const auto of = [&](Location location) {
    Sources weights, biases;
    for (const std::size_t p : read_) {
      if (target_of(spec_[p]) != location) continue;
      weights.add(tape.use(layers_[p].w));
      biases.add(tape.use(layers_[p].b));
      if (!is_edge_pointer(spec_[p])) continue;
      weights.add(tape.use(second_[p].w));
      biases.add(tape.use(second_[p].b));
    }
    return stack(tape, hidden_, weights, biases);
  };
  return {of(Location::kNode), of(Location::kEdge), of(Location::kGraph)};
}

EncodedStep Encoder::encode(Tape& tape, const Stacked& stacked, const ProbeTensors& probes,
                            std::int64_t batch, std::int64_t nodes, bool want_adjacency) const {
  const ProfileRange range("encode");
  const auto raw = [&](Location location, Shape shape) {
    const Tensor s = columns(tape, shape.size(), raw_of(spec_, read_, probes, batch, location));
    shape.extent[static_cast<std::size_t>(shape.rank++)] = s.cols();
    return s.reshaped(shape);
  };
  EncodedStep step{{raw(Location::kNode, {batch, nodes}), stacked.node},
                   {raw(Location::kEdge, {batch, nodes, nodes}), stacked.edge},
                   {raw(Location::kGraph, {batch}), stacked.graph},
                   {raw(Location::kGraph, {batch, nodes}), stacked.graph},
                   {}};
  if (!want_adjacency) return step;
  step.adj = identity_adjacency(tape, batch, nodes);
  for (const std::size_t p : read_) {
    const bool pointer = spec_[p].location == Location::kNode && is_pointer(spec_[p]);
    const bool edges = spec_[p].location == Location::kEdge && spec_[p].type == Type::kMask;
    if (pointer) add_edges(tape.device(), step.adj, probes[p].first(batch), kPointerEdge);
    if (edges) add_edges(tape.device(), step.adj, probes[p].first(batch), kMaskEdge);
  }
  return step;
}

std::int64_t read_size(const Probe& probe, std::int64_t nodes) {
  if (is_edge_pointer(probe)) return 2 * nodes * nodes;
  const auto count = static_cast<std::int64_t>(count_of(probe, static_cast<int>(nodes)));
  return is_index(probe) ? count * nodes : count;
}

Tensor read_form(Tape& tape, const Probe& probe, Tensor prediction) {
  return is_edge_pointer(probe) ? edge_pointer_means(tape, prediction) : prediction;
}

}  // namespace renar

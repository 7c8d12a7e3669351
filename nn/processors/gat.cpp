#include "nn/processors/gat.h"

#include "core/check.h"
#include "kernels/attention.h"
#include "kernels/head_dot.h"
#include "kernels/layer_norm.h"
#include "kernels/pointwise.h"
#include "nn/processors/step_context.h"

namespace renar {
namespace {

class Gat final : public Processor {
 public:
  Gat(const Builder& builder, const ProcessorOptions& options, const GatOptions& gat)
      : layer_norm_(options.layer_norm), gat_(gat) {
    const std::int64_t h = options.hidden, heads = options.heads, out = gat.v2 ? h : heads;
    RENAR_USAGE(heads >= 1 && h % heads == 0,
                "[processor] {} heads do not divide the {} hidden numbers of {}", heads, h,
                options.kind);
    const auto make = [&](const std::string& name, std::int64_t from, std::int64_t to) {
      return make_linear(builder, "processor/" + name, from, to);
    };
    const std::string a = gat.v2 ? "w_" : "a_";
    values_ = make("values", 2 * h, h);
    skip_ = make("skip", 2 * h, h);
    a_1_ = make(a + "1", 2 * h, out);
    a_2_ = make(a + "2", 2 * h, out);
    a_e_ = make(a + "e", h, out);
    a_g_ = make(a + "g", h, out);
    for (std::int64_t k = 0; gat.v2 && k < heads; ++k) {
      heads_.push_back(make("head_" + std::to_string(k), h / heads, 1));
    }
    if (layer_norm_) norm_ = make_layer_norm(builder, "processor/layer_norm", h);
  }

  bool reads_adjacency() const override { return !gat_.full; }
  bool masks_non_edges() const override { return false; }
  bool makes_edges() const override { return false; }

  ProcessorOutputs step(Tape& tape, Composer& composer, const ProcessorInputs& in) const override {
    const StepContext c{tape, composer, in};
    const Tensor values = linear(tape, z(c, values_), {tape.use(values_.b)});  // (B,N,H)
    const Tensor skip = linear(tape, z(c, skip_), {tape.use(skip_.b)});        // (B,N,H)
    const Tensor weights =
        attention_weights(tape, logits(c), gat_.full ? Tensor{} : in.adj);  // (B,N,N,K)
    Tensor ret = relu(tape, attend(tape, weights, values, skip));           // (B,N,H)
    if (layer_norm_) ret = layer_norm(tape, ret, tape.use(norm_.scale), tape.use(norm_.offset));
    return {ret, {}};
  }

 private:
  // In GAT the listener's layer is the first, in GATv2 the second.
  Tensor logits(const StepContext& c) const {
    Tape& tape = c.tape;
    const Linear &mine = gat_.v2 ? a_2_ : a_1_, &others = gat_.v2 ? a_1_ : a_2_;
    const Tensor listens = linear(tape, z(c, mine), {tape.use(mine.b)});
    const Tensor speaks =
        linear(tape, plus(z(c, others), graph(c, a_g_)), {tape.use(others.b), tape.use(a_g_.b)});
    const Tensor sum =
        leaky_relu(tape, edge_linear(tape, listens, speaks, {edge(c, a_e_)}, {tape.use(a_e_.b)}));
    if (!gat_.v2) return sum;  // (B,N,N,K)
    Head* heads = tape.host_array<Head>(static_cast<std::int64_t>(heads_.size()));
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      heads[k] = {tape.use(heads_[k].w), tape.use(heads_[k].b)};
    }
    return head_dot(tape, sum, {heads, heads_.size()});  // (B,N,N,K) of (B,N,N,H)
  }

  bool layer_norm_;
  GatOptions gat_;
  Linear values_, skip_, a_1_, a_2_, a_e_, a_g_;
  std::vector<Linear> heads_;  // of GATv2
  LayerNorm norm_{};
};

}  // namespace

std::unique_ptr<Processor> make_gat(const Builder& builder, const ProcessorOptions& options,
                                    const GatOptions& gat) {
  return std::make_unique<Gat>(builder, options, gat);
}

}  // namespace renar

#include "nn/processors/pgn.h"

#include "core/profile.h"
#include "kernels/adjacency.h"
#include "kernels/gated_update.h"
#include "kernels/layer_norm.h"
#include "kernels/linear_max.h"
#include "kernels/pointwise.h"
#include "kernels/sender_max.h"
#include "kernels/triplet_max.h"
#include "nn/gate.h"
#include "nn/processors/step_context.h"

namespace renar {
namespace {

struct Triplets {
  Linear t_1, t_2, t_3, t_e_1, t_e_2, t_e_3, t_g, o_3;
};

class Pgn final : public Processor {
 public:
  Pgn(const Builder& builder, const ProcessorOptions& options, const PgnOptions& pgn)
      : layer_norm_(options.layer_norm), pgn_(pgn) {
    const std::int64_t h = options.hidden, f = options.triplet_fts;
    const auto make = [&](const char* name, std::int64_t in, std::int64_t out) {
      return make_linear(builder, std::string("processor/") + name, in, out);
    };
    m_1_ = make("m_1", 2 * h, h);
    m_2_ = make("m_2", 2 * h, h);
    m_e_ = make("m_e", h, h);
    m_g_ = make("m_g", h, h);
    o_1_ = make("o_1", 2 * h, h);
    o_2_ = make("o_2", h, h);
    if (pgn.triplets) {
      triplets_ = {make("t_1", 2 * h, f), make("t_2", 2 * h, f), make("t_3", 2 * h, f),
                   make("t_e_1", h, f),   make("t_e_2", h, f),   make("t_e_3", h, f),
                   make("t_g", h, f),     make("o_3", f, h)};
    }
    if (pgn.gated) gate_ = make_gate(builder, "processor", 2 * h, h);
    mlp_0_ = make("mlp_0", h, h);
    mlp_1_ = make("mlp_1", h, h);
    if (layer_norm_) norm_ = make_layer_norm(builder, "processor/layer_norm", h);
  }

  bool reads_adjacency() const override { return pgn_.heard == Heard::kEdges || pgn_.mask; }
  bool masks_non_edges() const override { return pgn_.mask; }
  bool makes_edges() const override { return pgn_.triplets; }

  ProcessorOutputs step(Tape& tape, Composer& composer, const ProcessorInputs& in) const override {
    const StepContext c{tape, composer, in};
    const Tensor msgs = messages(c);  // (B,N,H)
    Tensor ret = update(c, msgs);     // (B,N,H)
    if (pgn_.gated) ret = gated(c, msgs, ret);
    return {ret, pgn_.triplets ? edges(c) : Tensor{}};
  }

 private:
  // max over i of MLP(relu(msg[i,j]))
  Tensor messages(const StepContext& c) const {
    const ProfileRange range("messages");
    Tape& tape = c.tape;
    const Tensor send = linear(tape, z(c, m_2_), {tape.use(m_2_.b)});  // (B,N,H)
    const Tensor recv =
        linear(tape, plus(z(c, m_1_), graph(c, m_g_)), {tape.use(m_1_.b), tape.use(m_g_.b)});
    const Tensor msg = edge_linear(tape, send, recv, {edge(c, m_e_)}, {tape.use(m_e_.b)},
                                   Activation::kRelu);  // (B,N,N,H)
    const Tensor middle =
        linear(tape, {{msg, tape.use(mlp_0_.w)}}, {tape.use(mlp_0_.b)}, Activation::kRelu);
    const Tensor w = tape.use(mlp_1_.w), b = tape.use(mlp_1_.b), adj = heard(c);
    if (c.composer.exact().fused_ops) return linear_max(tape, middle, w, b, adj);
    return sender_max(tape, linear(tape, {{middle, w}}, {b}), adj);
  }

  // relu(o1(z) + o2(msgs)), normalised
  Tensor update(const StepContext& c, Tensor msgs) const {
    const ProfileRange range("update");
    Tape& tape = c.tape;
    const Tensor ret = linear(tape, plus(z(c, o_1_), {msgs, tape.use(o_2_.w)}),
                              {tape.use(o_1_.b), tape.use(o_2_.b)}, Activation::kRelu);
    if (!layer_norm_) return ret;
    return layer_norm(tape, ret, tape.use(norm_.scale), tape.use(norm_.offset));
  }

  Tensor heard(const StepContext& c) const {
    switch (pgn_.heard) {
      case Heard::kAll: return {};
      case Heard::kEdges: return c.in.adj;
      case Heard::kSelf: return identity_adjacency(c.tape, c.in.hidden.dim(0), c.in.hidden.dim(1));
    }
    return {};
  }

  // relu(o3(max over i of triplets)); what does not depend on i stays outside of the maximum.
  Tensor edges(const StepContext& c) const {
    const ProfileRange range("triplets");
    Tape& tape = c.tape;
    const Triplets& t = triplets_;
    const Tensor t_1 = linear(tape, z(c, t.t_1), {tape.use(t.t_1.b)});  // (B,N,F)
    const Tensor t_2 =
        linear(tape, plus(z(c, t.t_2), graph(c, t.t_g)), {tape.use(t.t_2.b), tape.use(t.t_g.b)});
    const Tensor t_3 = linear(tape, z(c, t.t_3), {tape.use(t.t_3.b)});
    const Tensor left = edge_linear(tape, t_1, {}, {edge(c, t.t_e_1)}, {tape.use(t.t_e_1.b)});
    const Tensor right = linear(tape, {edge(c, t.t_e_2)}, {tape.use(t.t_e_2.b)});  // (B,N,N,F)
    const Tensor rest = edge_linear(tape, t_2, t_3, {edge(c, t.t_e_3)}, {tape.use(t.t_e_3.b)});
    return linear(tape, {{maximum(c, left, right, rest), tape.use(t.o_3.w)}}, {tape.use(t.o_3.b)},
                  Activation::kRelu);  // (B,N,N,H)
  }

  Tensor maximum(const StepContext& c, Tensor left, Tensor right, Tensor rest) const {
    if (c.composer.exact().fused_ops) return triplet_max(c.tape, left, right, rest);
    const std::int64_t b = left.dim(0), n = left.dim(1), f = left.dim(3);
    const Tensor all = triplet_sum(c.tape, left, right, rest);  // (B,N,N,N,F)
    return sender_max(c.tape, all.reshaped({b, n, n * n, f}), {}).reshaped(left.shape);
  }

  Tensor gated(const StepContext& c, Tensor msgs, Tensor ret) const {
    const ProfileRange range("gate");
    const Tensor logit = gate_logit(c.tape, z(c, gate_.gate_1), msgs, gate_);
    return gated_update(c.tape, logit, ret, c.in.hidden);
  }

  bool layer_norm_;
  PgnOptions pgn_;
  Linear m_1_, m_2_, m_e_, m_g_, o_1_, o_2_, mlp_0_, mlp_1_;
  Triplets triplets_{};
  Gate gate_{};
  LayerNorm norm_{};
};

}  // namespace

std::unique_ptr<Processor> make_pgn(const Builder& builder, const ProcessorOptions& options,
                                    const PgnOptions& pgn) {
  return std::make_unique<Pgn>(builder, options, pgn);
}

}  // namespace renar

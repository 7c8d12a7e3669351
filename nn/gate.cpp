#include "nn/gate.h"

namespace renar {
namespace {

constexpr Real kClosedGate = -3;  // bias of gate_3: sigmoid(-3) = 0.047, the old is kept at first

}  // namespace

Gate make_gate(const Builder& builder, const std::string& name, std::int64_t in,
               std::int64_t hidden) {
  return {make_linear(builder, name + "/gate_1", in, hidden),
          make_linear(builder, name + "/gate_2", hidden, hidden),
          make_linear(builder, name + "/gate_3", hidden, hidden, {.bias = kClosedGate})};
}

Tensor gate_logit(Tape& tape, Terms z, Tensor found, const Gate& gate) {
  z.add({found, tape.use(gate.gate_2.w)});
  const Tensor inner =
      linear(tape, z, {tape.use(gate.gate_1.b), tape.use(gate.gate_2.b)}, Activation::kRelu);
  return linear(tape, {{inner, tape.use(gate.gate_3.w)}}, {tape.use(gate.gate_3.b)});
}

}  // namespace renar

#include "nn/processor.h"

#include <array>

#include "core/check.h"
#include "core/profile.h"
#include "core/text.h"
#include "nn/processors/gat.h"
#include "nn/processors/memnet.h"
#include "nn/processors/pgn.h"

namespace renar {
namespace {

using Make = std::unique_ptr<Processor> (*)(const Builder&, const ProcessorOptions&);

struct Kind {
  const char* name;
  Make make;
};

template <PgnOptions kOptions>
std::unique_ptr<Processor> pgn(const Builder& builder, const ProcessorOptions& options) {
  return make_pgn(builder, options, kOptions);
}

template <GatOptions kOptions>
std::unique_ptr<Processor> gat(const Builder& builder, const ProcessorOptions& options) {
  return make_gat(builder, options, kOptions);
}

template <MemnetOptions kOptions>
std::unique_ptr<Processor> memnet(const Builder& builder, const ProcessorOptions& options) {
  return make_memnet(builder, options, kOptions);
}

using enum Heard;
constexpr std::array kKinds = {
    Kind{"deepsets", pgn<{.heard = kSelf}>},
    Kind{"mpnn", pgn<{.heard = kAll}>},
    Kind{"pgn", pgn<{.heard = kEdges}>},
    Kind{"pgn_mask", pgn<{.heard = kEdges, .mask = true}>},
    Kind{"triplet_mpnn", pgn<{.heard = kAll, .triplets = true}>},
    Kind{"triplet_pgn", pgn<{.heard = kEdges, .triplets = true}>},
    Kind{"triplet_pgn_mask", pgn<{.heard = kEdges, .mask = true, .triplets = true}>},
    Kind{"gpgn", pgn<{.heard = kEdges, .gated = true}>},
    Kind{"gpgn_mask", pgn<{.heard = kEdges, .mask = true, .gated = true}>},
    Kind{"gmpnn", pgn<{.heard = kAll, .gated = true}>},
    Kind{"triplet_gpgn", pgn<{.heard = kEdges, .triplets = true, .gated = true}>},
    Kind{"triplet_gpgn_mask",
         pgn<{.heard = kEdges, .mask = true, .triplets = true, .gated = true}>},
    Kind{"triplet_gmpnn", pgn<{.heard = kAll, .triplets = true, .gated = true}>},
    Kind{"gat", gat<{}>},
    Kind{"gat_full", gat<{.full = true}>},
    Kind{"gatv2", gat<{.v2 = true}>},
    Kind{"gatv2_full", gat<{.v2 = true, .full = true}>},
    Kind{"memnet_full", memnet<{}>},
    Kind{"memnet_masked", memnet<{.masked = true}>},
};

}  // namespace

ProcessorOutputs pass_messages(const Processor& processor, Tape& tape, Composer& composer,
                               const EncodedStep& encoded, Tensor hidden, int passes) {
  const ProfileRange range("processor");
  ProcessorOutputs next{hidden, {}};
  for (int i = 0; i < passes; ++i) {
    next = processor.step(tape, composer,
                          {.node = encoded.node,
                           .edge = encoded.edge,
                           .graph = encoded.graph_on_nodes,
                           .adj = encoded.adj,
                           .hidden = next.hidden});
  }
  return next;
}

std::vector<std::string> processor_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<Processor> make_processor(const Builder& builder, const ProcessorOptions& options) {
  for (const Kind& kind : kKinds) {
    if (options.kind == kind.name) return kind.make(builder, options);
  }
  throw UsageError(message_of("[processor] no kind {}; the nearest is {}", options.kind,
                              nearest_match(options.kind, processor_kinds())));
}

}  // namespace renar

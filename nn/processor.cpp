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

using enum Audience;
constexpr std::array kKinds = {
    Kind{"deepsets", pgn<{.audience = kSelf}>},
    Kind{"mpnn", pgn<{.audience = kAll}>},
    Kind{"pgn", pgn<{.audience = kEdges}>},
    Kind{"pgn_mask", pgn<{.audience = kEdges, .mask = true}>},
    Kind{"triplet_mpnn", pgn<{.audience = kAll, .triplets = true}>},
    Kind{"triplet_pgn", pgn<{.audience = kEdges, .triplets = true}>},
    Kind{"triplet_pgn_mask", pgn<{.audience = kEdges, .mask = true, .triplets = true}>},
    Kind{"gpgn", pgn<{.audience = kEdges, .gated = true}>},
    Kind{"gpgn_mask", pgn<{.audience = kEdges, .mask = true, .gated = true}>},
    Kind{"gmpnn", pgn<{.audience = kAll, .gated = true}>},
    Kind{"triplet_gpgn", pgn<{.audience = kEdges, .triplets = true, .gated = true}>},
    Kind{"triplet_gpgn_mask",
         pgn<{.audience = kEdges, .mask = true, .triplets = true, .gated = true}>},
    Kind{"triplet_gmpnn", pgn<{.audience = kAll, .triplets = true, .gated = true}>},
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

// The two layers with parameters: Linear and LayerNorm, and how they start.
//
// A layer is where its parameters stand; the numbers come from the tape (Tape::use), so that one
// Net serves every shard at once. Initialisation follows haiku (docs/model.md 8): weights truncated
// normal (2 sigma) with standard deviation 1/sqrt(fan in), biases 0. Each parameter draws from its
// own stream, keyed by its name.
#pragma once

#include <string>

#include "core/parameters.h"
#include "core/tape.h"

namespace renar {

/// Where new layers put their parameters.
struct Builder {
  Parameters& parameters;
  std::uint64_t seed;
  std::string prefix = {};  ///< begins all names: a second processor has other names than the first
};

struct Linear {
  Param w;  // (in, out)
  Param b;  // (out)
};

struct LinearInit {
  double stddev = 0;  ///< 0: 1/sqrt(in)
  Real bias = 0;
};

/// The parameter <name>/w alone: a linear without bias.
Param make_weight(const Builder& builder, const std::string& name, std::int64_t in,
                  std::int64_t out, const LinearInit& init = {});

/// Parameters <name>/w and <name>/b.
Linear make_linear(const Builder& builder, const std::string& name, std::int64_t in,
                   std::int64_t out, const LinearInit& init = {});

struct LayerNorm {
  Param scale;   // (H), starts at 1
  Param offset;  // (H), starts at 0
};

LayerNorm make_layer_norm(const Builder& builder, const std::string& name, std::int64_t hidden);

}  // namespace renar

// Features kept as S V: raw numbers S (.., R) times stacked encoders V (R, H), R about 3 to 12. Or
// dense ones (.., H), without encoders, such as those that a gate has mixed (nn/reconstruction.h).
//
// node_fts, edge_fts and graph_fts are sums of linear encodings of a few raw numbers, so a layer W
// on them is S (V W): R columns to multiply instead of H. Composer
// makes V W once a trajectory for each W and hands out the term; with the switch off it hands out
// {S V, W}, the plain form.
#pragma once

#include "kernels/linear.h"

namespace renar {

/// The switches of the exact algebra, off in tests that compare with the plain form.
struct ExactAlgebra {
  bool features_as_products = true;
  bool fused_ops =
      true;  ///< linear_max, triplet_max and pointer heads instead of their definitions
};

struct Features {
  Tensor raw;       // (B,..,R)
  Tensor encoders;  // (R,H), or absent: raw is (B,..,H) and the features themselves

  Features slice(std::int64_t begin, std::int64_t end) const {
    return {raw.slice(begin, end), encoders};
  }
};

class Composer {
 public:
  Composer(Tape& tape, ExactAlgebra exact) : tape_(tape), exact_(exact) {}

  /// features * w as a term of a linear; w (H, O) or some of a weight's rows.
  Term term(const Features& features, Tensor w);
  /// S V itself, where it is needed (a maximum over it is not linear).
  Tensor dense(const Features& features) {
    if (!features.encoders) return features.raw;
    return linear(tape_, {{features.raw, features.encoders}}, {});
  }

  const ExactAlgebra& exact() const { return exact_; }

 private:
  struct Composed {
    const Real* encoders;
    const Real* w;
    Tensor product;
  };

  Tape& tape_;
  ExactAlgebra exact_;
  // At most four a probe, as many again where hints are recovered, and those of two processors.
  ShortList<Composed, 192> composed_;
};

}  // namespace renar

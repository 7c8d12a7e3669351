// Our parameters' names and the reference's (docs/model.md 10): the one table, in the form of its
// rule.
//
//   processor/<layer>/w        net/mpnn_aggr_clrs_processor/linear[_k]/w       k counts layers in
//       order of creation
//   processor/mlp_<k>/w        net/mpnn_aggr_clrs_processor/mlp/~/linear_<k>/w
//   processor/layer_norm/scale net/mpnn_aggr_clrs_processor/layer_norm/scale
//   lstm/w                     net/processor_lstm/linear/w
//   <algo>/encode/<probe>/w    net/~_construct_encoders_decoders/algo_0_<probe>_enc_linear/w
//   <algo>/encode/<probe>/k/w  net/~_construct_encoders_decoders/algo_0_<probe>_enc_linear[_k]/w
//   <algo>/decode/<probe>/k/w  net/~_construct_encoders_decoders/algo_0_<probe>_dec_linear[_k]/w
//   and of a run's second algorithm, third, ..: algo_1_<probe>.., algo_2_<probe>.., in order
// With a reconstruction (the ReNAR authors' code) those of algorithms begin with CLRS_algo_0_, and
//   reconstruction/processor/..         net/mpnn_aggr_clrs_processor_1/..
//   reconstruction/gate_node/<layer>/w  net/node_gatenet/~/linear[_k]/w; likewise the edges'
//   <algo>/reconstruct/<probe>/k/w      .../mlm_algo_0_<probe>_dec_linear[_k]/w
#pragma once

#include <string>
#include <vector>

#include "core/parameters.h"

namespace renar {

/// The reference's name of each parameter, in the order of parameters.entries().
std::vector<std::string> reference_names(const Parameters& parameters);

}  // namespace renar

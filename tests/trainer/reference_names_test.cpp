// Our names and the reference's: one to one, and every parameter of a golden file is ours.
#include "trainer/reference_names.h"

#include <doctest/doctest.h>

#include <map>

#include "core/check.h"
#include "tests/algos/golden.h"
#include "tests/nn/small.h"

namespace renar::reference_names_test {
namespace {

void check_names(const std::string& file, const NetOptions& options) {
  const Net net = test::small_net("dfs", options);
  const std::vector<std::string> names = reference_names(net.parameters());
  std::map<std::string, std::vector<std::size_t>> ours, theirs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Shape& shape = net.parameters().entries()[i].param.shape;
    std::vector<std::size_t>& extents = ours["param/" + names[i]];
    for (int axis = 0; axis < shape.rank; ++axis) {
      extents.push_back(static_cast<std::size_t>(shape[axis]));
    }
  }
  CHECK(ours.size() == names.size());
  for (const auto& [name, array] : read_golden("model/" + file)) {
    if (name.starts_with("param/")) theirs[name] = array.shape;
  }
  CHECK(ours == theirs);
}

TEST_CASE("reference_names: every parameter of a golden file, with its shape") {
  NetOptions options;
  options.processor.hidden = 16;
  check_names("dfs.npz", options);
  options.lstm = true;
  check_names("lstm.npz", options);
}

TEST_CASE("reference_names: layers are counted in the order of their creation") {
  const auto name_of_parameter = [](const std::string& kind, const std::string& wanted) {
    const Net net = test::small_net("bfs", test::small_options(kind));
    const auto& entries = net.parameters().entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].name == wanted) return reference_names(net.parameters())[i];
    }
    return std::string("none");
  };
  const std::string processor = "net/mpnn_aggr_clrs_processor/";
  CHECK(name_of_parameter("gmpnn", "processor/m_1/w") == processor + "linear/w");
  CHECK(name_of_parameter("gmpnn", "processor/gate_1/b") == processor + "linear_6/b");
  CHECK(name_of_parameter("triplet_gmpnn", "processor/gate_1/b") == processor + "linear_14/b");
  CHECK(name_of_parameter("gmpnn", "processor/mlp_1/w") == processor + "mlp/~/linear_1/w");
  CHECK(name_of_parameter("gmpnn", "processor/layer_norm/scale") == processor + "layer_norm/scale");
  const std::string gat = "net/gat_aggr_clrs_processor/", gatv2 = "net/gatv2_aggr_clrs_processor/";
  CHECK(name_of_parameter("gat_full", "processor/skip/w") == gat + "linear_1/w");
  CHECK(name_of_parameter("gat", "processor/a_g/b") == gat + "linear_5/b");
  CHECK(name_of_parameter("gatv2", "processor/head_0/w") == gatv2 + "linear_6/w");
  const std::string memnet = "net/memnet_clrs_processor/";
  CHECK(name_of_parameter("memnet_full", "processor/query_biases") == memnet + "query_biases");
  CHECK(name_of_parameter("memnet_masked", "processor/answer/w") == memnet + "~_apply/linear_2/w");
  const std::string probes = "net/~_construct_encoders_decoders/algo_0_";
  CHECK(name_of_parameter("mpnn", "bfs/encode/reach_h/w") == probes + "reach_h_enc_linear/w");
  CHECK(name_of_parameter("mpnn", "bfs/decode/pi/0/w") == probes + "pi_dec_linear/w");
  CHECK(name_of_parameter("mpnn", "bfs/decode/pi/3/b") == probes + "pi_dec_linear_3/b");
}

TEST_CASE("reference_names: the two encoders and five decoder layers of edge pointers") {
  Parameters parameters;
  for (const char* name : {"a/encode/s_h/0/w", "a/encode/s_h/1/b", "a/decode/s_h/4/w"}) {
    parameters.add(name, {1});
  }
  const std::string probe = "net/~_construct_encoders_decoders/algo_0_s_h_";
  CHECK(reference_names(parameters) == std::vector<std::string>{probe + "enc_linear/w",
                                                                probe + "enc_linear_1/b",
                                                                probe + "dec_linear_4/w"});
}

TEST_CASE("reference_names: algorithms are counted in the order of the run") {
  Parameters parameters;
  for (const char* name : {"b/encode/x/w", "b/decode/x/0/w", "a/encode/x/w", "b_2/encode/x/w"}) {
    parameters.add(name, {1});
  }
  const std::string module = "net/~_construct_encoders_decoders/algo_";
  CHECK(reference_names(parameters) ==
        std::vector<std::string>{module + "0_x_enc_linear/w", module + "0_x_dec_linear/w",
                                 module + "1_x_enc_linear/w", module + "2_x_enc_linear/w"});
}

TEST_CASE("reference_names: a parameter that the reference has not") {
  Parameters parameters;
  parameters.add("strange/w", {1});
  CHECK_THROWS_AS(reference_names(parameters), Error);
}

}  // namespace
}  // namespace renar::reference_names_test

#include "trainer/reference_names.h"

#include <algorithm>
#include <map>

#include "core/check.h"

namespace renar {
namespace {

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', begin)) {
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(name.substr(begin));
  return parts;
}

std::string numbered(std::string name, std::size_t k) {
  return k == 0 ? name : name + "_" + std::to_string(k);
}

/// The place of a word among those met so far, to which a new one is added.
std::size_t number_of(const std::string& word, std::vector<std::string>& met) {
  const auto known = std::find(met.begin(), met.end(), word);
  const auto k = static_cast<std::size_t>(known - met.begin());
  if (known == met.end()) met.push_back(word);
  return k;
}

/// `layers` are a module's linear layers met so far.
std::string layer_name(const std::string& layer, std::vector<std::string>& layers) {
  if (layer == "layer_norm") return layer;
  if (layer == "hop") return "~_apply/linear_1";  // linear would be that of the hops before
  if (layer == "answer") return "~_apply/linear_2";
  if (layer.starts_with("mlp_")) return "mlp/~/linear_" + layer.substr(4);
  return numbered("linear", number_of(layer, layers));
}

/// The module of each family of processors, told by a layer that no other family has.
struct Family {
  const char* layer;
  const char* module;
};
constexpr Family kFamilies[] = {
    {"m_1", "mpnn_aggr"},
    {"a_1", "gat_aggr"},
    {"w_1", "gatv2_aggr"},
    {"hop", "memnet"},
};

bool has(const Parameters& parameters, const std::string& name) {
  const auto& entries = parameters.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Parameters::Entry& entry) { return entry.name == name; });
}

std::string processor_module(const Parameters& parameters) {
  for (const Family& family : kFamilies) {
    const std::string layer = std::string("processor/") + family.layer + "/w";
    if (has(parameters, layer)) return std::string("net/") + family.module + "_clrs_processor";
  }
  return "net/_clrs_processor";
}

/// Whether the parameters are those of a net that reconstructs.
bool reconstructs(const Parameters& parameters) {
  const auto& entries = parameters.entries();
  return std::any_of(entries.begin(), entries.end(), [](const Parameters::Entry& entry) {
    return entry.name.find("/reconstruct/") != std::string::npos;
  });
}

}  // namespace

std::vector<std::string> reference_names(const Parameters& parameters) {
  std::vector<std::string> names, algorithms;
  std::map<std::string, std::vector<std::string>> layers;  // by module
  const std::string processor = processor_module(parameters);
  const std::string heads = "net/~_construct_encoders_decoders/";
  const std::string main = reconstructs(parameters) ? "CLRS_" : "";
  for (const Parameters::Entry& entry : parameters.entries()) {
    const std::vector<std::string> parts = split(entry.name);
    const std::string& leaf = parts.back();
    const auto in_module = [&](const std::string& module, const std::string& layer) {
      return module + "/" + layer_name(layer, layers[module]) + "/" + leaf;
    };
    const auto in_processor = [&](const std::string& module, std::size_t at) {
      const bool alone = parts.size() == at + 1;  // an embedding, not a layer's
      return alone ? module + "/" + leaf : in_module(module, parts[at]);
    };
    if (parts[0] == "processor") {
      names.push_back(in_processor(processor, 1));
    } else if (parts[0] == "reconstruction" && parts[1] == "processor") {
      names.push_back(in_processor(processor + "_1", 2));
    } else if (parts[0] == "lstm") {
      names.push_back("net/processor_lstm/linear/" + leaf);
    } else if (parts[0] == "reconstruction") {  // gate_node, gate_edge
      names.push_back(in_module("net/" + parts[1].substr(5) + "_gatenet/~", parts[2]));
    } else {
      RENAR_CHECK(parts.size() >= 4, "[reference_names] {} has no counterpart", entry.name);
      const std::string algorithm = "algo_" + std::to_string(number_of(parts[0], algorithms)) + "_";
      const std::string begin = (parts[1] == "reconstruct" ? "mlm_" : main) + algorithm;
      const std::string end = parts[1] == "encode" ? "_enc_linear" : "_dec_linear";
      const std::size_t k = parts.size() > 4 ? std::stoul(parts[3]) : 0;
      names.push_back(numbered(heads + begin + parts[2] + end, k) + "/" + leaf);
    }
  }
  return names;
}

}  // namespace renar

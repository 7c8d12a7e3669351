#include "trainer/reference_names.h"

#include <algorithm>

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

/// `layers` are the processor's linear layers met so far; a new one is added.
std::string processor_name(const std::string& layer, std::vector<std::string>& layers) {
  if (layer == "layer_norm") return layer;
  if (layer.starts_with("mlp_")) return "mlp/~/linear_" + layer.substr(4);
  const auto known = std::find(layers.begin(), layers.end(), layer);
  const auto k = static_cast<std::size_t>(known - layers.begin());
  if (known == layers.end()) layers.push_back(layer);
  return numbered("linear", k);
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
};

std::string processor_module(const Parameters& parameters) {
  const auto has = [&](const Family& family) {
    const std::string name = std::string("processor/") + family.layer + "/w";
    const auto& entries = parameters.entries();
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Parameters::Entry& entry) { return entry.name == name; });
  };
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies), has);
  const char* module = family == std::end(kFamilies) ? "" : family->module;
  return std::string("net/") + module + "_clrs_processor/";
}

}  // namespace

std::vector<std::string> reference_names(const Parameters& parameters) {
  std::vector<std::string> names, layers;
  const std::string processor = processor_module(parameters);
  for (const Parameters::Entry& entry : parameters.entries()) {
    const std::vector<std::string> parts = split(entry.name);
    const std::string& leaf = parts.back();
    if (parts.front() == "processor") {
      names.push_back(processor + processor_name(parts[1], layers) + "/" + leaf);
      continue;
    }
    RENAR_CHECK(parts.size() >= 4, "[reference_names] {} has no counterpart", entry.name);
    const std::string module = "net/~_construct_encoders_decoders/algo_0_" + parts[2] +
                               (parts[1] == "encode" ? "_enc_linear" : "_dec_linear");
    const std::size_t k = parts.size() > 4 ? std::stoul(parts[3]) : 0;
    names.push_back(numbered(module, k) + "/" + leaf);
  }
  return names;
}

}  // namespace renar

#include "trainer/initial_parameters.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "algos/registry.h"
#include "core/check.h"
#include "core/json.h"
#include "core/npz.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "trainer/checkpoint.h"
#include "trainer/reference_names.h"

namespace renar {
namespace {

constexpr std::string_view kGoldenPrefix = "param/";

/// A file's parameters in its order, and whose names they have.
struct Source {
  struct Array {
    std::string name;
    StoredArray array;
  };
  std::string path;
  bool reference = false;
  std::vector<Array> arrays;

  const Array* find(const std::string& name) const {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const Array& entry) { return entry.name == name; });
    return found == arrays.end() ? nullptr : &*found;
  }
};

Source read_reference(const std::string& path) {
  Source source{path, true, {}};
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  Npz arrays = read_npz(path, kMostBytes);
  const bool golden = std::any_of(arrays.begin(), arrays.end(), [](const auto& entry) {
    return entry.first.starts_with(kGoldenPrefix);
  });
  for (auto& [name, array] : arrays) {
    if (golden && !name.starts_with(kGoldenPrefix)) continue;
    source.arrays.push_back({golden ? name.substr(kGoldenPrefix.size()) : name, std::move(array)});
  }
  return source;
}

Source read_ours(const std::string& path, const Net& net) {
  Source source{path, false, {}};
  SafetensorsFile file = read_safetensors(path);
  const auto kind = file.metadata.find("processor");
  RENAR_CHECK(kind == file.metadata.end() || kind->second == net.options().processor.kind,
              "[init_from] {} has the processor {}, this run {}", path, kind->second,
              net.options().processor.kind);
  for (auto& [name, array] : file.tensors) {  // the rest of a last.safetensors is its run's own
    if (is_parameter(name)) source.arrays.push_back({name, std::move(array)});
  }
  return source;
}

bool is_utf8(const std::string& text) {
  try {
    Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

Source read_source(const std::string& path, const Net& net) {
  RENAR_USAGE(is_utf8(path),
              "--init-from {} is not UTF-8, which is all that a run's config.toml can hold: rename "
              "the file",
              path);
  if (path.ends_with(".npz")) return read_reference(path);
  RENAR_USAGE(
      path.ends_with(".safetensors"),
      "--init-from {} is neither a .safetensors of a run nor an .npz of dm-clrs' parameters", path);
  return read_ours(path, net);
}

/// Whose a parameter is: "dfs" or "algo_0"; empty for what algorithms share.
std::string owner(const std::string& name, bool reference) {
  if (reference) {
    const std::size_t begin = name.find("algo_");
    if (begin == std::string::npos) return "";
    return name.substr(begin, name.find('_', begin + 5) - begin);
  }
  const std::string first = name.substr(0, name.find('/'));
  const bool known = std::any_of(algorithms().begin(), algorithms().end(),
                                 [&](const Algorithm& entry) { return entry.name == first; });
  return known ? first : "";
}

/// A net's parameters under the names that a file has them by.
class Wanted {
 public:
  Wanted(const Net& net, bool reference) : net_(net), reference_(reference) {
    const auto& entries = net.parameters().entries();
    if (reference) names_ = reference_names(net.parameters());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!reference) names_.push_back(entries[i].name);
      places_[names_[i]] = i;
    }
    for (std::size_t k = 0; k < net.tasks().size(); ++k) {
      const std::string& algorithm = net.tasks()[k].algorithm;
      algorithms_[reference ? "algo_" + std::to_string(k) : algorithm] = algorithm;
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const { return places_.contains(name); }
  std::vector<std::size_t> shape(std::size_t i) const {
    return stored_shape(net_.parameters().entries()[i].param.shape);
  }
  /// By their names in the file.
  const std::map<std::string, std::string>& algorithms() const { return algorithms_; }
  /// " (algo_0 is dfs here; ..)": what to do about an array of an algorithm in an .npz.
  std::string remedy(const std::string& who) const {
    if (!reference_ || who.empty()) return "";
    const auto known = algorithms_.find(who);
    return message_of(" ({}; without all {}_.. arrays the file gives the processor alone)",
                      known == algorithms_.end()
                          ? message_of("this run has {} algorithm(s)", algorithms_.size())
                          : message_of("{} is {} here", who, known->second),
                      who);
  }

 private:
  const Net& net_;
  bool reference_;
  std::vector<std::string> names_;  // in the order of the parameters
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::string> algorithms_;
};

bool has_any_of(const Source& source, const std::string& who) {
  return std::any_of(source.arrays.begin(), source.arrays.end(), [&](const Source::Array& entry) {
    return owner(entry.name, source.reference) == who;
  });
}

void check_floats(const Source& source, const Source::Array& entry) {
  const StoredType type = entry.array.type;
  RENAR_CHECK(type == StoredType::kFloat32 || type == StoredType::kFloat64,
              "[init_from] {}: {} is {}, not floating point", source.path, entry.name,
              name_of(type));
  const std::vector<double> values = entry.array.doubles();
  const auto is_finite = [](double x) { return std::isfinite(static_cast<Real>(x)); };
  RENAR_CHECK(std::all_of(values.begin(), values.end(), is_finite),
              "[init_from] {}: {} holds a number that is not finite", source.path, entry.name);
}

/// Arrays of the ReNAR authors' checkpoints that nothing reads: their mask tokens, and
/// reconstruction decoders of outputs.
bool unused_by_authors(const std::string& name) {
  return name.find("_MLM_token") != std::string::npos ||
         name.find("/mlm_algo_") != std::string::npos;
}

/// Throws unless everything in the file fits that must; `fresh` are the algorithms that it lacks.
void check_fits(const Source& source, const Wanted& wanted, const std::vector<std::string>& fresh) {
  for (std::size_t i = 0; i < wanted.names().size(); ++i) {
    const std::string& name = wanted.names()[i];
    const std::string who = owner(name, source.reference);
    if (std::find(fresh.begin(), fresh.end(), who) != fresh.end()) continue;
    const Source::Array* entry = source.find(name);
    RENAR_CHECK(entry != nullptr, "[init_from] {} has no {}, which is {} here{}", source.path, name,
                text_of(wanted.shape(i)), wanted.remedy(who));
    RENAR_CHECK(entry->array.shape == wanted.shape(i), "[init_from] {}: {} is {}, here it is {}{}",
                source.path, name, text_of(entry->array.shape), text_of(wanted.shape(i)),
                wanted.remedy(who));
    check_floats(source, *entry);
  }
  for (const Source::Array& entry : source.arrays) {
    const std::string who = owner(entry.name, source.reference);
    const bool other = !source.reference && !who.empty() && !wanted.algorithms().contains(who);
    if (source.reference && unused_by_authors(entry.name)) continue;
    RENAR_CHECK(other || wanted.has(entry.name),
                "[init_from] {} has {} of {}, which this net has not{}", source.path, entry.name,
                text_of(entry.array.shape), wanted.remedy(who));
  }
}

/// The algorithms of a file that the net has not.
std::vector<std::string> left_out(const Source& source, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const Source::Array& entry : source.arrays) {
    const std::string who = owner(entry.name, source.reference);
    const bool known = who.empty() || wanted.algorithms().contains(who);
    if (!known && std::find(names.begin(), names.end(), who) == names.end()) names.push_back(who);
  }
  return names;
}

}  // namespace

std::string load_initial_parameters(const std::string& path, Net& net) {
  const Source source = read_source(path, net);
  const Wanted wanted(net, source.reference);
  std::vector<std::string> loaded = {"the processor"}, fresh, fresh_names;
  for (const auto& [name, algorithm] : wanted.algorithms()) {
    if (has_any_of(source, name)) {
      loaded.push_back(algorithm);
    } else {
      fresh.push_back(name);
      fresh_names.push_back(algorithm);
    }
  }
  check_fits(source, wanted, fresh);
  for (std::size_t i = 0; i < wanted.names().size(); ++i) {
    const Source::Array* entry = source.find(wanted.names()[i]);
    if (entry == nullptr) continue;  // of an algorithm that starts anew
    const std::vector<double> values = entry->array.doubles();
    std::transform(values.begin(), values.end(),
                   net.parameters().at(net.parameters().entries()[i].param),
                   [](double value) { return static_cast<Real>(value); });
  }
  std::string line = message_of("began with {} of {}", join(loaded), path);
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) line += message_of("; {}: {}", what, join(names));
  };
  add("encoders and decoders start anew", fresh_names);
  add("left out", left_out(source, wanted));
  return line;
}

std::size_t export_parameters(const std::string& path, const Net& net) {
  const std::vector<std::string> names = reference_names(net.parameters());
  Npz arrays;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Param& param = net.parameters().entries()[i].param;
    const Real* values = net.parameters().at(param);
    arrays[names[i]] = StoredArray::of(stored_shape(param.shape),
                                       std::vector<Real>(values, values + param.shape.size()));
  }
  write_npz(path, arrays);
  return arrays.size();
}

}  // namespace renar

#include "trainer/golden_case.h"

#include <algorithm>
#include <filesystem>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/rng.h"
#include "trainer/reference_names.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

constexpr double kAuthorsRatio = 0.3;  // of masks, where a case does not say
constexpr double kRounding = 1.19e-7;  // of a float: 2^-23

template <class Enum>
Enum parse_word(const std::string& word, std::initializer_list<Enum> values) {
  for (const Enum value : values) {
    if (name_of(value) == word) return value;
  }
  throw Error(message_of("[golden] this version does not know '{}'", word));
}

Probe probe_of(const std::string& name, const Json& entry, const Npz& arrays) {
  Probe probe{name, parse_word(entry.at(0), {Stage::kInput, Stage::kOutput, Stage::kHint}),
              parse_word(entry.at(1), {Location::kNode, Location::kEdge, Location::kGraph}),
              parse_word(entry.at(2), {Type::kScalar, Type::kCategorical, Type::kMask,
                                       Type::kMaskOne, Type::kPointer, Type::kPermutationPointer})};
  if (probe.type == Type::kCategorical) {
    const std::string array = std::string(name_of(probe.stage)) + "/" + name;
    const StoredArray& classes = array_of(arrays, array);
    RENAR_CHECK(!classes.shape.empty(), "[golden] {} is a single number, not classes", array);
    probe.classes = static_cast<int>(classes.shape.back());
  }
  return probe;
}

Repred repred_of(const std::string& mode) {
  if (mode == "soft") return Repred::kSoft;
  if (mode == "hard") return Repred::kHard;
  RENAR_CHECK(mode == "hard_on_eval", "[golden] unknown hint_repred_mode {}", mode);
  return Repred::kHardOnEval;
}

void read_options(const Json& options, GoldenCase& out) {
  for (const auto& [name, value] : options.items()) {
    if (name == "use_ln") {
      out.options.processor.layer_norm = value;
    } else if (name == "hint_repred_mode") {
      out.options.hint_repred = repred_of(value);
    } else if (name == "nb_msg_passing_steps") {
      out.options.message_passing_steps = value;
    } else if (name == "encode_hints") {
      if (!value && predicts_hints(out.options.hints)) out.options.hints = HintMode::kDecodedOnly;
    } else if (name == "decode_hints") {
      if (!value) out.options.hints = HintMode::kNone;
    } else if (name == "hint_teacher_forcing") {
      out.options.teacher_forcing = value;
    } else if (name == "freeze_processor") {
      out.freezes_processor = value;
    } else if (name == "use_lstm") {
      out.options.lstm = value;
    } else if (name == "nb_heads") {
      out.options.processor.heads = value;
    } else if (name == "mlm_ratio") {
      out.options.reconstruction.masks.ratio = value;
    } else if (name == "grad_clip_max_norm") {
      out.clip = value;
    } else {
      // The initialisation and the rounds' masks are in the file; all else changes the arithmetic.
      RENAR_CHECK(name == "encoder_init" || name == "max_K_times",
                  "[golden] this version does not have the option {}", name);
    }
  }
}

void read_method(const std::string& variant, GoldenCase& out) {
  out.reconstructs = variant != "clrs";
  if (!out.reconstructs) return;
  RENAR_CHECK(variant == "renar" || variant == "mrenar",
              "[golden] this version does not have the method {}", variant);
  ReconstructionOptions& options = out.options.reconstruction;
  options.method = Method::kRenar;
  options.weight = variant == "renar" ? 0.1 : 1;
  options.masks.masking = Masking::kAuthors;
  if (variant == "mrenar") options.masks.ratio = kAuthorsRatio;
}

/// mask/<round>/<probe> of inputs and hints, for each round that the file has.
void read_masks(GoldenCase& out) {
  for (int round = 0;; ++round) {
    const std::string prefix = "mask/" + std::to_string(round) + "/";
    const auto first = out.arrays.lower_bound(prefix);
    if (first == out.arrays.end() || !first->first.starts_with(prefix)) break;
    auto& probes = out.masks.emplace_back(out.spec.size());
    for (std::size_t p = 0; p < out.spec.size(); ++p) {
      if (out.spec[p].stage == Stage::kOutput) continue;
      const std::vector<double> mask = array_of(out.arrays, prefix + out.spec[p].name).doubles();
      probes[p].assign(mask.begin(), mask.end());
    }
  }
  RENAR_CHECK(!out.masks.empty(), "[golden] a case of mrenar has {} masks", out.masks.size());
  out.options.reconstruction.masks.rounds = static_cast<int>(out.masks.size());
}

}  // namespace

GoldenCase read_golden_case(const std::string& path, const std::string& manifest) {
  GoldenCase out;
  out.arrays = read_npz(path);
  const std::string title = fs::path(path).stem().string();
  try {
    const Json entry =
        naming_file(manifest, [&] { return parse_json(read_file(manifest)).at(title); });
    std::vector<Probe> probes;
    for (const auto& [name, probe] : entry.at("spec").items()) {
      probes.push_back(probe_of(name, probe, out.arrays));
    }
    out.spec = Spec(std::move(probes));
    out.options.processor.kind = entry.at("processor");
    out.options.processor.hidden = entry.at("hidden");
    out.train_steps = entry.at("train_steps");
    read_method(entry.at("variant"), out);
    read_options(entry.at("options"), out);
    if (out.options.reconstruction.masks.ratio > 0) read_masks(out);
    if (out.arrays.contains("noise")) {
      const std::vector<double> noise = array_of(out.arrays, "noise").doubles();
      out.noise.assign(noise.begin(), noise.end());
    }
  } catch (const Json::exception& error) {
    throw Error(
        message_of("[golden] {}: no usable entry for {} ({})", manifest, title, error.what()));
  }
  return out;
}

void load_golden_parameters(const GoldenCase& golden, Net& net, std::uint32_t moved) {
  CounterRng rng(moved, Purpose::kInitialisation, 0, 0);
  const auto factor = [&] { return moved > 0 ? 1 + kRounding * (2 * rng.uniform() - 1) : 1; };
  const std::vector<std::string> names = reference_names(net.parameters());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Param& param = net.parameters().entries()[i].param;
    const std::vector<double> values = numbers_of(golden, "param/" + names[i], param.shape.size());
    std::transform(values.begin(), values.end(), net.parameters().at(param),
                   [&](double value) { return static_cast<Real>(value * factor()); });
  }
}

std::vector<double> numbers_of(const GoldenCase& golden, const std::string& name,
                               std::int64_t count) {
  std::vector<double> numbers = array_of(golden.arrays, name).doubles();
  RENAR_CHECK(std::ssize(numbers) == count, "[golden] {} has {} numbers, expected {}", name,
              numbers.size(), count);
  return numbers;
}

NoiseKey noise_of(const GoldenCase& golden, const Batch& batch) {
  NoiseKey key{.masks = golden.masks.empty() ? nullptr : &golden.masks};
  if (golden.noise.empty()) return key;
  RENAR_CHECK(
      golden.noise.size() == static_cast<std::size_t>(batch.size * batch.nodes * batch.nodes),
      "[golden] noise has {} numbers for {} samples of {} nodes", golden.noise.size(), batch.size,
      batch.nodes);
  key.fixed = golden.noise.data();
  return key;
}

}  // namespace renar

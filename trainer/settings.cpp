#include "trainer/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr double kMaxNodes = 4096;
constexpr std::size_t kMostEntries = 4096;  // of a list

// "a whole number from 1 to 4096", "numbers above 0 and up to 1", "a number from 0 to below 1"
std::string expectation(const Range& range, bool whole, bool list) {
  return fmt::format("{}{}number{} {} {:.10g} {}{} {:.10g}", list ? "" : "a ",
                     whole ? "whole " : "", list ? "s" : "", range.open_low ? "above" : "from",
                     range.low, range.open_low ? "and up to" : "to",
                     range.open_high ? " below" : "", range.high);
}

template <class T>
bool parse_number(std::string_view text, const Range& range, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double real = static_cast<double>(value);
  return error == std::errc() && end == text.data() + text.size() && real >= range.low &&
         real <= range.high && !(range.open_low && real == range.low) &&
         !(range.open_high && real == range.high);
}

template <class T>
void parse(const Setting& setting, std::string_view text, const std::string& place, T& value) {
  T parsed{};
  const bool good = parse_number(text, setting.range, parsed);
  RENAR_USAGE(good, "{} takes {}, got \"{}\"", place,
              expectation(setting.range, std::is_integral_v<T>, false), shortened(text));
  value = parsed;
}

void parse(const Setting&, std::string_view text, const std::string& place, bool& value) {
  RENAR_USAGE(text == "true" || text == "false", "{} takes true or false, got \"{}\"", place,
              shortened(text));
  value = text == "true";
}

void parse(const Setting& setting, std::string_view text, const std::string& place,
           std::string& value) {
  const std::vector<std::string>& choices = setting.choices;
  RENAR_USAGE(!text.empty(), "{} must not be empty", place);
  RENAR_USAGE(choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end(),
              "{} does not know \"{}\"; did you mean \"{}\"? Valid: {}", place, shortened(text),
              nearest_match(text, choices), join(choices));
  value = text;
}

template <class T>
void parse(const Setting& setting, std::string_view text, const std::string& place,
           std::vector<T>& list) {
  std::vector<T> parsed;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view entry = text.substr(start, end - start);
    T value{};
    if constexpr (std::is_same_v<T, std::string>) {
      parse(setting, entry, place, value);
    } else {
      const bool good = parse_number(entry, setting.range, value);
      RENAR_USAGE(good, "{} takes {} with commas between them, got \"{}\"", place,
                  expectation(setting.range, std::is_integral_v<T>, true), shortened(text));
    }
    RENAR_USAGE(parsed.size() < kMostEntries, "{} has more than {} entries", place, kMostEntries);
    const bool repeated = std::find(parsed.begin(), parsed.end(), value) != parsed.end();
    RENAR_USAGE(!repeated, "{} has {} twice", place, value);
    parsed.push_back(value);
    start = end + 1;
  }
  list = parsed;
}

template <class T>
std::string plain(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string plain(const std::vector<T>& list) {
  return fmt::format("{}", fmt::join(list, ","));
}

template <class T>
std::string toml(const T& value) {
  return fmt::format("{}", value);
}
std::string toml(const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      escaped += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return fmt::format("\"{}\"", escaped);
}
template <class T>
std::string toml(const std::vector<T>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
std::string toml(const std::vector<std::string>& list) {
  return list.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(list, "\", \""));
}

}  // namespace

std::string_view heading(Group group) {
  switch (group) {
    case Group::kWhat: return "What is trained";
    case Group::kModel: return "Model";
    case Group::kTraining: return "Training";
    case Group::kData: return "Data";
    case Group::kEvaluation: return "Evaluation";
    case Group::kMachine: return "Machine";
    case Group::kCall: return "Files and this call";
  }
  return "";
}

std::vector<Setting> settings(const ValidNames& valid) {
  using enum Group;
  using C = Config;
  std::vector<std::string> algorithms = valid.algorithms;
  algorithms.push_back(kAll);
  return {
      {kWhat, "algo", &C::algo, "the algorithms to learn, in turn", {}, algorithms, "algorithms"},
      {kWhat,
       "method",
       &C::method,
       "what trains the encoder beside the prediction",
       {},
       {"baseline", "renar", "mrenar", "renar-linear"}},
      {kWhat,
       "processor",
       &C::processor,
       "kind of message passing",
       {},
       valid.processors,
       "processor-type"},
      {kWhat,
       "mask-ratio",
       &C::mask_ratio,
       "beta: share of the (node, hint) pairs that a round of mrenar hides (default: 0.3)",
       {0, 0.999}},
      {kWhat,
       "mask-rounds",
       &C::mask_rounds,
       "rounds of masking a step (default: 1/beta; authors: at most 3)",
       {0, 1000}},
      {kWhat,
       "rec-weight",
       &C::rec_weight,
       "lambda: weight of the reconstruction loss (default: 0.1, of mrenar 1)",
       {0, 1e6}},
      {kWhat,
       "masking",
       &C::masking,
       "whole pairs of hints, or numbers as the ReNAR authors' code",
       {},
       {"paper", "authors"}},

      {kModel, "hidden", &C::hidden, "width H of all features", {1, 16384}, {}, "hidden-size"},
      {kModel,
       "triplet-fts",
       &C::triplet_fts,
       "features of a triplet message",
       {1, 1024},
       {},
       "nb-triplet-fts"},
      {kModel,
       "heads",
       &C::heads,
       "heads of attention of gat*, a divisor of --hidden",
       {1, 1024},
       {},
       "nb-heads"},
      {kModel, "nb-msg-passing-steps", &C::nb_msg_passing_steps, "processor runs a step", {1, 64}},
      {kModel, "no-ln", &C::no_ln, "no layer norm after the processor"},
      {kModel, "lstm", &C::lstm, "an LSTM over every node after the processor", {}, {}, "use-lstm"},
      {kModel,
       "dropout",
       &C::dropout,
       "share of the processor's result that training drops",
       {0, 1, false, true},
       {},
       "dropout-prob"},
      {kModel,
       "encoder-init",
       &C::encoder_init,
       "initial weights of the encoders",
       {},
       {"default", "xavier_on_scalars"}},
      {kModel,
       "hint-mode",
       &C::hint_mode,
       "whether hints are read and predicted, only predicted, or neither",
       {},
       {"encoded_decoded", "decoded_only", "none"}},
      {kModel,
       "hint-repred-mode",
       &C::hint_repred_mode,
       "how predicted hints are fed back",
       {},
       {"soft", "hard", "hard_on_eval"}},
      {kModel,
       "hint-teacher-forcing",
       &C::hint_teacher_forcing,
       "how often a sample reads true hints in training",
       {0, 1}},
      {kModel, "freeze-processor", &C::freeze_processor,
       "train encoders, decoders and LSTM, not the processor"},
      {kModel,
       "precision",
       &C::precision,
       "to what a GPU rounds the factors of matrix products; sums and weights stay fp32",
       {},
       {"fp32", "tf32", "bf16"}},

      {kTraining,
       "steps",
       &C::steps,
       "steps, each an update for every algorithm",
       {1, 1e9},
       {},
       "train-steps"},
      {kTraining, "batch", &C::batch, "samples an update", {1, 65536}, {}, "batch-size"},
      {kTraining, "lr", &C::lr, "learning rate of Adam", {0, 1000, true}, {}, "learning-rate"},
      {kTraining,
       "clip",
       &C::clip,
       "largest norm of the gradient, 0 = any",
       {0, 1e9},
       {},
       "grad-clip-max-norm"},
      {kTraining, "seed", &C::seed, "seed of weights and data", {0, 4294967295.0}},
      {kTraining, "train-lengths", &C::train_lengths, "numbers of nodes, in turn", {1, kMaxNodes}},
      {kTraining, "init-from", &C::init_from,
       "parameters to begin with: .safetensors of a run, or dm-clrs' as .npz (default: random)"},
      {kTraining,
       "chunked",
       &C::chunked,
       "train on chunks of trajectories, not on whole ones",
       {},
       {},
       "chunked-training"},
      {kTraining, "chunk-length", &C::chunk_length, "frames of a sample in a chunk", {2, 65536}},
      {kTraining,
       "chunk-state",
       &C::chunk_state,
       "what a trajectory's next chunk starts from: the last state, or none as in dm-clrs",
       {},
       {"carry", "reset"}},

      {kData,
       "data-stream",
       &C::data_stream,
       "random numbers drawn in our or dm-clrs' order",
       {},
       {"own", "clrs"}},
      {kData, "p", &C::p, "edge probabilities of graphs (default: the algorithm's)", {0, 1, true}},
      {kData,
       "length-needle",
       &C::length_needle,
       "letters a string matcher looks for; -k = 1 to k, 0 = a fifth of all",
       {-kMaxNodes, kMaxNodes}},
      {kData, "no-random-pos", &C::no_random_pos, "evenly spaced node positions in training"},
      {kData, "no-permutations", &C::no_permutations, "sorted orders stay plain pointers"},
      {kData, "no-pred-as-input", &C::no_pred_as_input,
       "a hint pred_h that never changes stays one"},

      {kEvaluation, "eval-every", &C::eval_every, "steps between validations", {1, 1e9}},
      {kEvaluation,
       "val-length",
       &C::val_length,
       "nodes of the validation sets, 0 = the longest training length",
       {0, kMaxNodes}},
      {kEvaluation,
       "val-samples",
       &C::val_samples,
       "samples a validation set, 0 = as the field's",
       {0, 1e6}},
      {kEvaluation, "test-lengths", &C::test_lengths, "nodes of the test sets", {1, kMaxNodes}},
      {kEvaluation,
       "test-samples",
       &C::test_samples,
       "samples a test set, 0 = as CLRS-30 has",
       {0, 1e6}},
      {kEvaluation, "oracle", &C::oracle,
       "score the test sets at every validation, too, and print the largest"},

      {kMachine,
       "device",
       &C::device,
       "where to compute; auto: the GPU if there is one. simt: the CUDA kernels thread by thread "
       "on "
       "the CPU, slow, for tests",
       {},
       {"auto", "cpu", "cuda", "simt"}},
      {kMachine, "threads", &C::threads, "threads, 0 = one a core", {0, 1024}},
      {kMachine,
       "memory-budget",
       &C::memory_budget,
       "MiB that a step keeps for backward; what is more is computed twice. 0 = half of the memory",
       {0, 1 << 30}},
      {kMachine,
       "checkpoint-every",
       &C::checkpoint_every,
       "steps between saves of last.safetensors",
       {1, 1e9}},

      {kCall, "out", &C::out, "directory of the run (default: runs/<algos>-<method>-<seed>)"},
      {kCall, "resume", &C::resume, "continue the run in this directory; --steps may be raised"},
      {kCall, "config", &C::config, "TOML file of settings, named as the flags are"},
      {kCall, "sweep", &C::sweep,
       "TOML file of many runs: lists of values under [grid]; --out is the folder of all"},
      {kCall, "table", &C::table, "with --sweep: print the table of its results, run nothing"},
      {kCall, "ledger", &C::ledger,
       "file that gets a line a finished run (default: of a sweep, results/ledger.jsonl)"},
      {kCall, "overwrite", &C::overwrite,
       "replace the run in --out; of a sweep: what runs of another configuration left in its "
       "folder"},
      {kCall, "quiet", &C::quiet, "print the result only"},
      {kCall, "profile", &C::profile,
       "measure a few steps: profile.txt says where the time goes, profile.json is for Perfetto"},
  };
}

std::string with_hyphens(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> names_of(const std::vector<Setting>& table, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Setting& setting : table) names.push_back(prefix + setting.name);
  return names;
}

void set_from_text(const Setting& setting, std::string_view value, const std::string& place,
                   Config& config) {
  std::visit([&](auto member) { parse(setting, value, place, config.*member); }, setting.member);
}

std::string text_of(const Setting& setting, const Config& config) {
  return std::visit([&](auto member) { return plain(config.*member); }, setting.member);
}

std::string toml_of(const Setting& setting, const Config& config) {
  return std::visit([&](auto member) { return toml(config.*member); }, setting.member);
}

}  // namespace renar

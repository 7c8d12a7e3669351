#include "trainer/config.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "core/check.h"
#include "core/text.h"
#include "core/version.h"
#include "nn/hint_masks.h"
#include "trainer/config_toml.h"
#include "trainer/settings.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 60;
constexpr double kRenarWeight = 0.1, kMrenarWeight = 1;  // paper, computational details
constexpr double kMrenarRatio = 0.3;                     // the authors' program's

constexpr const char* kSweepHelp =
    "The file of --sweep has the settings of all runs at its top and then what varies:\n"
    "  steps = 1000\n"
    "  [grid]                        # every combination is a run\n"
    "  algo = [\"dfs\", \"bfs\"]\n"
    "  seed = [1, 2, 3]\n"
    "  [[variant]]                   # settings that change together, with all of the grid\n"
    "  processor = \"mpnn\"\n"
    "  lr = 0.0005\n"
    "The same call goes on where a sweep was stopped. tools/sweep_example.toml says more.";

using Table = std::vector<Setting>;

// ---- flags ------------------------------------------------------------------------------------

void check_no_leftovers(const std::vector<std::string>& leftovers, const Table& table) {
  if (leftovers.empty()) return;
  const std::string flag = leftovers[0].substr(0, leftovers[0].find('='));
  const std::vector<std::string> names = names_of(table, "--");
  RENAR_USAGE(!flag.starts_with("-"), "unknown flag {}; did you mean {}? Valid: {}", flag,
              nearest_match(flag, names), join(names));
  RENAR_USAGE(false,
              "stray argument \"{}\": values follow their flag, lists have commas and no spaces",
              flag);
}

struct Placeholder {
  const char* operator()(std::string Config::*) const { return "WORD"; }
  const char* operator()(bool Config::*) const { return ""; }
  const char* operator()(int Config::*) const { return "N"; }
  const char* operator()(std::uint32_t Config::*) const { return "N"; }
  const char* operator()(double Config::*) const { return "X"; }
  const char* operator()(std::vector<std::string> Config::*) const { return "WORD,WORD,.."; }
  const char* operator()(std::vector<int> Config::*) const { return "N,N,.."; }
  const char* operator()(std::vector<double> Config::*) const { return "X,X,.."; }
};

// What stands for the value in --help.
std::string placeholder(const Setting& setting) {
  return std::visit(Placeholder(), setting.member);
}

// The flag itself where the reference's name of it is written.
std::string without_alias(const std::string& flag, const Table& table) {
  for (const Setting& setting : table) {
    if (!setting.alias.empty() && flag == "--" + setting.alias) return "--" + setting.name;
  }
  return flag;
}

// The flags that were given. Empty if --help or --version was, and printed.
std::optional<Flags> parse_flags(int argc, const char* const* argv, const Table& table) {
  CLI::App app("Trains a network on an algorithm and scores it on larger inputs.", "renar_train");
  app.set_help_flag("-h,--help", "this text")->group("Help");
  app.set_version_flag("--version", version_text(), "what this program is")->group("Help");
  app.allow_extras();
  app.footer(kSweepHelp);
  for (const Setting& setting : table) {
    std::string flag = "--" + setting.name;
    if (!setting.alias.empty()) flag += ",--" + setting.alias;
    const bool is_switch = std::holds_alternative<bool Config::*>(setting.member);
    CLI::Option* option = is_switch ? app.add_flag(flag) : app.add_option(flag);
    std::string help = setting.help;
    if (!setting.choices.empty()) help += ": " + join(setting.choices);
    const std::string standard = text_of(setting, Config());
    const bool says_it =
        is_switch || standard.empty() || help.find("default:") != std::string::npos;
    if (!says_it) help += fmt::format(" (default: {})", standard);
    option->description(help)->group(std::string(heading(setting.group)));
    if (!is_switch) option->type_name(placeholder(setting))->expected(0, 1);  // none given: ""
  }

  std::set<std::string> seen;
  std::vector<std::string> words;  // CLI11 wants them last first
  for (int i = argc - 1; i > 0; --i) {
    std::string word = argv[i];
    if (word.starts_with("--")) {
      const std::string written = with_hyphens(word.substr(0, word.find('=')));
      const std::string flag = without_alias(written, table);
      RENAR_USAGE(seen.insert(flag).second, "{} is given twice", flag);
      word.replace(0, written.size(), flag);
    }
    words.push_back(word);
  }
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}", version_text());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  check_no_leftovers(app.remaining(), table);

  Flags given;
  for (const Setting& setting : table) {
    const CLI::Option* option = app.get_option("--" + setting.name);
    if (option->count() > 0) given[setting.name] = option->results().back();
  }
  return given;
}

bool same_path(const std::string& a, const std::string& b) {
  return fs::weakly_canonical(a + "/") == fs::weakly_canonical(b + "/");
}

// What --resume goes on with: the directory's own configuration under the flags.
Config resumed_config(const Flags& flags, const Config& call, const ValidNames& valid) {
  RENAR_USAGE(
      call.config.empty() && !call.overwrite,
      "--resume continues a run with its own config.toml: leave out --config and --overwrite");
  RENAR_USAGE(call.out.empty() || same_path(call.out, call.resume),
              "--resume {} writes to that directory: leave out --out {}", call.resume, call.out);
  Config there = read_run_config(call.resume, valid);
  Config config = there;
  apply_flags(flags, config, valid);
  config.out = config.resume;
  complete(config, valid);
  there.steps = std::max(there.steps, config.steps);  // raising it is the one change allowed
  const std::string difference = config_difference(there, config);
  RENAR_USAGE(difference.empty(), "--resume {} has another configuration: {}", config.resume,
              difference);
  return config;
}

}  // namespace

std::optional<Flags> read_flags(int argc, const char* const* argv, const ValidNames& valid) {
  const std::optional<Flags> flags = parse_flags(argc, argv, settings(valid));
  Config unused;
  if (flags) apply_flags(*flags, unused, valid);  // a wrong value is named before a file is opened
  return flags;
}

void apply_flags(const Flags& flags, Config& config, const ValidNames& valid) {
  for (const Setting& setting : settings(valid)) {
    const auto value = flags.find(setting.name);
    if (value == flags.end()) continue;
    set_from_text(setting, value->second, "--" + setting.name, config);
  }
}

Config run_config(const Flags& flags, const ValidNames& valid) {
  Config call;
  apply_flags(flags, call, valid);
  RENAR_USAGE(!call.table, "--table prints the table of a sweep: it needs --sweep FILE");
  if (!call.resume.empty()) return resumed_config(flags, call, valid);
  Config config;
  if (!call.config.empty()) apply_toml(call.config, settings(valid), config);
  apply_flags(flags, config, valid);
  complete(config, valid);
  return config;
}

void complete(Config& config, const ValidNames& valid) {
  RENAR_USAGE(!config.algo.empty(), "--algo is missing; valid: {}, all", join(valid.algorithms));
  if (config.algo[0] == kAll && config.algo.size() == 1) config.algo = valid.all;
  RENAR_USAGE(std::find(config.algo.begin(), config.algo.end(), kAll) == config.algo.end(),
              "--algo all stands alone: give it without other names");
  complete_method(config);
  RENAR_USAGE(config.heads == 1 || config.processor.starts_with("gat"),
              "--heads {}: {} has no attention; gat, gat_full, gatv2 and gatv2_full have",
              config.heads, config.processor);
  RENAR_USAGE(config.hidden % config.heads == 0,
              "--heads {} does not divide --hidden {}: each head has a part of the features",
              config.heads, config.hidden);
  RENAR_USAGE(!config.freeze_processor || !config.init_from.empty(),
              "--freeze-processor needs --init-from: a processor that never learns is to come from "
              "a run");
  RENAR_USAGE(config.method == "baseline" || config.hint_mode == "encoded_decoded",
              "--method {} recovers the hints that are read: it needs --hint-mode encoded_decoded",
              config.method);
  RENAR_USAGE(config.hint_teacher_forcing == 0 || config.hint_mode == "encoded_decoded",
              "--hint-teacher-forcing {} needs --hint-mode encoded_decoded: no hints are read in "
              "{}",
              config.hint_teacher_forcing, config.hint_mode);
  const Config standard;
  RENAR_USAGE(config.chunked || config.chunk_length == standard.chunk_length,
              "--chunk-length {} is of --chunked: give it too", config.chunk_length);
  RENAR_USAGE(config.chunked || config.chunk_state == standard.chunk_state,
              "--chunk-state {} is of --chunked: give it too", config.chunk_state);
  RENAR_USAGE(!config.chunked || config.method == "baseline",
              "--chunked trains --method baseline: {} recovers hints of whole trajectories",
              config.method);
  RENAR_USAGE(!config.chunked || config.data_stream == "own",
              "--chunked takes batches as its chunks need them, not in the order of --data-stream "
              "{}: use own",
              config.data_stream);
  if (config.out.empty()) config.out = "runs/" + directory_name(config, valid);
}

std::string directory_name(const Config& config, const ValidNames& valid) {
  return fmt::format("{}-{}-{}", run_name(config.algo, valid), config.method, config.seed);
}

void complete_method(Config& config) {
  const bool masks = config.method == "mrenar", recovers = config.method != "baseline";
  if (config.mask_ratio == kOfMethod) config.mask_ratio = masks ? kMrenarRatio : 0;
  if (config.rec_weight == kOfMethod) {
    config.rec_weight = masks ? kMrenarWeight : recovers ? kRenarWeight : 0;
  }
  RENAR_USAGE(masks || (config.mask_ratio == 0 && config.mask_rounds == 0),
              "--mask-ratio and --mask-rounds are of --method mrenar, not of {}", config.method);
  RENAR_USAGE(!masks || config.mask_ratio >= kLeastMaskRatio,
              "--mask-ratio {}: mrenar hides a share of at least {}; without any it is renar",
              config.mask_ratio, kLeastMaskRatio);
  RENAR_USAGE(recovers || config.rec_weight == 0,
              "--rec-weight is of --method renar, mrenar and renar-linear, not of baseline");
}

Config read_run_config(const std::string& directory, const ValidNames& valid) {
  const std::string path = directory + "/config.toml";
  std::error_code error;
  RENAR_USAGE(fs::is_directory(directory, error), "there is no run directory {}", directory);
  const bool is_there = fs::is_regular_file(path, error);
  RENAR_USAGE(is_there || !error || error == std::errc::no_such_file_or_directory,
              "cannot read {}: {}", path, error.message());
  RENAR_USAGE(is_there, "{} is not a run directory: it has no config.toml", directory);
  Config config;
  apply_toml(path, settings(valid), config);
  RENAR_USAGE(!config.algo.empty(), "{} is incomplete: it has no algo", path);
  complete_method(config);
  return config;
}

std::string run_name(const std::vector<std::string>& algorithms, const ValidNames& valid) {
  if (algorithms.size() > 1 && algorithms == valid.all) return kAll;
  const std::string name = join(algorithms, "+");
  return name.size() <= kLongestName ? name : fmt::format("{}-algorithms", algorithms.size());
}

std::string config_difference(const Config& there, const Config& here) {
  std::vector<std::string> differences;
  for (const Setting& setting : settings({})) {
    if (setting.group == Group::kMachine || setting.group == Group::kCall) continue;
    const std::string a = toml_of(setting, there), b = toml_of(setting, here);
    if (a != b) differences.push_back(fmt::format("{}: {} there, {} here", setting.name, a, b));
  }
  return join(differences, "; ");
}

}  // namespace renar

#include "trainer/sweep_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "core/check.h"
#include "core/text.h"
#include "trainer/config_toml.h"
#include "trainer/ledger.h"
#include "trainer/settings.h"

namespace renar {
namespace {

constexpr const char* kGrid = "[grid]";
constexpr const char* kVariant = "[[variant]]";
constexpr double kMostRuns = 100000;
constexpr std::size_t kLongestDirectory = 200;  // file systems take 255 bytes
constexpr const char* kDefaultLedger = "results/ledger.jsonl";

/// A setting and the values that it takes in turn.
struct Axis {
  const Setting* setting;
  std::vector<const toml::node*> values;
  std::vector<std::string> texts;  // the same as a flag would have them
};
using Axes = std::vector<Axis>;  // in the order of the file

struct SweepFile {
  Config common;
  Axes grid;
  std::vector<Axes> variants;  // at least one, that may be empty
};

/// One value of an axis.
struct Choice {
  const Axis* axis;
  std::size_t value;
  const std::string& name() const { return axis->setting->name; }
  const std::string& text() const { return axis->texts[value]; }
  std::string shown() const { return text().empty() ? "default" : text(); }
};
using Choices = std::vector<Choice>;

/// Whether its value is a list and nothing else.
bool is_list(const Setting& setting) {
  return std::holds_alternative<std::vector<int> Config::*>(setting.member) ||
         std::holds_alternative<std::vector<double> Config::*>(setting.member);
}

bool takes_list(const Setting& setting) {
  return is_list(setting) ||
         std::holds_alternative<std::vector<std::string> Config::*>(setting.member);
}

// ---- reading ----------------------------------------------------------------------------------

class Reader {
 public:
  Reader(const std::string& path, const Flags& flags, const ValidNames& valid)
      : path_(path), flags_(flags), table_(settings(valid)), toml_(parse_toml(path)) {
    for (const auto& [key, node] : toml_) read_top(std::string(key.str()), node);
    if (file_.variants.empty()) file_.variants.emplace_back();
    RENAR_USAGE(!file_.grid.empty() || !file_.variants[0].empty(),
                "{} has no [grid] with lists of values: a single run takes --config", path_);
    apply_flags(flags_, file_.common, valid);
    file_.common.out.clear();
  }

  const SweepFile& file() const { return file_; }

 private:
  void read_top(const std::string& key, const toml::node& node) {
    if (key == "grid") {
      RENAR_USAGE(node.is_table(),
                  "{}: grid is a table of lists: [grid], then lines like "
                  "seed = [1, 2]",
                  path_);
      file_.grid = axes_of(*node.as_table(), kGrid);
    } else if (key == "variant") {
      const toml::array* list = node.as_array();
      RENAR_USAGE(list != nullptr && node.is_array_of_tables(),
                  "{}: each variant is a table of its own: [[variant]]", path_);
      for (const toml::node& variant : *list) {
        file_.variants.push_back(axes_of(*variant.as_table(), kVariant));
      }
    } else {
      RENAR_USAGE(!node.is_table() && !node.is_array_of_tables(),
                  "{}: [{}] is not a part of a sweep; did you mean {}?", path_, key,
                  nearest_match(key, std::vector<std::string>{kGrid, kVariant}));
      const Setting& setting = find_setting(table_, key, path_);
      note(setting, "the top lines", key);
      RENAR_USAGE(!node.is_array() || takes_list(setting),
                  "{}: {} has one value here; a list of values belongs under [grid]", path_, key);
      set_from_toml(setting, node, fmt::format("{}: {}", path_, key), file_.common);
    }
  }

  /// The lists of a table in the order in which they stand in the file.
  Axes axes_of(const toml::table& table, const std::string& part) {
    std::vector<std::pair<std::string, const toml::node*>> lines;
    for (const auto& [key, node] : table) lines.emplace_back(key.str(), &node);
    const auto place = [](const toml::node* node) {
      return std::pair(node->source().begin.line, node->source().begin.column);
    };
    std::sort(lines.begin(), lines.end(),
              [&](const auto& a, const auto& b) { return place(a.second) < place(b.second); });
    RENAR_USAGE(!lines.empty(), "{}: {} is empty: it takes lines like seed = [1, 2]", path_, part);
    Axes axes;
    for (const auto& [key, node] : lines) {
      axes.push_back(axis_of(key, *node, part));
      const Axis& last = axes.back();
      for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
        RENAR_USAGE(axes[i].setting != last.setting, "{}: {} has {} twice", path_, part, key);
      }
    }
    return axes;
  }

  Axis axis_of(const std::string& key, const toml::node& node, const std::string& part) {
    const Setting& setting = find_setting(table_, key, path_);
    const std::string place = fmt::format("{}: {} in {}", path_, key, part);
    RENAR_USAGE(setting.group != Group::kMachine,
                "{} changes nothing that is computed: give it at the top of the file", place);
    RENAR_USAGE(!flags_.contains(setting.name),
                "{} and the flag --{} say different things: leave "
                "out one of the two",
                place, setting.name);
    note(setting, part, key);
    Axis axis{&setting, {}, {}};
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& value : *list) axis.values.push_back(&value);
    } else {
      axis.values.push_back(&node);
    }
    RENAR_USAGE(!axis.values.empty(), "{} is an empty list: it needs a value", place);
    for (const toml::node* value : axis.values) {
      RENAR_USAGE(!is_list(setting) || value->is_array(),
                  "{} needs a list for each run: [[4, 7], [16]] is two runs", place);
      Config scratch;
      set_from_toml(setting, *value, place, scratch);
      const std::string text = text_of(setting, scratch);
      RENAR_USAGE(std::find(axis.texts.begin(), axis.texts.end(), text) == axis.texts.end(),
                  "{} has {} twice", place, text);
      axis.texts.push_back(text);
    }
    return axis;
  }

  /// What is in the grid stands nowhere else; a variant may have its own value of what the top has.
  void note(const Setting& setting, const std::string& part, const std::string& key) {
    std::set<std::string>& parts = parts_of_[setting.name];
    const bool again = !parts.insert(part).second;
    RENAR_USAGE(!again || part == kVariant, "{}: {} stands twice in {}", path_, key, part);
    for (const std::string& other : parts) {
      const bool fine = other == part || (other != kGrid && part != kGrid);
      RENAR_USAGE(fine, "{}: {} stands in {} and in {}: leave out one", path_, key, other, part);
    }
  }

  const std::string& path_;
  const Flags& flags_;
  std::vector<Setting> table_;
  toml::table toml_;  // lives as long as the axes that point into it
  SweepFile file_;
  std::map<std::string, std::set<std::string>> parts_of_;
};

// ---- combinations -----------------------------------------------------------------------------

double combinations(const Axes& axes) {
  double count = 1;
  for (const Axis& axis : axes) count *= static_cast<double>(axis.values.size());
  return count;
}

/// Calls `use` with every combination of the axes from number `first` on, the last axis fastest.
void for_each_combination(const Axes& axes, Choices& chosen, std::size_t first,
                          const std::function<void()>& use) {
  if (first == axes.size()) return use();
  for (std::size_t value = 0; value < axes[first].values.size(); ++value) {
    chosen.push_back({&axes[first], value});
    for_each_combination(axes, chosen, first + 1, use);
    chosen.pop_back();
  }
}

/// All runs as choices: for each combination of the grid all of every variant.
std::vector<Choices> all_choices(const SweepFile& file) {
  std::vector<Choices> all;
  Choices chosen;
  for_each_combination(file.grid, chosen, 0, [&] {
    for (const Axes& variant : file.variants) {
      for_each_combination(variant, chosen, 0, [&] { all.push_back(chosen); });
    }
  });
  return all;
}

/// "mpnn" where the words of the setting say what they are about, else "lr=0.001".
std::string label_of(const Choice& choice) {
  const bool says_it = !choice.axis->setting->choices.empty();
  return says_it ? choice.shown() : choice.name() + "=" + choice.shown();
}

/// "dfs-baseline-2" and what else the file chooses: "dfs-baseline-2-lr=0.001".
std::string folder_of(const Choices& choices, const Config& config, const ValidNames& valid) {
  std::string folder = directory_name(config, valid);
  for (const Choice& choice : choices) {
    const std::string& name = choice.name();
    if (name == "algo" || name == "method" || name == "seed") continue;
    folder += "-" + name + "=" + choice.shown();
  }
  std::replace(folder.begin(), folder.end(), '/', '_');
  return folder.substr(0, kLongestDirectory);
}

SweepRun run_of(const Choices& choices, const SweepFile& file, const ValidNames& valid) {
  SweepRun run;
  run.config = file.common;
  std::vector<std::string> parts, columns;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[i];
    const Setting& setting = *choice.axis->setting;
    set_from_toml(setting, *choice.axis->values[choice.value], setting.name, run.config);
    const bool varies = i >= file.grid.size() || choice.axis->values.size() > 1;
    if (!varies && setting.name != "algo") continue;
    parts.push_back(setting.name + "=" + choice.shown());
    if (setting.name != "algo" && setting.name != "seed") columns.push_back(label_of(choice));
  }
  run.name = join(parts, " ");
  try {
    complete(run.config, valid);
  } catch (const UsageError& error) {
    if (run.name.empty()) throw;
    throw UsageError(message_of("run \"{}\": {}", run.name, error.what()));
  }
  if (run.config.algo.size() > 1) {
    columns.insert(columns.begin(), run_name(run.config.algo, valid));
  }
  run.column = join(columns, " ");
  if (run.name.empty()) run.name = directory_name(run.config, valid);
  run.config.out = folder_of(choices, run.config, valid);
  run.hash = config_hash(run.config);
  return run;
}

/// No two runs are the same; no two are in one folder.
void set_apart(std::vector<SweepRun>& runs, const std::string& path, const std::string& parent) {
  std::map<std::string, const SweepRun*> by_hash;
  std::map<std::string, int> folders;
  for (const SweepRun& run : runs) {
    const auto [place, is_new] = by_hash.try_emplace(run.hash, &run);
    RENAR_USAGE(is_new, "{}: the runs \"{}\" and \"{}\" are the same: leave out one", path,
                place->second->name, run.name);
    ++folders[run.config.out];
  }
  for (SweepRun& run : runs) {
    if (folders[run.config.out] > 1) run.config.out += "-" + run.hash;
    run.config.out = (std::filesystem::path(parent) / run.config.out).string();
  }
}

}  // namespace

Sweep read_sweep(const Flags& flags, const ValidNames& valid) {
  Config call;
  apply_flags(flags, call, valid);
  RENAR_USAGE(call.resume.empty(),
              "--resume continues one run: a sweep goes on by the same call, without it");
  RENAR_USAGE(call.config.empty(), "--sweep {} has the settings of its runs: leave out --config",
              call.sweep);
  const Reader reader(call.sweep, flags, valid);
  const SweepFile& file = reader.file();
  double count = 0;
  for (const Axes& variant : file.variants)
    count += combinations(file.grid) * combinations(variant);
  RENAR_USAGE(count <= kMostRuns, "{} has {} runs, more than {}: split it", call.sweep,
              fmt::format("{:.10g}", count), static_cast<int>(kMostRuns));

  Sweep sweep{.ledger = call.ledger.empty() ? kDefaultLedger : call.ledger,
              .table_only = call.table,
              .overwrite = call.overwrite,
              .quiet = call.quiet,
              .runs = {}};
  try {
    for (const Choices& choices : all_choices(file)) {
      sweep.runs.push_back(run_of(choices, file, valid));
    }
  } catch (const UsageError& error) {
    throw UsageError(message_of("{}: {}", call.sweep, error.what()));
  }
  set_apart(sweep.runs, call.sweep, call.out.empty() ? "runs" : call.out);
  return sweep;
}

}  // namespace renar

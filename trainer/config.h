// Everything a training run can be told, and the three ways it is said: flags, a TOML file, and the
// config.toml of a run directory. A sweep's file says it of many runs (sweep_file.h).
//
// Settings are of three kinds. The configuration decides what is computed: a run directory is
// continued only by the same configuration. The machine settings (device, threads, memory-budget,
// checkpoint-every) are written down too but may differ. The settings of one call (out, resume,
// config, sweep, quiet and so on) are flags only. The list itself stands once, in settings.cpp.
//
// --steps belongs to the configuration; only --resume DIR --steps MORE may raise it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace renar {

/// A number that stands for the method's own until the arguments are complete.
constexpr double kOfMethod = -1;

struct Config {
  // what is trained
  std::vector<std::string> algo;    // "all" has become the 30 of CLRS-30
  std::string method = "baseline";  // or renar, mrenar, renar-linear
  std::string processor = "triplet_gmpnn";
  double mask_ratio = kOfMethod;  // beta of mrenar
  int mask_rounds = 0;            // 0: by the ratio
  double rec_weight = kOfMethod;  // lambda of L_rec
  std::string masking = "paper";  // or authors

  // model
  int hidden = 128;
  int triplet_fts = 8;
  int heads = 1;  // of attention, for gat* alone
  int nb_msg_passing_steps = 1;
  bool no_ln = false;
  bool lstm = false;
  double dropout = 0;
  std::string encoder_init = "xavier_on_scalars";  // or default
  std::string hint_mode = "encoded_decoded";       // or decoded_only, none
  std::string hint_repred_mode = "soft";           // or hard, hard_on_eval
  double hint_teacher_forcing = 0;
  bool freeze_processor = false;
  std::string precision = "fp32";  // of a GPU's products: or tf32, bf16

  // training
  int steps = 10000;
  int batch = 32;
  double lr = 1e-3;
  double clip = 1.0;  // largest global norm of the gradient; 0: no clipping
  std::uint32_t seed = 42;
  std::vector<int> train_lengths = {4, 7, 11, 13, 16};
  std::string init_from;              // a file of parameters to begin with; empty: random ones
  bool chunked = false;               // trajectories in parts of chunk_length frames
  int chunk_length = 16;              // frames an update, of every slot
  std::string chunk_state = "carry";  // or reset

  // data
  std::string data_stream = "own";  // or clrs
  std::vector<double> p;            // edge probabilities; empty: the algorithm's
  int length_needle = -8;           // of the string matchers (algos/samplers.h)
  bool no_random_pos = false;
  bool no_permutations = false;
  bool no_pred_as_input = false;

  // evaluation
  int eval_every = 50;
  int val_length = 0;   // 0: each algorithm's longest training length
  int val_samples = 0;  // 0: as the field's example run has
  std::vector<int> test_lengths = {64};
  int test_samples = 0;  // 0: as many as the CLRS-30 split has
  bool oracle = false;   // score the test sets at every validation, too

  // machine
  std::string device = "auto";
  int threads = 0;        // 0: all cores
  int memory_budget = 0;  // MiB that backward may need; 0: half of the device's memory
  int checkpoint_every = 50;

  // this call
  std::string out;     // empty until the arguments are parsed, then runs/<run_name>-<method>-<seed>
  std::string resume;  // a run directory; out is the same then
  std::string config;
  std::string sweep;   // a file of many runs
  bool table = false;  // of that file's results, without running anything
  std::string ledger;  // empty: none for a single run, results/ledger.jsonl for a sweep
  bool overwrite = false;
  bool quiet = false;
  bool profile = false;  // of a few steps, into the run's directory
};

/// The words that settings of open sets may take; the tables of algos and nn know them.
struct ValidNames {
  std::vector<std::string> algorithms;
  std::vector<std::string> all;  // those that --algo all means
  std::vector<std::string> processors;
};

/// The flags of a call by setting name, each with its value as text; a switch has "true".
using Flags = std::map<std::string, std::string>;

/// The flags of a call of renar_train. Empty if --help or --version was asked for (the text has
/// been printed to stdout). Throws UsageError, one line, for an unknown flag, one that is given
/// twice, or a value that its setting does not take.
std::optional<Flags> read_flags(int argc, const char* const* argv, const ValidNames& valid);

/// Puts the flags over a configuration.
void apply_flags(const Flags& flags, Config& config, const ValidNames& valid);

/// The complete, checked configuration of a single run. In order of weight: flags, the --config
/// file or the config.toml of --resume, defaults. Throws UsageError, one line, if the call is
/// wrong.
Config run_config(const Flags& flags, const ValidNames& valid);

/// Fills in what follows from the rest (the algorithms that "all" means, the directory) and refuses
/// what no single setting can know: no algorithm, settings that contradict each other.
void complete(Config& config, const ValidNames& valid);

/// What a run's directory is called: "dfs-baseline-42".
std::string directory_name(const Config& config, const ValidNames& valid);

/// Puts the method's own numbers where kOfMethod stands. Throws UsageError where what is given
/// belongs to another method.
void complete_method(Config& config);

/// What to call a run of these algorithms: "dfs", "bfs+dfs", or "all" and "7-algorithms" where the
/// names would be too long.
std::string run_name(const std::vector<std::string>& algorithms, const ValidNames& valid);

/// The text of config.toml: every setting but those of one call, defaults included, grouped.
std::string config_text(const Config& config);

/// The configuration of a run directory, from its config.toml. Throws UsageError if the file is
/// missing or not a configuration of this program. What it does not name has its default: the
/// call's settings, and those that there were not yet when the run began.
Config read_run_config(const std::string& directory, const ValidNames& valid);

/// Where two configurations differ: "lr: 0.001 there, 0.01 here; batch: 32 there, 16 here". Empty
/// if they are the same but for the machine's and the call's settings.
std::string config_difference(const Config& there, const Config& here);

}  // namespace renar

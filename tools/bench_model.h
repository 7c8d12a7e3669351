// What `renar_bench step` and `kernels` share: a model, a batch of CLRS-30 samples, and its update.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "algos/dataset.h"
#include "algos/pipeline.h"
#include "algos/training_stream.h"
#include "nn/shard_runner.h"
#include "tools/numbers.h"
#include "trainer/batch.h"
#include "trainer/machine.h"
#include "trainer/net_in_training.h"
#include "trainer/train.h"

namespace renar {

struct ModelOptions {
  std::string algo = "dfs";
  Config config;  // the model
  std::optional<int> length;
  int batch = 32, threads = 0;
  std::string device = "cpu";
};

constexpr Range kPositive = {.low = 1, .high = 1 << 20};

inline void add_device(CLI::App& command, std::string& device, std::string& precision) {
  add_word(command, "--device", device, "device", "where to compute; simt is slow");
  add_word(command, "--precision", precision, "precision", "of a GPU's products");
}

/// The flags that say what the model and the batch are.
inline void add_model(CLI::App& command, ModelOptions& o) {
  command.add_option("--algo", o.algo, "algorithm")->capture_default_str();
  command.add_option("--processor", o.config.processor, "processor kind")->capture_default_str();
  add_word(command, "--method", o.config.method, "method", "what trains the encoder");
  add_values(command, "--mask-ratio", o.config.mask_ratio, range_of("mask-ratio"),
             "of mrenar; default: 0.3");
  add_values(command, "--mask-rounds", o.config.mask_rounds, range_of("mask-rounds"),
             "of mrenar; default: by the ratio");
  add_word(command, "--masking", o.config.masking, "masking", "of mrenar: what a round hides");
  add_values(command, "--length", o.length, kPositive,
             "nodes; default: the longest that is trained on, 16, of string matchers 20");
  add_values(command, "--batch", o.batch, kPositive, "samples");
  add_values(command, "--hidden", o.config.hidden, kPositive, "hidden units");
  add_values(command, "--memory-budget", o.config.memory_budget, range_of("memory-budget"),
             "MiB that a step keeps for backward; 0: half of the memory");
}

class BenchedModel {
 public:
  BenchedModel(const ModelOptions& options, const Machine& machine)
      : config_(completed(options.config)),
        algorithm_(find_algorithm(options.algo)),
        length_(options.length.value_or(longest_in_training(algorithm_))),
        net_(options.algo, spec_after(pipeline_, algorithm_), net_options(config_)),
        runner_(machine.threads, machine.device, machine.precision),
        trained_(net_, runner_, {.learning_rate = 1e-3, .clip = 1.0}) {
    runner_.limit_memory(memory_budget(machine.device, config_.memory_budget));
    NumpyRandom positions(1);
    TraceBatch traces = make_dataset(algorithm_, length_, options.batch, 1, algorithm_.training);
    apply(pipeline_, algorithm_, traces, positions);
    fill_batch(net_.spec(), traces, batch_);
  }

  void update() { trained_.update(batch_); }
  void predict() { runner_.predict(trained_.placed(), batch_, predictions_); }

  const Config& config() const { return config_; }
  const Batch& batch() const { return batch_; }
  int length() const { return length_; }  // nodes

 private:
  static int longest_in_training(const Algorithm& algorithm) {
    const std::vector<int> lengths = training_lengths(algorithm, Config().train_lengths);
    return *std::max_element(lengths.begin(), lengths.end());
  }
  static Config completed(Config config) {
    complete_method(config);
    return config;
  }

  const Pipeline pipeline_;  // as renar_train has it
  Config config_;
  const Algorithm& algorithm_;
  const int length_;
  Net net_;
  Batch batch_;
  ShardRunner runner_;
  NetInTraining trained_;
  Predictions predictions_;
};

}  // namespace renar

// Flags, config files and run directories: what is accepted, what is refused and in which words.
#include "trainer/config.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/check.h"

namespace renar::config_test {
namespace {

namespace fs = std::filesystem;

const ValidNames kValid = {
    {"bfs", "dfs", "other"}, {"bfs", "dfs"}, {"mpnn", "pgn", "triplet_gmpnn", "gat"}};

Config parse(std::vector<const char*> words) {
  words.insert(words.begin(), "renar_train");
  const Flags flags = read_flags(static_cast<int>(words.size()), words.data(), kValid).value();
  return run_config(flags, kValid);
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// A directory that goes away with the test.
struct TemporaryDirectory {
  TemporaryDirectory() {
    path = fs::temp_directory_path() / ("renar_config_test_" + std::to_string(::getpid()));
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~TemporaryDirectory() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  fs::path path;
};

TEST_CASE("config: defaults are the paper's settings") {
  const Config config = parse({"--algo", "dfs"});
  CHECK(config.algo == std::vector<std::string>{"dfs"});
  CHECK(config.processor == "triplet_gmpnn");
  CHECK(config.hidden == 128);
  CHECK(config.triplet_fts == 8);
  CHECK(config.encoder_init == "xavier_on_scalars");
  CHECK(config.steps == 10000);
  CHECK(config.batch == 32);
  CHECK(config.lr == 1e-3);
  CHECK(config.clip == 1.0);
  CHECK(config.train_lengths == std::vector<int>{4, 7, 11, 13, 16});
  CHECK(config.val_length == 0);
  CHECK(config.test_lengths == std::vector<int>{64});
  CHECK(config.p.empty());
  CHECK(config.out == "runs/dfs-baseline-42");
}

TEST_CASE("config: flags take hyphens or underscores, blanks or =") {
  const Config config =
      parse({"--algo=bfs", "--nb_msg_passing_steps", "2", "--train_lengths=4,8", "--lr=1e-4", "--p",
             "0.1,0.5", "--no_ln", "--seed", "4294967295", "--clip", "0", "--out", "a_b"});
  CHECK(config.algo == std::vector<std::string>{"bfs"});
  CHECK(config.nb_msg_passing_steps == 2);
  CHECK(config.train_lengths == std::vector<int>{4, 8});
  CHECK(config.lr == 1e-4);
  CHECK(config.p == std::vector<double>{0.1, 0.5});
  CHECK(config.no_ln);
  CHECK(config.seed == 4294967295U);
  CHECK(config.clip == 0);
  CHECK(config.out == "a_b");
}

TEST_CASE("config: a wrong call gets one line that names what is valid") {
  CHECK(refusal({}) == "--algo is missing; valid: bfs, dfs, other, all");
  CHECK(refusal({"--algo", "dsf"}) ==
        "--algo does not know \"dsf\"; did you mean \"dfs\"? Valid: bfs, dfs, other, all");
  CHECK(refusal({"--algo", "dfs", "--processor", "pgm"}) ==
        "--processor does not know \"pgm\"; did you mean \"pgn\"? Valid: mpnn, pgn, triplet_gmpnn, "
        "gat");
  CHECK(refusal({"--algo", "dfs", "--bacth=4"})
            .starts_with("unknown flag --bacth; did you mean --batch? Valid: --algo, --method"));
  CHECK(refusal({"--algo", "dfs", "-x"}).starts_with("unknown flag -x;"));
  CHECK(
      refusal({"--algo", "dfs", "--train-lengths", "4", "7"}).starts_with("stray argument \"7\""));
  CHECK(refusal({"--algo", "dfs", "--device", "gpu"}).find("--device") == 0);
}

TEST_CASE("config: several algorithms, and all of them") {
  using Names = std::vector<std::string>;
  CHECK(parse({"--algo", "dfs,bfs"}).algo == Names{"dfs", "bfs"});
  CHECK(parse({"--algo", "dfs,bfs"}).out == "runs/dfs+bfs-baseline-42");
  CHECK(parse({"--algo", "all"}).algo == Names{"bfs", "dfs"});  // not the other
  CHECK(parse({"--algo", "all"}).out == "runs/all-baseline-42");
  CHECK(parse({"--algo", "other"}).out == "runs/other-baseline-42");
  CHECK(refusal({"--algo", "dfs,all"}) == "--algo all stands alone: give it without other names");
  CHECK(refusal({"--algo", "dfs,dfs"}) == "--algo has dfs twice");
  CHECK(refusal({"--algo", "dfs,"}) == "--algo must not be empty");
  CHECK(run_name(Names(9, "a_long_name"), kValid) == "9-algorithms");
}

TEST_CASE("config: a method brings its own numbers and refuses another's") {
  struct Numbers {
    const char* method;
    double ratio, weight;
  };
  for (const Numbers& n : {Numbers{"baseline", 0, 0},
                           {"renar", 0, 0.1},
                           {"renar-linear", 0, 0.1},
                           {"mrenar", 0.3, 1}}) {
    const Config config = parse({"--algo", "dfs", "--method", n.method});
    CHECK(config.mask_ratio == n.ratio);
    CHECK(config.rec_weight == n.weight);
    CHECK(config.masking == "paper");
    CHECK(config.out == std::string("runs/dfs-") + n.method + "-42");
  }
  const Config given = parse({"--algo", "dfs", "--method", "mrenar", "--mask-ratio", "0.7",
                              "--rec-weight", "0", "--mask-rounds", "2", "--masking", "authors"});
  CHECK(given.mask_ratio == 0.7);
  CHECK(given.rec_weight == 0);
  CHECK(given.mask_rounds == 2);
  CHECK(refusal({"--algo", "dfs", "--method", "renar", "--mask-ratio", "0.5"}) ==
        "--mask-ratio and --mask-rounds are of --method mrenar, not of renar");
  CHECK(refusal({"--algo", "dfs", "--mask-rounds", "2"}).find("not of baseline") < 100);
  CHECK(refusal({"--algo", "dfs", "--rec-weight", "1"}).starts_with("--rec-weight is of"));
  CHECK(refusal({"--algo", "dfs", "--method", "mrenar", "--mask-ratio", "1"})
            .starts_with("--mask-ratio takes a number from 0 to 0.999"));
  CHECK(refusal({"--algo", "dfs", "--method", "ranar"}).find("did you mean \"renar\"") < 100);
}

TEST_CASE("config: a processor that never learns must come from somewhere") {
  CHECK(refusal({"--algo", "dfs", "--freeze-processor"}).starts_with("--freeze-processor needs"));
  CHECK(parse({"--algo", "dfs", "--freeze-processor", "--init-from", "x.npz"}).freeze_processor);
}

TEST_CASE("config: values out of range are refused") {
  const std::vector<std::pair<const char*, std::vector<const char*>>> wrong = {
      {"--batch", {"0", "-1", "abc", "1.5", "", "32x", " 32", "99999999999"}},
      {"--steps", {"-1", "0", "1e3"}},
      {"--lr", {"-1", "0", "nan", "inf", "1e-999", "fast"}},
      {"--clip", {"-0.1", "nan"}},
      {"--seed", {"-1", "4294967296"}},
      {"--train-lengths", {"0", "abc", "4,,7", "4,", "", "4,4", "4;7", "5000"}},
      {"--test-lengths", {"64,64", "-64"}},
      {"--p", {"0", "1.5", "-0.5", "0.1,nan"}},
      {"--threads", {"-2"}},
      {"--hint-repred-mode", {"", "sofd"}},
      {"--hint-mode", {"", "encoded", "all"}},
      {"--hint-teacher-forcing", {"-0.1", "1.5", "nan", "always"}},
      {"--dropout", {"-0.1", "1", "1.5", "nan", ""}},
      {"--heads", {"0", "-1", "1.5", "2000"}},
      {"--chunk-length", {"1", "0", "-3", "2.5", ""}},
      {"--chunk-state", {"", "keep"}},
      {"--out", {""}},
  };
  for (const auto& [flag, values] : wrong) {
    for (const char* value : values) {
      const std::string text = refusal({"--algo", "dfs", flag, value});
      INFO(flag, " ", value, " -> ", text);
      CHECK(text.starts_with(flag));
      CHECK(text.find('\n') == std::string::npos);
    }
  }
  CHECK(refusal({"--algo", "dfs", "--batch", "0"}) ==
        "--batch takes a whole number from 1 to 65536, got \"0\"");
  CHECK(refusal({"--algo", "dfs", "--p", "0.5,2"}) ==
        "--p takes numbers above 0 and up to 1 with commas between them, got \"0.5,2\"");
  CHECK(refusal({"--algo", "dfs", "--dropout", "1"}) ==
        "--dropout takes a number from 0 to below 1, got \"1\"");
  CHECK(refusal({"--algo", "dfs", "--batch"}).ends_with("from 1 to 65536, got \"\""));
  CHECK(refusal({"--algo", "dfs", "--batch", "--lr", "1"}).starts_with("--batch takes"));
  CHECK(refusal({"--algo", "dfs", "--val_length", "2", "--val-length=2"}) ==
        "--val-length is given twice");
  CHECK(refusal({"--algo", "dfs", "--no-ln=maybe"}).find("--no-ln") == 0);
}

TEST_CASE("config: what one setting asks of another") {
  CHECK(parse({"--algo", "dfs", "--processor", "gat", "--heads", "4"}).heads == 4);
  CHECK(parse({"--algo", "dfs", "--hint-teacher-forcing", "1"}).hint_teacher_forcing == 1);
  CHECK(refusal({"--algo", "dfs", "--processor", "gat", "--heads", "3"}) ==
        "--heads 3 does not divide --hidden 128: each head has a part of the features");
  CHECK(refusal({"--algo", "dfs", "--heads", "4"}) ==
        "--heads 4: triplet_gmpnn has no attention; gat, gat_full, gatv2 and gatv2_full have");
  for (const char* mode : {"decoded_only", "none"}) {
    CHECK(parse({"--algo", "dfs", "--hint-mode", mode}).hint_mode == mode);
    CHECK(refusal({"--algo", "dfs", "--hint-mode", mode, "--hint-teacher-forcing", "0.5"})
              .starts_with("--hint-teacher-forcing 0.5 needs --hint-mode encoded_decoded"));
    CHECK(refusal({"--algo", "dfs", "--method", "renar", "--hint-mode", mode})
              .starts_with("--method renar recovers the hints that are read"));
  }
}

TEST_CASE("config: chunks and what goes with them") {
  const Config config = parse({"--algo", "dfs", "--chunked_training", "--chunk_length", "8"});
  CHECK(config.chunked);
  CHECK(config.chunk_length == 8);
  CHECK(config.chunk_state == "carry");
  CHECK(parse({"--algo", "dfs", "--chunked", "--chunk-state", "reset"}).chunk_state == "reset");
  CHECK(refusal({"--algo", "dfs", "--chunk-length", "8"}) ==
        "--chunk-length 8 is of --chunked: give it too");
  CHECK(refusal({"--algo", "dfs", "--chunk-state", "reset"}).ends_with("give it too"));
  CHECK(refusal({"--algo", "dfs", "--chunked", "--method", "mrenar"}) ==
        "--chunked trains --method baseline: mrenar recovers hints of whole trajectories");
  CHECK(refusal({"--algo", "dfs", "--chunked", "--data-stream", "clrs"}).ends_with("use own"));
}

TEST_CASE("config: the reference's names of flags") {
  const Config config = parse({"--algo", "dfs", "--processor", "gat", "--nb_heads=4", "--use_lstm",
                               "--dropout-prob", "0.25"});
  CHECK(config.heads == 4);
  CHECK(config.lstm);
  CHECK(config.dropout == 0.25);
  const Config renamed = parse({"--algorithms=bfs", "--batch_size=8", "--hidden_size=16",
                                "--learning_rate=0.01", "--train_steps=7", "--processor_type=gat",
                                "--nb_triplet_fts=4", "--grad_clip_max_norm=2"});
  const Config plain = parse({"--algo=bfs", "--batch=8", "--hidden=16", "--lr=0.01", "--steps=7",
                              "--processor=gat", "--triplet-fts=4", "--clip=2"});
  CHECK(config_difference(renamed, plain).empty());
  CHECK(refusal({"--algo", "dfs", "--lstm", "--use-lstm=false"}) == "--lstm is given twice");
  CHECK(refusal({"--algo", "dfs", "--nb-heads", "0"}).starts_with("--heads takes"));
}

TEST_CASE("config: what config.toml says is read back unchanged") {
  const TemporaryDirectory directory;
  const Config config = parse({"--algo",
                               "bfs",
                               "--lr",
                               "0.00012345678901234567",
                               "--no-ln",
                               "--p",
                               "0.1,0.30000000000000004",
                               "--test-lengths",
                               "16,64",
                               "--threads",
                               "3",
                               "--seed",
                               "7",
                               "--processor",
                               "gat",
                               "--heads",
                               "2",
                               "--lstm",
                               "--dropout",
                               "0.1",
                               "--hint-mode",
                               "encoded_decoded",
                               "--hint-teacher-forcing",
                               "0.3",
                               "--chunked",
                               "--chunk-length",
                               "9",
                               "--chunk-state",
                               "reset",
                               "--freeze-processor",
                               "--oracle",
                               "--init-from",
                               "a \"quoted\" \\ back\tslash.npz"});
  directory.write("config.toml", config_text(config));
  const Config again = read_run_config(directory.path.string(), kValid);
  CHECK(config_difference(config, again).empty());
  CHECK(again.init_from == config.init_from);
  CHECK(again.oracle);
  CHECK(again.lr == config.lr);
  CHECK(again.p == config.p);
  CHECK(again.threads == 3);
  CHECK(again.heads == 2);
  CHECK(again.lstm);
  CHECK(again.dropout == 0.1);
  CHECK(again.hint_teacher_forcing == 0.3);
  CHECK(again.freeze_processor);
  CHECK(again.chunked);
  CHECK(again.chunk_length == 9);
  CHECK(again.chunk_state == "reset");
  CHECK(config_text(again) == config_text(config));

  const Config plain = parse({"--algo", "bfs"});  // what is empty is read back empty
  directory.write("config.toml", config_text(plain));
  CHECK(read_run_config(directory.path.string(), kValid).init_from.empty());
  CHECK(config_difference(plain, config).find("init-from: \"\" there") != std::string::npos);
}

TEST_CASE("config: a run's file serves another method, whose own numbers then count") {
  const TemporaryDirectory directory;
  const std::vector<std::string> methods = {"baseline", "renar", "mrenar", "renar-linear"};
  for (const std::string& from : methods) {
    for (const std::string& to : methods) {
      const Config other = parse({"--algo", "bfs", "--method", to.c_str()});
      const std::string file = directory.write(
          "config.toml", config_text(parse({"--algo", "bfs", "--method", from.c_str()})));
      CHECK(config_difference(parse({"--config", file.c_str(), "--method", to.c_str()}), other)
                .empty());
    }
  }
  const std::string given =
      config_text(parse({"--algo", "bfs", "--method", "mrenar", "--rec-weight", "0.5"}));
  CHECK(given.find("\nrec-weight = 0.5 ") != std::string::npos);
  CHECK(given.find("\n# mask-ratio = 0.3 ") != std::string::npos);
}

TEST_CASE("config: what a run's file leaves out is what a call leaves out") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("config.toml", "algo = \"bfs\"\nmethod = \"renar\"\n");
  CHECK(config_difference(read_run_config(directory.path.string(), kValid),
                          parse({"--config", file.c_str()}))
            .empty());
}

TEST_CASE("config: a file may say of a setting that it is empty where that is its default") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("c.toml", "algo = \"bfs\"\np = []\ninit-from = \"\"\n");
  CHECK(config_difference(parse({"--config", file.c_str()}), parse({"--algo", "bfs"})).empty());
  const std::string never = directory.write("never.toml", "algo = \"bfs\"\ntrain-lengths = []\n");
  CHECK(refusal({"--config", never.c_str()}).find("train-lengths") != std::string::npos);
}

TEST_CASE("config: a file may have the reference's names, too, but not both") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("c.toml", "algo = \"bfs\"\nlearning_rate = 0.25\n");
  CHECK(parse({"--config", file.c_str()}).lr == 0.25);
  const std::string both =
      directory.write("both.toml", "algo = \"bfs\"\nlearning_rate = 1\nlr = 1\n");
  CHECK(refusal({"--config", both.c_str()}).find("stands twice") != std::string::npos);
}

TEST_CASE("config: flags outweigh the file, the file outweighs the defaults") {
  const TemporaryDirectory directory;
  const std::string file = directory.write(
      "c.toml", "algo = \"dfs\"\nlr = 1\ntrain_lengths = [4, 8]\nbatch = 16\nno-ln = true\n");
  const Config config = parse({"--config", file.c_str(), "--batch", "8", "--no-ln=false"});
  CHECK(config.algo == std::vector<std::string>{"dfs"});
  CHECK(config.lr == 1);
  CHECK(config.train_lengths == std::vector<int>{4, 8});
  CHECK(config.batch == 8);
  CHECK_FALSE(config.no_ln);
}

TEST_CASE("config: a wrong file is refused by file and key") {
  const TemporaryDirectory directory;
  std::string dotted = "a", many = "1";  // shares, a line each
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  for (int i = 1; i < 5000; ++i) many += ",\n" + std::to_string(i / 5000.0);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"bacth = 3", "bacth is not a setting; did you mean batch?"},
      {"batch = \"3\"", "batch must be a whole number"},
      {"batch = 3.0", "batch must be a whole number"},
      {"batch = 0", "batch takes a whole number from 1 to 65536, got \"0\""},
      {"lr = nan", "lr takes a number above 0 and up to 1000, got \"nan\""},
      {"lr = true", "lr must be a number"},
      {"no-ln = 1", "no-ln must be true or false"},
      {"processor = 3", "processor must be a text"},
      {"processor = \"gnn\"", "processor does not know \"gnn\""},
      {"train-lengths = 4", "train-lengths must be a list of numbers"},
      {"train-lengths = [4, \"7\"]", "train-lengths must be a list of numbers"},
      {"train-lengths = [4.5]", "train-lengths takes whole numbers"},
      {"train-lengths = []", "train-lengths takes whole numbers"},
      {"overwrite = true", "overwrite belongs to one call: give it as the flag --overwrite"},
      {"[model]\nhidden = 3", "model is not a setting"},
      {"train-lengths = [4]\ntrain_lengths = [5]", "stands twice"},
      {"batch = ", "line 1"},
      {"batch = 3\n" + std::string(100'000, 'a') + " = 1", std::string(60, 'a') + ".. is not"},
      {"algo = \"" + std::string(100'000, 'a') + "\"", std::string(60, 'a') + ".."},
      {"batch = 3\n" + dotted + "=1", "line 2 has more than 5000 dots"},
      {std::string(2 << 20, '#'), "has more than 1048576 bytes"},
      {"p = [" + many + "]", "has more than 4096 entries"},
  };
  for (const auto& [text, expected] : wrong) {
    const std::string file = directory.write("c.toml", text);
    const std::string refused = refusal({"--algo", "dfs", "--config", file.c_str()});
    INFO(text, " -> ", refused);
    CHECK(refused.find(file) == 0);
    CHECK(refused.find(expected) != std::string::npos);
    CHECK(refused.find('\n') == std::string::npos);
  }
  CHECK(refusal({"--algo", "dfs", "--config", "/nowhere/c.toml"}).find("/nowhere/c.toml") <
        std::string::npos);
}

TEST_CASE("config: two configurations differ only in what decides the result") {
  const Config a = parse({"--algo", "dfs"});
  const Config b = parse({"--algo", "dfs", "--lr", "0.01", "--batch", "16", "--p", "0.5"});
  CHECK(config_difference(a, b) ==
        "batch: 32 there, 16 here; lr: 0.001 there, 0.01 here; p: [] there, [0.5] here");
  const Config c = parse({"--algo", "dfs", "--threads", "2", "--quiet", "--out", "x", "--device",
                          "cpu", "--checkpoint-every", "7", "--memory-budget", "64"});
  CHECK(config_difference(a, c).empty());
}

TEST_CASE("config: --resume takes the run's own configuration and may raise the steps") {
  const TemporaryDirectory directory;
  const std::string run = directory.path.string();
  directory.write("config.toml",
                  config_text(parse({"--algo", "bfs", "--steps", "100", "--batch", "8"})));

  const Config config = parse({"--resume", run.c_str(), "--threads", "2", "--steps", "200"});
  CHECK(config.algo == std::vector<std::string>{"bfs"});
  CHECK(config.batch == 8);
  CHECK(config.steps == 200);
  CHECK(config.out == run);
  CHECK(parse({"--resume", run.c_str(), "--out", (run + "/.").c_str()}).steps == 100);

  CHECK(refusal({"--resume", run.c_str(), "--steps", "50"}).find("steps: 100 there, 50 here") <
        std::string::npos);
  CHECK(
      refusal({"--resume", run.c_str(), "--algo", "dfs"}).find("[\"bfs\"] there, [\"dfs\"] here") <
      std::string::npos);
  CHECK(refusal({"--resume", run.c_str(), "--out", "elsewhere"}).starts_with("--resume"));
  CHECK(refusal({"--resume", run.c_str(), "--overwrite"}).starts_with("--resume"));
  CHECK(refusal({"--resume", "/nowhere"}) == "there is no run directory /nowhere");

  // Of a version that did not know these yet.
  std::string older = config_text(parse({"--algo", "bfs", "--steps", "100", "--batch", "8"}));
  for (const std::string name : {"precision = ", "memory-budget = "}) {
    const std::size_t begin = older.find(name);
    REQUIRE(begin < std::string::npos);
    older.erase(begin, older.find('\n', begin) + 1 - begin);
  }
  directory.write("config.toml", older);
  CHECK(parse({"--resume", run.c_str()}).steps == 100);
  CHECK(parse({"--resume", run.c_str()}).precision == "fp32");

  directory.write("config.toml", "batch = 8\n");
  CHECK(refusal({"--resume", run.c_str()}).find("is incomplete") < std::string::npos);
  fs::remove(directory.path / "config.toml");
  CHECK(refusal({"--resume", run.c_str()}).find("has no config.toml") < std::string::npos);
}

}  // namespace
}  // namespace renar::config_test

// metrics.jsonl: all digits, and a resume that continues as if nothing had happened.
#include "trainer/metrics.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar::metrics_test {
namespace {

struct TemporaryFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("renar_metrics_test_" + std::to_string(::getpid()) + ".jsonl"))
                         .string();
  TemporaryFile() { std::filesystem::remove(path); }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

TEST_CASE("metrics: numbers come back with all their bits, keys in order") {
  const TemporaryFile file;
  const float loss = 1.0F / 3;
  const double seconds = 1.0 / 7;
  {
    MetricsWriter writer(file.path, kept_metrics(file.path, 0));
    writer.write({{"step", 0}, {"loss", loss}, {"algo", "dfs"}, {"seconds", seconds}});
    CHECK(read_metrics(file.path).size() == 1);  // there before the writer is gone
  }
  const Json object = read_metrics(file.path).at(0);
  CHECK(object["loss"].get<float>() == loss);
  CHECK(object["seconds"].get<double>() == seconds);
  CHECK(object.begin().key() == "step");
  CHECK((++object.begin()).key() == "loss");
}

TEST_CASE("metrics: a resume drops what it will write again and a half-written line") {
  const TemporaryFile file;
  {
    MetricsWriter writer(file.path, kept_metrics(file.path, 0));
    for (int step = 0; step < 5; ++step) writer.write({{"step", step}, {"loss", 0.1 * step}});
  }
  const std::string whole = read_file(file.path);
  std::ofstream(file.path, std::ios::app) << "{\"step\": 5, \"lo";
  CHECK(read_metrics(file.path).size() == 5);
  {
    MetricsWriter writer(file.path, kept_metrics(file.path, 3));
    CHECK(read_metrics(file.path).size() == 3);
    for (int step = 3; step < 5; ++step) writer.write({{"step", step}, {"loss", 0.1 * step}});
  }
  CHECK(read_file(file.path) == whole);
}

TEST_CASE("metrics: a resume needs all lines of the steps before it, and none behind them") {
  const TemporaryFile file;
  CHECK_THROWS_WITH_AS(kept_metrics(file.path, 3), doctest::Contains("has lost lines"), Error);
  {
    MetricsWriter writer(file.path, kept_metrics(file.path, 0));
    for (int step = 0; step < 5; ++step) writer.write({{"step", step}});
    writer.sync();
  }
  const std::string whole = read_file(file.path);
  CHECK_THROWS_WITH_AS(kept_metrics(file.path, 6),
                       doctest::Contains("ends with step 4, the checkpoint with step 5"), Error);
  CHECK(read_file(file.path) == whole);
  std::ofstream(file.path, std::ios::app) << std::string(100, '\0') << "\n[]\n";  // a power cut
  { const MetricsWriter writer(file.path, kept_metrics(file.path, 5)); }
  CHECK(read_file(file.path) == whole);
  std::ofstream(file.path) << "{\"step\": 0}\n[]\n{\"step\": 1}\n{\"step\": 2}\n";
  CHECK_THROWS_AS(kept_metrics(file.path, 3), Error);
}

TEST_CASE("metrics: other damage is named by line") {
  const TemporaryFile file;
  for (const char* damaged :
       {"{\"step\": 1\n", "[]\n", "{\"loss\": 1}\n", "{\"step\": 0.5}\n", "\n",
        "{\"step\": 1, \"algo\": 7}\n", "{\"step\": 4294967296}\n", "{\"step\": -1}\n",
        "{\"step\": 1, \"nodes\": \"x\"}\n", "{\"step\": 1, \"length\": 1.5}\n"}) {
    std::ofstream(file.path) << "{\"step\": 0}\n" << damaged;
    CHECK_THROWS_WITH_AS(
        read_metrics(file.path),
        ("[metrics] " + file.path + ", line 2 is not an object with a step").c_str(), Error);
  }
  CHECK_THROWS_AS(MetricsWriter("/nowhere/metrics.jsonl", ""), Error);
}

}  // namespace
}  // namespace renar::metrics_test

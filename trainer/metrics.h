// metrics.jsonl: what a run measured, one JSON object a line, each with its "step". Lines are only
// ever appended, flushed one by one, and numbers have all their digits, so that two runs can be
// compared to the bit. A resumed run first drops the lines that it will write again.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace renar {

/// The "algo" of a validation line that has the mean over a run's algorithms.
constexpr const char* kMeanOfAll = "mean";

/// The lines that a run which has done `steps` goes on from: those of these steps, without what
/// comes after them or is damaged; of no steps none. Throws renar::Error where lines are missing.
std::string kept_metrics(const std::string& path, int steps);

class MetricsWriter {
 public:
  /// Makes the file anew with the lines in `kept` (kept_metrics) and opens it for appending. Throws
  /// renar::Error.
  MetricsWriter(const std::string& path, const std::string& kept);
  ~MetricsWriter();
  MetricsWriter(const MetricsWriter&) = delete;
  MetricsWriter& operator=(const MetricsWriter&) = delete;

  /// Appends one object, which has an integer "step". Throws renar::Error if it cannot be written.
  void write(const nlohmann::ordered_json& object);
  /// Forces what was written to the disk. Throws renar::Error.
  void sync();

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
};

/// The objects of a metrics file in order; a half-written last line is left out. Throws
/// renar::Error with path and line number for anything else that is not an object with a step and,
/// where they are there, an algorithm's name and whole numbers of nodes and length.
std::vector<nlohmann::ordered_json> read_metrics(const std::string& path);

}  // namespace renar

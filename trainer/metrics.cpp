#include "trainer/metrics.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar {

namespace {

/// Whether a number that counts is one, where it is there.
bool counts(const Json& object, const char* key) {
  if (!object.contains(key)) return true;
  const Json& number = object.at(key);
  return number.is_number_integer() && number >= 0 && number <= std::numeric_limits<int>::max();
}

/// The object that a line holds, if it is one with a step, and its algorithm and nodes are such.
std::optional<Json> object_in(std::string_view line) {
  std::optional<Json> object = try_parse_json(line);
  const bool good = object && object->is_object() && object->contains("step") &&
                    counts(*object, "step") && counts(*object, "nodes") &&
                    counts(*object, "length") &&
                    (!object->contains("algo") || object->at("algo").is_string());
  return good ? std::move(object) : std::nullopt;
}

/// Calls see(line) for each line in order, as long as it says yes. A line counts once its end is
/// there.
template <class See>
void for_each_line(std::string_view text, const See& see) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos || !see(text.substr(start, end - start))) return;
    start = end + 1;
  }
}

}  // namespace

std::string kept_metrics(const std::string& path, int steps) {
  std::string kept;
  int last = -1;
  if (steps > 0 && std::filesystem::exists(path)) {
    for_each_line(read_file(path), [&](std::string_view line) {
      const std::optional<Json> object = object_in(line);
      if (!object || object->at("step").get<int>() >= steps) return false;
      last = object->at("step").get<int>();
      kept.append(line).push_back('\n');
      return true;
    });
  }
  RENAR_CHECK(last == steps - 1,
              "[metrics] {} has lost lines: it ends with step {}, the checkpoint with step {}; "
              "remove its directory to begin anew",
              path, last, steps - 1);
  return kept;
}

MetricsWriter::MetricsWriter(const std::string& path, const std::string& kept) : path_(path) {
  write_file_atomically(path, kept);
  file_ = std::fopen(path.c_str(), "a");
  RENAR_CHECK(file_ != nullptr, "[metrics] cannot open {}: {}", path, std::strerror(errno));
}

MetricsWriter::~MetricsWriter() { std::fclose(file_); }

void MetricsWriter::write(const Json& object) {
  const std::string line = object.dump() + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  RENAR_CHECK(written && std::fflush(file_) == 0, "[metrics] cannot write {}: {}", path_,
              std::strerror(errno));
}

void MetricsWriter::sync() {
  RENAR_CHECK(std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0,
              "[metrics] cannot write {} to the disk: {}", path_, std::strerror(errno));
}

std::vector<Json> read_metrics(const std::string& path) {
  std::vector<Json> objects;
  for_each_line(read_file(path), [&](std::string_view line) {
    std::optional<Json> object = object_in(line);
    RENAR_CHECK(object, "[metrics] {}, line {} is not an object with a step", path,
                objects.size() + 1);
    objects.push_back(*std::move(object));
    return true;
  });
  return objects;
}

}  // namespace renar

#include "trainer/metrics.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar {

namespace {

/// The object that a line holds, if it is one with a step.
std::optional<Json> object_in(std::string_view line) {
  std::optional<Json> object = try_parse_json(line);
  const bool has_step = object && object->is_object() && object->contains("step") &&
                        object->at("step").is_number_integer();
  return has_step ? std::move(object) : std::nullopt;
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

MetricsWriter::MetricsWriter(const std::string& path, int first_step) : path_(path) {
  write_file_atomically(path, kept_metrics(path, first_step));
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

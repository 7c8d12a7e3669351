#include "trainer/metrics.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar {

MetricsWriter::MetricsWriter(const std::string& path, int first_step) : path_(path) {
  std::string kept;
  if (std::filesystem::exists(path)) {
    for (const Json& object : read_metrics(path)) {
      if (object.at("step").get<int>() < first_step) kept += object.dump() + "\n";
    }
  }
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

std::vector<Json> read_metrics(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<Json> objects;
  int number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) break;  // a line counts once its end is there
    const std::string_view line = std::string_view(text).substr(start, end - start);
    std::optional<Json> object = try_parse_json(line);
    ++number;
    RENAR_CHECK(object && object->is_object() && object->contains("step") &&
                    object->at("step").is_number_integer(),
                "[metrics] {}, line {} is not an object with a step", path, number);
    objects.push_back(*std::move(object));
    start = end + 1;
  }
  return objects;
}

}  // namespace renar

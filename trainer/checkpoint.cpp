#include "trainer/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/files.h"
#include "core/safetensors.h"

namespace renar {
namespace {

constexpr const char* kFormat = "renar-1";
constexpr const char* kMoment1 = "optimizer/m";
constexpr const char* kMoment2 = "optimizer/v";
constexpr const char* kStream = "data/stream";
constexpr const char* kCarried = "chunk/carried/";  // and the lane's number

template <class Number>
std::string text(Number value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};  // shortest exact form
}

const std::string& word(const SafetensorsFile& file, const std::string& path, const char* key) {
  const auto found = file.metadata.find(key);
  RENAR_CHECK(found != file.metadata.end(), "[checkpoint] {} has no '{}': not a file of renar",
              path, key);
  return found->second;
}

template <class Number>
Number number(const SafetensorsFile& file, const std::string& path, const char* key) {
  const std::string& digits = word(file, path, key);
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  RENAR_CHECK(error == std::errc() && end == digits.data() + digits.size(),
              "[checkpoint] {}: '{}' is '{}', not a number", path, key, digits);
  return value;
}

SafetensorsFile file_of(const std::string& algo, const Net& net, int step) {
  SafetensorsFile file;
  file.metadata = {{"format", kFormat},
                   {"algo", algo},
                   {"processor", net.options().processor.kind},
                   {"step", text(step)}};
  for (const auto& [name, param] : net.parameters().entries()) {
    const Real* values = net.parameters().at(param);
    file.tensors.push_back(
        {name, StoredArray::of(stored_shape(param.shape),
                               std::vector<Real>(values, values + param.shape.size()))});
  }
  return file;
}

SafetensorsFile read_checked(const std::string& path, const std::string& algo, const Net& net) {
  SafetensorsFile file = read_safetensors(path);
  RENAR_CHECK(word(file, path, "format") == kFormat,
              "[checkpoint] {} has the format {}, expected {}", path, word(file, path, "format"),
              kFormat);
  RENAR_CHECK(word(file, path, "algo") == algo, "[checkpoint] {} was trained on {}, not on {}",
              path, word(file, path, "algo"), algo);
  const std::string& kind = net.options().processor.kind;
  RENAR_CHECK(word(file, path, "processor") == kind, "[checkpoint] {} has the processor {}, not {}",
              path, word(file, path, "processor"), kind);
  return file;
}

std::vector<Real> checked_parameters(const SafetensorsFile& file, const std::string& path,
                                     const Net& net) {
  const auto stored = std::count_if(file.tensors.begin(), file.tensors.end(),
                                    [](const auto& tensor) { return is_parameter(tensor.name); });
  RENAR_CHECK(stored <= std::ssize(net.parameters().entries()),
              "[checkpoint] {} has {} parameters, this net {}: it was trained with other options",
              path, stored, net.parameters().entries().size());
  std::vector<Real> values;
  for (const auto& [name, param] : net.parameters().entries()) {
    const StoredArray& array = file.tensor(name);
    RENAR_CHECK(array.shape == stored_shape(param.shape), "[checkpoint] {}: {} is {}, expected {}",
                path, name, text_of(array.shape), param.shape.text());
    const std::vector<Real> numbers = array.exactly<Real>();
    RENAR_CHECK(
        std::all_of(numbers.begin(), numbers.end(), [](Real x) { return std::isfinite(x); }),
        "[checkpoint] {}: {} holds a number that is not finite", path, name);
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  return values;
}

std::vector<std::vector<Real>> carried_of(const SafetensorsFile& file, const std::string& path) {
  if (!file.metadata.contains("lanes")) return {};
  const auto lanes = number<std::uint16_t>(file, path, "lanes");
  std::vector<std::vector<Real>> carried(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (const auto& [name, array] : file.tensors) {
      if (name == kCarried + text(lane)) carried[lane] = array.exactly<Real>();
    }
  }
  return carried;
}

void put(const std::vector<Real>& values, Net& net) {
  std::copy(values.begin(), values.end(), net.parameters().values());
}

template <class T>
SafetensorsFile::Tensor flat(const std::string& name, const std::vector<T>& values) {
  return {name, StoredArray::of({values.size()}, values)};
}

}  // namespace

bool is_parameter(std::string_view name) {
  return name != kMoment1 && name != kMoment2 && name != kStream && !name.starts_with(kCarried);
}

std::vector<std::size_t> stored_shape(const Shape& shape) {
  std::vector<std::size_t> extents;
  for (int axis = 0; axis < shape.rank; ++axis)
    extents.push_back(static_cast<std::size_t>(shape[axis]));
  return extents;
}

void save_parameters(const std::string& path, const std::string& algo, const Net& net, int step) {
  write_safetensors(path, file_of(algo, net, step));
}

int load_parameters(const std::string& path, const std::string& algo, Net& net) {
  return naming_file(path, [&] {
    const SafetensorsFile file = read_checked(path, algo, net);
    const int step = number<int>(file, path, "step");
    put(checked_parameters(file, path, net), net);
    return step;
  });
}

void save_state(const std::string& path, const std::string& algo, const Net& net,
                const TrainState& state) {
  SafetensorsFile file = file_of(algo, net, state.step);
  file.metadata["best_score"] = text(state.best_score);
  file.metadata["best_step"] = text(state.best_step);
  file.metadata["seconds"] = text(state.seconds);
  file.metadata["validation_seconds"] = text(state.validation_seconds);
  file.metadata["updates"] = text(state.optimizer.steps);
  file.tensors.push_back(flat(kMoment1, state.optimizer.m));
  file.tensors.push_back(flat(kMoment2, state.optimizer.v));
  file.tensors.push_back(flat(kStream, state.stream));
  if (!state.carried.empty()) file.metadata["lanes"] = text(state.carried.size());
  for (std::size_t lane = 0; lane < state.carried.size(); ++lane) {
    if (state.carried[lane].empty()) continue;
    file.tensors.push_back(flat(kCarried + text(lane), state.carried[lane]));
  }
  write_safetensors(path, file);
}

namespace {

TrainState state_in(const std::string& path, const std::string& algo, Net& net) {
  const SafetensorsFile file = read_checked(path, algo, net);
  TrainState state;
  state.step = number<int>(file, path, "step");
  state.best_score = number<double>(file, path, "best_score");
  state.best_step = number<int>(file, path, "best_step");
  state.seconds = number<double>(file, path, "seconds");
  if (file.metadata.contains("validation_seconds")) {  // older files do not have it
    state.validation_seconds = number<double>(file, path, "validation_seconds");
  }
  RENAR_CHECK(
      state.step >= 0 && state.best_step >= -1 && state.best_step < state.step &&
          std::isfinite(state.best_score) && std::isfinite(state.seconds) &&
          std::isfinite(state.validation_seconds),
      "[checkpoint] {} says step {}, the best after step {} with score {}, {} s and {} s of "
      "validations: that cannot be",
      path, state.step, state.best_step, state.best_score, state.seconds, state.validation_seconds);
  state.optimizer = {number<std::int64_t>(file, path, "updates"),
                     file.tensor(kMoment1).exactly<Real>(), file.tensor(kMoment2).exactly<Real>()};
  RENAR_CHECK(state.optimizer.steps >= state.step, "[checkpoint] {} has {} updates in {} steps",
              path, state.optimizer.steps, state.step);
  state.stream = file.tensor(kStream).exactly<std::uint32_t>();
  state.carried = carried_of(file, path);
  const std::vector<Real> values = checked_parameters(file, path, net);
  RENAR_CHECK(
      state.optimizer.m.size() == values.size() && state.optimizer.v.size() == values.size(),
      "[checkpoint] {} has moments of {} and {} numbers for {} parameters", path,
      state.optimizer.m.size(), state.optimizer.v.size(), values.size());
  put(values, net);
  return state;
}

}  // namespace

TrainState load_state(const std::string& path, const std::string& algo, Net& net) {
  return naming_file(path, [&] { return state_in(path, algo, net); });
}

}  // namespace renar

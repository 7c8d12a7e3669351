#include "algos/probe_record.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/check.h"

namespace renar {
namespace {

/// The elements of a row of a one-hot probe; 0 for the other types.
std::size_t row_of(const Probe& probe, int nodes) {
  if (probe.type == Type::kCategorical) return static_cast<std::size_t>(probe.classes);
  return probe.type == Type::kMaskOne ? static_cast<std::size_t>(nodes) : 0;
}

std::uint32_t class_of(int marked) { return static_cast<std::uint32_t>(marked ^ (marked >> 31)); }

/// Appends a row for each class. A class that the row does not have marks nothing.
void append_rows(std::span<const int> classes_of, std::size_t row, std::vector<double>& values) {
  std::size_t start = values.size();
  values.resize(start + classes_of.size() * row);
  for (const int marked : classes_of) {
    if (class_of(marked) < row) values[start + class_of(marked)] = marked < 0 ? -1 : 1;
    start += row;
  }
}

}  // namespace

OneHot::operator std::vector<double>() const {
  std::vector<double> marks(static_cast<std::size_t>(count));
  marks[static_cast<std::size_t>(index)] = 1;
  return marks;
}

OneHot::operator Mask() const {
  Mask marks(static_cast<std::size_t>(count));
  marks[static_cast<std::size_t>(index)] = 1;
  return marks;
}

OneHotRows::operator std::vector<double>() const {
  for (const int x : classes_of) {
    RENAR_CHECK(class_of(x) < static_cast<std::uint32_t>(classes), "[trace] class {} of {}", x,
                classes);
  }
  std::vector<double> marks;
  append_rows(classes_of, static_cast<std::size_t>(classes), marks);
  return marks;
}

std::vector<double> ProbeValue::numbers() const {
  using Numbers = std::vector<double>;
  struct Copy {
    Numbers operator()(double value) const { return {value}; }
    Numbers operator()(const OneHot& one) const { return one; }
    Numbers operator()(const OneHotRows& rows) const { return rows; }
    Numbers operator()(std::span<const double> all) const { return {all.begin(), all.end()}; }
    Numbers operator()(std::span<const int> all) const { return {all.begin(), all.end()}; }
    Numbers operator()(std::span<const Mark> all) const { return {all.begin(), all.end()}; }
  };
  return std::visit(Copy(), value_);
}

ProbeRecord::ProbeRecord(const Probe& probe, int nodes)
    : probe_(&probe),
      nodes_(nodes),
      row_(row_of(probe, nodes)),
      kept_(count_of(probe, nodes) / std::max<std::size_t>(row_, 1)),
      frames_(Frames<double>(kept_)) {
  switch (probe.type) {
    case Type::kScalar:
    case Type::kPermutationPointer: break;
    case Type::kCategorical:
    case Type::kMaskOne: frames_ = Frames<int>(kept_); break;
    case Type::kMask:
      if (kept_ > 1) frames_ = Frames<Mark>(kept_);  // a single number is shown as a double
      break;
    case Type::kPointer:
    case Type::kShouldBePermutation:
      if (kept_ > 1) frames_ = Frames<int>(kept_);
      break;
  }
}

void ProbeRecord::add(const ProbeValue& value) {
  const auto add_to = [&]<class Number>(Frames<Number>& frames) {
    std::vector<Number> copy;
    std::span<const Number> kept = as_kept<Number>(value);
    if (kept.size() != kept_) kept = copy = converted<Number>(value);
    if (frames.end_with(kept)) return frames.repeat_last();
    check(kept);
    frames.push(kept);
  };
  std::visit(add_to, frames_);
}

/// The numbers to keep where they are shown as they are kept, which is the rule; else nothing.
template <class Number>
std::span<const Number> ProbeRecord::as_kept(const ProbeValue& value) const {
  if constexpr (std::is_same_v<Number, double>) {
    if (const double* number = std::get_if<double>(&value.value_)) return {number, 1};
  }
  if (row_ > 0) {
    if constexpr (std::is_same_v<Number, int>) {
      const auto* one = std::get_if<OneHot>(&value.value_);
      if (one != nullptr && static_cast<std::size_t>(one->count) == row_) return {&one->index, 1};
      const auto* rows = std::get_if<OneHotRows>(&value.value_);
      if (rows != nullptr && static_cast<std::size_t>(rows->classes) == row_) {
        return rows->classes_of;
      }
    }
    return {};
  }
  const auto* numbers = std::get_if<std::span<const Number>>(&value.value_);
  return numbers != nullptr ? *numbers : std::span<const Number>();
}

/// The numbers to keep of a value that is shown in another way: doubles for a mask, say.
template <class Number>
std::vector<Number> ProbeRecord::converted(const ProbeValue& value) const {
  const std::vector<double> numbers = value.numbers();
  check_value(*probe_, nodes_, numbers);
  if (row_ == 0) return {numbers.begin(), numbers.end()};
  std::vector<Number> classes;
  for (auto row = numbers.begin(); row != numbers.end(); row += static_cast<std::ptrdiff_t>(row_)) {
    const auto mark = std::find_if(row, numbers.end(), [](double x) { return x != 0; });
    const Number marked = static_cast<Number>(mark - row);
    classes.push_back(*mark > 0 ? marked : -1 - marked);
  }
  return classes;
}

/// Throws as check_value does, which sees the frame's numbers only where something is wrong.
template <class Number>
void ProbeRecord::check(std::span<const Number> kept) const {
  if constexpr (std::is_same_v<Number, double>) {
    check_value(*probe_, nodes_, kept);
    return;
  }
  bool wrong = false;  // found without branches, so that the loops become SIMD code
  if constexpr (std::is_same_v<Number, Mark>) {
    std::uint8_t largest = 0;  // of -1, 0 and 1, each plus 1, it is 2
    for (const Mark x : kept) largest = std::max(largest, static_cast<std::uint8_t>(x + 1));
    wrong = largest > 2;
  } else {
    const std::uint32_t last = static_cast<std::uint32_t>(row_ > 0 ? row_ : nodes_) - 1;
    std::uint32_t outside = 0;  // its top bit: whether an index is negative or beyond the last
    for (const int x : kept) {
      const std::uint32_t index = row_ > 0 ? class_of(x) : static_cast<std::uint32_t>(x);
      outside |= index | (last - index);
    }
    wrong = outside >> 31 != 0;
  }
  if (!wrong) return;
  std::vector<double> numbers;
  append(kept, numbers);
  check_value(*probe_, nodes_, numbers);
}

/// Appends the numbers of a frame of which these are kept.
template <class Number>
void ProbeRecord::append(std::span<const Number> kept, std::vector<double>& values) const {
  if constexpr (std::is_same_v<Number, int>) {
    if (row_ > 0) return append_rows(kept, row_, values);
  }
  values.insert(values.end(), kept.begin(), kept.end());
}

void ProbeRecord::append_frame(std::size_t t, std::vector<double>& values) const {
  std::visit([&](const auto& frames) { append(frames[t], values); }, frames_);
}

template <class Number>
bool ProbeRecord::Frames<Number>::end_with(std::span<const Number> value) const {
  if (places_.empty()) return false;
  return std::memcmp((*this)[places_.size() - 1].data(), value.data(), value.size_bytes()) == 0;
}

template <class Number>
void ProbeRecord::Frames<Number>::push(std::span<const Number> value) {
  if (count_ == 1) {
    single_.push_back(value[0]);
    return;
  }
  constexpr std::size_t kLargest = 131072 / sizeof(Number);  // what malloc serves by itself
  const std::size_t before = chunks_.empty() ? 0 : chunks_.back().capacity();
  if (chunks_.empty() || chunks_.back().size() + count_ > before) {
    chunks_.emplace_back().reserve(std::max(count_, std::min(2 * before, kLargest)));
  }
  std::vector<Number>& chunk = chunks_.back();
  places_.push_back(
      {static_cast<std::uint32_t>(chunks_.size() - 1), static_cast<std::uint32_t>(chunk.size())});
  chunk.insert(chunk.end(), value.begin(), value.end());
}

template <class Number>
std::span<const Number> ProbeRecord::Frames<Number>::operator[](std::size_t t) const {
  if (count_ == 1) return {&single_[t], 1};
  const Place& place = places_[t];
  return {chunks_[place.chunk].data() + place.offset, count_};
}

}  // namespace renar

#include "trainer/json_input.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"

namespace renar {
namespace {

/// A text on one line: what is no printable ASCII becomes a question mark.
std::string printable(std::string line) {
  for (char& c : line) c = c >= ' ' && c <= '~' ? c : '?';
  return line;
}

/// A text from the file as a message may show it.
std::string shown(std::string_view text) { return printable(shortened(text)); }

/// The parser calls this for each token in turn. All that is kept is the value being read, so that
/// neither deep nor long nonsense costs more than it takes to see it.
class InputReader : public Json::json_sax_t {
 public:
  InputReader(std::string_view text, const std::string& where, std::span<const std::string> names)
      : text_(text), where_(where), names_(names) {}

  UserInput finished() {
    for (const std::string& name : names_) {
      RENAR_USAGE(input_.values().contains(name), "{}: the key \"{}\" is missing; {}", where_, name,
                  expected_keys());
    }
    return std::move(input_);
  }

  bool start_object(std::size_t) override {
    if (in_object_) refuse("an object");
    in_object_ = true;
    return true;
  }
  bool end_object() override { return true; }

  bool key(std::string& name) override {
    RENAR_USAGE(std::find(names_.begin(), names_.end(), name) != names_.end(),
                "{}: unknown key \"{}\"; the nearest match is \"{}\", {}", where_, shown(name),
                nearest_match(shown(name), names_), expected_keys());
    RENAR_USAGE(!input_.values().contains(name), "{}: the key \"{}\" stands twice", where_, name);
    key_ = name;
    return true;
  }

  bool start_array(std::size_t) override {
    check_in_object("a list");
    RENAR_USAGE(depth_ < 2, "{}: {} is nested too deep, a table is a list of lists of numbers",
                where_, place());
    if (depth_ == 1) {
      RENAR_USAGE(!numbers_.has_value(), "{}: \"{}\" mixes numbers and lists", where_, key_);
      check_size(rows_.size() + 1, "rows");
      rows_.emplace_back();
    }
    ++depth_;
    return true;
  }

  bool end_array() override {
    --depth_;
    if (depth_ == 1) {
      const std::size_t columns = rows_.front().size(), found = rows_.back().size();
      RENAR_USAGE(columns > 0, "{}: row 0 of \"{}\" is empty", where_, key_);
      RENAR_USAGE(columns == found, "{}: row {} of \"{}\" has {} numbers, row 0 has {}", where_,
                  rows_.size() - 1, key_, found, columns);
    } else if (numbers_.has_value()) {
      input_.set(key_, *std::exchange(numbers_, std::nullopt));
    } else {
      RENAR_USAGE(!rows_.empty(), "{}: \"{}\" is an empty list, give at least one number", where_,
                  key_);
      input_.set(key_, table());
      rows_.clear();
    }
    return true;
  }

  bool number_integer(std::int64_t x) override { return number(static_cast<double>(x)); }
  bool number_unsigned(std::uint64_t x) override { return number(static_cast<double>(x)); }
  bool number_float(double x, const std::string&) override { return number(x); }

  bool string(std::string& text) override {
    if (!in_object_ || depth_ > 0) refuse("the string \"" + shown(text) + "\"");
    check_size(text.size(), "letters");
    input_.set(key_, text);
    return true;
  }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool null() override { return refuse("null"); }
  bool binary(Json::binary_t&) override { return refuse("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 2, column 7: syntax error .."
    std::string_view reason = error.what();
    for (const std::string_view before : {"] ", "column "}) {
      const std::size_t found = reason.find(before);
      if (found != std::string_view::npos) reason.remove_prefix(found + before.size());
    }
    reason.remove_prefix(std::min(reason.find_first_not_of("0123456789: "), reason.size()));
    const std::string_view read = text_.substr(0, position > 0 ? position - 1 : 0);
    const auto line = std::count(read.begin(), read.end(), '\n') + 1;
    const std::size_t column = read.size() - (read.rfind('\n') + 1);  // npos + 1 = 0
    constexpr std::size_t kLongest = 160;
    throw UsageError(message_of("{}, line {}, column {}: {}", where_, line, column + 1,
                                printable(std::string(reason.substr(0, kLongest)))));
  }

 private:
  bool number(double x) {
    check_in_object("a number");
    if (depth_ == 0) {
      input_.set(key_, x);
      return true;
    }
    RENAR_USAGE(depth_ == 2 || rows_.empty(), "{}: \"{}\" mixes numbers and lists", where_, key_);
    if (depth_ == 1 && !numbers_.has_value()) numbers_.emplace();
    std::vector<double>& list = depth_ == 2 ? rows_.back() : *numbers_;
    check_size(list.size() + 1, "numbers in a list");
    list.push_back(x);
    return true;
  }

  Matrix table() const {
    Matrix table(static_cast<int>(rows_.size()), static_cast<int>(rows_.front().size()));
    for (int i = 0; i < table.rows(); ++i) {
      for (int j = 0; j < table.columns(); ++j) table(i, j) = rows_[i][j];
    }
    return table;
  }

  /// "graph.json: "A" holds null, ..", always.
  bool refuse(const std::string& found) const {
    check_in_object(found);
    throw UsageError(
        message_of("{}: {} is {}, expected numbers, a list or a table of them, or a string of "
                   "letters",
                   where_, place(), found));
  }

  void check_in_object(const std::string& found) const {
    RENAR_USAGE(in_object_, "{} holds {}, expected an object: {}", where_, found, expected_keys());
  }

  void check_size(std::size_t size, std::string_view what) const {
    RENAR_USAGE(size <= kMaxInputSize, "{}: \"{}\" has more than {} {}", where_, key_,
                kMaxInputSize, what);
  }

  /// Where the next value stands: "A", element 2 of "key", element 3 of row 0 of "A".
  std::string place() const {
    const std::string quoted = '"' + key_ + '"';
    if (depth_ == 0) return quoted;
    if (depth_ == 1) {
      return message_of("element {} of {}", numbers_ ? numbers_->size() : rows_.size(), quoted);
    }
    return message_of("element {} of row {} of {}", rows_.back().size(), rows_.size() - 1, quoted);
  }

  std::string expected_keys() const {
    return message_of("the algorithm takes {{\"{}\": ..}}", join(names_, "\": .., \""));
  }

  std::string_view text_;
  const std::string& where_;
  std::span<const std::string> names_;
  UserInput input_;
  bool in_object_ = false;
  std::string key_;
  int depth_ = 0;                               // of lists around the next token
  std::optional<std::vector<double>> numbers_;  // of the list being read, once it has one
  std::vector<std::vector<double>> rows_;       // of the table being read
};

}  // namespace

UserInput parse_json_input(std::string_view text, const std::string& where,
                           std::span<const std::string> names) {
  InputReader reader(text, where, names);
  Json::sax_parse(text, &reader);
  return reader.finished();
}

UserInput read_json_input(const std::string& path, std::span<const std::string> names) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return parse_json_input(text, path, names);
}

}  // namespace renar

#include "algos/user_input.h"

#include <cctype>
#include <cmath>

#include "core/check.h"

namespace renar {
namespace {

std::string form_of(const UserInput::Value& value) {
  struct Form {
    std::string operator()(double x) const { return message_of("the number {}", x); }
    std::string operator()(const std::string& x) const {
      return message_of("the string \"{}\"", x);
    }
    std::string operator()(const std::vector<double>& x) const {
      return message_of("a list of {} numbers", x.size());
    }
    std::string operator()(const Matrix& x) const {
      return message_of("a table of {} x {} numbers", x.rows(), x.columns());
    }
  };
  return std::visit(Form(), value);
}

/// The value in the form T. Throws UsageError if it has another.
template <class T>
const T& as(const UserInput::Value& value, std::string_view name, std::string_view expected) {
  const T* found = std::get_if<T>(&value);
  RENAR_USAGE(found != nullptr, "the input '{}' is {}, expected {}", name, form_of(value),
              expected);
  return *found;
}

void check_numbers(const std::vector<double>& values, std::string_view name) {
  RENAR_USAGE(!values.empty(), "the input '{}' has {} numbers, give at least one", name,
              values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    RENAR_USAGE(std::isfinite(values[i]), "the input '{}' has {} at place {}: not a finite number",
                name, values[i], i);
  }
}

}  // namespace

const UserInput::Value& UserInput::at(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  RENAR_USAGE(found != values_.end(), "the input '{}' is missing", name);
  return found->second;
}

double UserInput::number(std::string_view name) const {
  const double value = as<double>(at(name), name, "a number");
  RENAR_USAGE(std::isfinite(value), "the input '{}' is {}: not a finite number", name, value);
  return value;
}

int UserInput::index(std::string_view name) const {
  const double value = number(name);
  RENAR_USAGE(value >= 0 && value <= 1e9 && value == std::floor(value),
              "the input '{}' is {}, expected a whole number of at least 0", name, value);
  return static_cast<int>(value);
}

std::vector<double> UserInput::list(std::string_view name) const {
  const std::vector<double>& values = as<std::vector<double>>(at(name), name, "a list of numbers");
  check_numbers(values, name);
  return values;
}

Matrix UserInput::table(std::string_view name) const {
  const Matrix& values = as<Matrix>(at(name), name, "a table of numbers");
  check_numbers(values.values(), name);
  return values;
}

Matrix UserInput::matrix(std::string_view name) const {
  const Matrix& values = as<Matrix>(at(name), name, "a square table of numbers");
  check_numbers(values.values(), name);
  RENAR_USAGE(values.rows() == values.columns(),
              "the input '{}' has {} rows of {} numbers, expected a square table", name,
              values.rows(), values.columns());
  return values;
}

std::vector<int> UserInput::letters(std::string_view name) const {
  std::vector<int> letters;
  if (const std::string* text = std::get_if<std::string>(&at(name))) {
    RENAR_USAGE(!text->empty(), "the input '{}' is an empty string, give at least one letter",
                name);
    for (const char c : *text) {
      const std::size_t letter =
          kLetters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
      RENAR_USAGE(letter != std::string_view::npos,
                  "the input '{}' has the letter '{}', expected letters of {}", name,
                  std::string(1, c), kLetters);
      letters.push_back(static_cast<int>(letter));
    }
    return letters;
  }
  for (const double value : list(name)) {
    RENAR_USAGE(value == 0 || value == 1 || value == 2 || value == 3,
                "the input '{}' has the number {}, expected 0, 1, 2 or 3 (letters of {})", name,
                value, kLetters);
    letters.push_back(static_cast<int>(value));
  }
  return letters;
}

}  // namespace renar

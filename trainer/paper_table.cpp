#include "trainer/paper_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "algos/registry.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr std::size_t kTableWidth = 100;
constexpr const char* kScore = "score";  // the one column where nothing but seeds varies
constexpr const char* kTrivial = "trivial";
constexpr const char* kPlusMinus = "±";

/// The scores of an algorithm in a column, one a run.
struct Cell {
  std::vector<double> scores;
  int planned = 0;
};

/// What is printed of one or several cells.
struct Numbers {
  std::optional<double> mean, deviation;
  int runs = 0;
  int planned = 0;
};

struct Row {
  std::string algorithm;
  Category category;
  std::map<std::string, Cell> cells;  // by column
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// sqrt(sum (x - mean)^2 / (n - 1)); one value has none.
std::optional<double> deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Numbers numbers_of(const Cell& cell) {
  Numbers numbers{{}, {}, static_cast<int>(cell.scores.size()), cell.planned};
  if (!cell.scores.empty()) numbers.mean = mean_of(cell.scores);
  numbers.deviation = deviation_of(cell.scores);
  return numbers;
}

/// The mean of means and the mean of deviations of the rows; nothing where the column is not to
/// have all of them, as it would not be comparable.
Numbers numbers_of(const std::vector<const Row*>& rows, const std::string& column) {
  Numbers all;
  std::vector<double> means, deviations;
  for (const Row* row : rows) {
    const auto cell = row->cells.find(column);
    if (cell == row->cells.end()) return {};
    const Numbers numbers = numbers_of(cell->second);
    if (numbers.mean) means.push_back(*numbers.mean);
    if (numbers.deviation) deviations.push_back(*numbers.deviation);
    all.runs += numbers.runs;
    all.planned += numbers.planned;
  }
  if (!means.empty()) all.mean = mean_of(means);
  if (!deviations.empty()) all.deviation = mean_of(deviations);
  return all;
}

std::string text_of(const Numbers& numbers) {
  if (numbers.planned == 0) return "";
  if (!numbers.mean) return "-";
  std::string text = fmt::format("{:.2f}", 100 * *numbers.mean);
  if (numbers.deviation) text += fmt::format(" ± {:.2f}", 100 * *numbers.deviation);
  if (numbers.runs < numbers.planned) {
    text += fmt::format(" ({}/{})", numbers.runs, numbers.planned);
  }
  return text;
}

/// One printed line: a name and a text for each column.
struct Line {
  std::string name;
  std::vector<std::string> texts;
};

class ScoreTable {
 public:
  ScoreTable(const std::vector<TableRun>& runs, int length) : length_(length), columns_{kTrivial} {
    std::map<std::string, Row> rows;
    for (const TableRun& run : runs) {
      const auto place = std::find(run.test_lengths.begin(), run.test_lengths.end(), length);
      if (place == run.test_lengths.end()) continue;
      const auto test = static_cast<std::size_t>(place - run.test_lengths.begin());
      const std::string column = run.column.empty() ? kScore : run.column;
      if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) {
        columns_.push_back(column);
      }
      for (std::size_t k = 0; k < run.algorithms.size(); ++k) {
        const Algorithm& algorithm = find_algorithm(run.algorithms[k]);
        Row& row = rows.try_emplace(algorithm.name, Row{algorithm.name, algorithm.category, {}})
                       .first->second;
        add(row, column, run, k, test);
      }
    }
    for (auto& [name, row] : rows) rows_.push_back(std::move(row));
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.category < b.category; });
  }

  std::string text() const {
    const std::vector<Line> lines = all_lines();
    const bool deviates = std::any_of(lines.begin(), lines.end(), [](const Line& line) {
      return join(line.texts).find(kPlusMinus) != std::string::npos;
    });
    std::string text = fmt::format("test score in percent at n = {}{}\n", length_,
                                   deviates ? ", mean ± standard deviation over seeds" : "");
    std::size_t name_width = 0;
    for (const Line& line : lines) name_width = std::max(name_width, line.name.size());
    for (std::size_t first = 0; first < columns_.size();) {
      std::vector<std::size_t> widths;
      std::size_t total = name_width;
      for (std::size_t c = first; c < columns_.size(); ++c) {
        widths.push_back(width_of(lines, c));
        total += widths.back();
        if (total > kTableWidth && c > first) {
          widths.pop_back();
          break;
        }
      }
      text += "\n";
      for (const Line& line : lines) text += printed(line, name_width, first, widths);
      first += widths.size();
    }
    return text;
  }

 private:
  static void add(Row& row, const std::string& column, const TableRun& run, std::size_t k,
                  std::size_t test) {
    Cell& cell = row.cells[column];
    Cell& trivial = row.cells[kTrivial];
    ++cell.planned;
    trivial.planned = 1;
    if (run.result == nullptr) return;
    const Evaluation& found = run.result->algorithms.at(k).tests.at(test);
    cell.scores.push_back(found.score);
    trivial.scores = {found.trivial};
  }

  /// The names of the columns, a word a line, the last words on one line.
  std::vector<Line> heading() const {
    std::vector<std::vector<std::string>> words;
    std::size_t height = 0;
    for (const std::string& column : columns_) {
      std::istringstream stream(column);
      words.emplace_back(std::istream_iterator<std::string>(stream),
                         std::istream_iterator<std::string>());
      height = std::max(height, words.back().size());
    }
    std::vector<Line> lines(height);
    for (const std::vector<std::string>& column : words) {
      const std::size_t blank = height - column.size();
      for (std::size_t i = 0; i < height; ++i) {
        lines[i].texts.push_back(i < blank ? "" : column[i - blank]);
      }
    }
    return lines;
  }

  std::vector<Line> all_lines() const {
    std::vector<Line> lines = heading();
    std::vector<Line> means;
    std::vector<const Row*> everything;
    for (std::size_t i = 0; i < rows_.size();) {
      const Category category = rows_[i].category;
      std::string name(name_of(category));
      std::replace(name.begin(), name.end(), '_', ' ');
      std::vector<const Row*> group;
      lines.push_back({name, {}});
      for (; i < rows_.size() && rows_[i].category == category; ++i) {
        group.push_back(&rows_[i]);
        lines.push_back(line_of("  " + rows_[i].algorithm, {&rows_[i]}));
      }
      means.push_back(line_of("  " + name, group));
      everything.insert(everything.end(), group.begin(), group.end());
    }
    if (rows_.size() < 2) return lines;
    lines.push_back({"mean of", {}});
    if (means.size() > 1) lines.insert(lines.end(), means.begin(), means.end());
    lines.push_back(line_of(fmt::format("  all {} algorithms", rows_.size()), everything));
    return lines;
  }

  Line line_of(const std::string& name, const std::vector<const Row*>& rows) const {
    Line line{name, {}};
    for (const std::string& column : columns_)
      line.texts.push_back(text_of(numbers_of(rows, column)));
    return line;
  }

  static std::size_t width_of(const std::vector<Line>& lines, std::size_t column) {
    std::size_t width = 0;
    for (const Line& line : lines) {
      if (column >= line.texts.size()) continue;
      const std::string& text = line.texts[column];
      const bool has_sign = text.find(kPlusMinus) != std::string::npos;
      width = std::max(width, text.size() - (has_sign ? 1 : 0));  // two bytes, one character
    }
    return width + 3;
  }

  static std::string printed(const Line& line, std::size_t name_width, std::size_t first,
                             const std::vector<std::size_t>& widths) {
    std::string text = fmt::format("{:<{}}", line.name, name_width);
    for (std::size_t i = 0; i < widths.size() && first + i < line.texts.size(); ++i) {
      text += fmt::format("{:>{}}", line.texts[first + i], widths[i]);
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

  int length_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace

std::string paper_table(const std::vector<TableRun>& runs) {
  std::vector<int> lengths;
  for (const TableRun& run : runs) {
    for (const int length : run.test_lengths) {
      if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) {
        lengths.push_back(length);
      }
    }
  }
  std::string text;
  for (const int length : lengths) {
    text += (text.empty() ? "" : "\n") + ScoreTable(runs, length).text();
  }
  return text;
}

}  // namespace renar

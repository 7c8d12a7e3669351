#include "trainer/trace_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "algos/user_input.h"
#include "core/check.h"

namespace renar {
namespace {

using Values = std::span<const double>;

/// One row of columns: a text for each node.
struct Row {
  std::string label;
  std::vector<std::string> cells;
  std::vector<bool> changed;
};

struct Set {
  std::string label, text;
};

/// Rows below one line of node numbers: all probes of nodes, or one of edges.
struct Group {
  std::string name;  // of the probe of edges
  std::vector<Row> rows;
};

/// What is shown of the inputs, of one frame, or of the outputs.
struct Block {
  std::string title;
  std::vector<std::string> facts;  // "u 3*"
  std::vector<Set> sets;
  std::vector<Group> groups = {{}};  // that of the nodes first
};

/// A class by name where the textbook has names, else by number.
std::string class_name(const Probe& probe, std::size_t c) {
  constexpr std::string_view kColorNames[] = {"white", "gray", "black"};
  constexpr std::string_view kArrowNames[] = {"diag", "up", "left", "."};
  if (probe.name == "color" && probe.classes == 3) return std::string(kColorNames[c]);
  if (probe.name == "key" && probe.classes == 4) return std::string(1, kLetters[c]);
  if ((probe.name == "b" || probe.name == "b_h") && probe.classes == 4) {
    return std::string(kArrowNames[c]);
  }
  return std::to_string(c);
}

/// Three digits; below a million no digit before the point is lost.
std::string number_text(double x) {
  const double size = std::abs(x);
  if (x == std::floor(x) && size < 1e6) return fmt::format("{}", static_cast<int>(x));
  return size >= 100 && size < 1e6 ? fmt::format("{:.1f}", x) : fmt::format("{:.3g}", x);
}

/// The place of the one element that is not 0.
std::size_t marked(Values one_hot) {
  return static_cast<std::size_t>(
      std::find_if(one_hot.begin(), one_hot.end(), [](double x) { return x != 0; }) -
      one_hot.begin());
}

/// One value of a probe: a number, an index, or the numbers of a one-hot. A dot is 0 in tables.
std::string value_text(const Probe& probe, Values value) {
  switch (probe.type) {
    case Type::kScalar:
      return probe.location == Location::kEdge && value[0] == 0 ? "." : number_text(value[0]);
    case Type::kCategorical: return class_name(probe, marked(value));
    case Type::kMaskOne:
    case Type::kPermutationPointer: return std::to_string(marked(value));
    case Type::kMask:
    case Type::kPointer:
    case Type::kShouldBePermutation: return number_text(value[0]);
  }
  return "";
}

/// Whether a probe has one value a frame: it is the graph's, or marks one of the nodes.
bool is_fact(const Probe& probe) {
  return probe.location == Location::kGraph ||
         (probe.type == Type::kMaskOne && probe.location == Location::kNode);
}

/// Nodes as "0..4 7"; what is -1 is masked out and in no set.
std::string set_text(Values mask) {
  std::string text;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 1) continue;
    const std::size_t first = i;
    while (i + 1 < mask.size() && mask[i + 1] == 1) ++i;
    text += fmt::format("{}{}", text.empty() ? "" : " ", first);
    if (i > first) text += fmt::format("{}{}", i == first + 1 ? " " : "..", i);
  }
  return "{" + text + "}";
}

/// "  +3 -1": what came to a set and what left it.
std::string set_changes(Values mask, Values before) {
  std::string text;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if ((mask[i] == 1) == (before[i] == 1)) continue;
    text += fmt::format("{}{}{}", text.empty() ? "  " : " ", mask[i] == 1 ? '+' : '-', i);
  }
  return text;
}

/// The nodes from first to last if each points to the one before it, as an array in the course of a
/// sort does; empty if they form no such chain.
std::vector<std::size_t> order_of(Values predecessors) {
  const std::size_t n = predecessors.size();
  std::vector<std::size_t> next(n, n), order;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t before = static_cast<std::size_t>(predecessors[i]);
    if (before != i && next[before] != n) return {};
    if (before != i) next[before] = i;
    if (before == i && !order.empty()) return {};
    if (before == i) order.push_back(i);
  }
  if (order.empty()) return {};
  while (next[order.back()] != n) order.push_back(next[order.back()]);
  return order.size() == n ? order : std::vector<std::size_t>();
}

class TraceTable {
 public:
  TraceTable(const Trace& trace, int width)
      : trace_(trace),
        spec_(trace.spec()),
        nodes_(static_cast<std::size_t>(trace.nodes())),
        width_(static_cast<std::size_t>(width)) {
    RENAR_CHECK(trace.complete(), "[trace_table] the trace of {} nodes is not complete", nodes_);
    for (const Probe& probe : spec_) {
      if (probe.type == Type::kShouldBePermutation) order_ = probe.name;
    }
    if (!order_.empty() && spec_.contains("key")) keys_ = trace_["key"];
    hides_adj_ = spec_.contains("A") && spec_.contains("adj") && is_adjacency();
  }

  std::string text() {
    measure();
    std::string text = legend();
    append(block(Stage::kInput, 0), text);
    for (int t = 0; t < trace_.frames(); ++t) append(block(Stage::kHint, t), text);
    append(block(Stage::kOutput, 0), text);
    return text;
  }

 private:
  // ---- what is shown ---------------------------------------------------------------------------

  bool is_adjacency() const {
    const std::vector<double> a = trace_["A"], adj = trace_["adj"];
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool edge = a[i] != 0 || i % (nodes_ + 1) == 0;
      if ((adj[i] != 0) != edge) return false;
    }
    return true;
  }

  /// Whether a probe's pointers are shown as the order that they stand for.
  bool is_order(const Probe& probe) const {
    return !order_.empty() && (probe.name == order_ || probe.name == order_ + "_h");
  }

  std::string legend() const {
    std::string text =
        "Columns are nodes. Below a node, a pointer shows the node it points to; a mask is a set "
        "of\n"
        "nodes. After frame 0 only what changed is shown: * behind a value, + and - behind a "
        "set.\n";
    const bool tables = std::any_of(spec_.begin(), spec_.end(), [](const Probe& probe) {
      return probe.location == Location::kEdge;
    });
    if (tables) text += "A[u] is row u of a table, its columns are v; a dot is 0 there.";
    if (hides_adj_) text += " adj is A's edges and all self-loops.";
    if (tables) text += "\n";
    if (!order_.empty()) {
      text += fmt::format(
          "{0} and {0}_h (each node points to the one before it) are shown as the order of nodes "
          "that\nthey stand for, with the keys in that order below.\n",
          order_);
    }
    return text;
  }

  Block block(Stage stage, int frame) const {
    Block block;
    switch (stage) {
      case Stage::kInput: block.title = "input"; break;
      case Stage::kHint: block.title = fmt::format("frame {}", frame); break;
      case Stage::kOutput: block.title = "output"; break;
    }
    for (std::size_t p = 0; p < spec_.size(); ++p) {
      if (spec_[p].stage != stage || (hides_adj_ && spec_[p].name == "adj")) continue;
      std::vector<double> value, before;
      trace_.append_frame(p, frame, value);
      if (frame > 0) trace_.append_frame(p, frame - 1, before);
      if (frame > 0 && value == before && !is_fact(spec_[p])) continue;
      add(spec_[p], value, before, block);
    }
    return block;
  }

  /// Adds what is to be seen of a value; `before` is empty where there is nothing to compare with.
  void add(const Probe& probe, Values value, Values before, Block& block) const {
    if (is_fact(probe)) {
      const bool changed =
          !before.empty() && !std::equal(value.begin(), value.end(), before.begin());
      block.facts.push_back(
          fmt::format("{} {}{}", probe.name, value_text(probe, value), changed ? "*" : ""));
      return;
    }
    if (is_order(probe) && !order_of(value).empty()) {
      add_order(probe, value, before, block);
      return;
    }
    const bool is_table = probe.location == Location::kEdge;
    const bool is_set = probe.type == Type::kMask || (is_table && probe.type == Type::kMaskOne);
    if (is_table && !is_set) block.groups.push_back({probe.name, {}});
    const std::size_t rows = is_table ? nodes_ : 1, size = value.size() / rows;
    const std::size_t sets = block.sets.size();
    for (std::size_t i = 0; i < rows; ++i) {
      const Values row = value.subspan(i * size, size);
      const Values old = before.empty() ? before : before.subspan(i * size, size);
      if (!old.empty() && std::equal(row.begin(), row.end(), old.begin())) continue;
      const std::string label = is_table ? fmt::format("{}[{}]", probe.name, i) : probe.name;
      if (!is_set) {
        std::vector<Group>& groups = block.groups;
        (is_table ? groups.back() : groups.front()).rows.push_back(row_of(probe, label, row, old));
      } else if (!is_table || !old.empty() || set_text(row) != "{}") {
        block.sets.push_back({label, set_text(row) + (old.empty() ? "" : set_changes(row, old))});
      }
    }
    if (is_set && block.sets.size() == sets) block.sets.push_back({probe.name, "{}"});
  }

  Row row_of(const Probe& probe, const std::string& label, Values value, Values before) const {
    Row row{label, {}, {}};
    const std::size_t size = value.size() / nodes_;
    for (std::size_t j = 0; j < nodes_; ++j) {
      const Values cell = value.subspan(j * size, size);
      row.cells.push_back(value_text(probe, cell));
      row.changed.push_back(!before.empty() &&
                            !std::equal(cell.begin(), cell.end(), &before[j * size]));
    }
    return row;
  }

  void add_order(const Probe& probe, Values value, Values before, Block& block) const {
    const std::vector<std::size_t> order = order_of(value);
    const std::vector<std::size_t> old = before.empty() ? order : order_of(before);
    Row nodes{probe.name, {}, {}}, keys{"  key", {}, {}};
    for (std::size_t k = 0; k < nodes_; ++k) {
      nodes.cells.push_back(std::to_string(order[k]));
      nodes.changed.push_back(old.empty() || order[k] != old[k]);
      if (!keys_.empty()) keys.cells.push_back(number_text(keys_[order[k]]));
    }
    keys.changed = nodes.changed;
    std::vector<Row>& rows = block.groups.front().rows;
    rows.push_back(std::move(nodes));
    if (!keys.cells.empty()) rows.push_back(std::move(keys));
  }

  // ---- where it stands -------------------------------------------------------------------------

  /// The widths of labels and of each group's columns, the same in the whole text.
  void measure() {
    const auto see = [this](const Block& block) {
      for (const Set& set : block.sets) label_ = std::max(label_, set.label.size());
      for (const Group& group : block.groups) {
        std::size_t& column =
            columns_.try_emplace(group.name, std::to_string(nodes_ - 1).size()).first->second;
        for (const Row& row : group.rows) {
          label_ = std::max(label_, row.label.size());
          for (const std::string& cell : row.cells) column = std::max(column, cell.size());
        }
      }
    };
    see(block(Stage::kInput, 0));
    for (int t = 0; t < trace_.frames(); ++t) see(block(Stage::kHint, t));
    see(block(Stage::kOutput, 0));
  }

  void append(const Block& block, std::string& text) const {
    text += "\n";
    wrap(fmt::format("{:<{}}", block.title, label_ + 4), block.facts, "  ", text);
    for (const Set& set : block.sets) {
      wrap(fmt::format("  {:<{}}  ", set.label, label_), words_of(set.text), " ", text);
    }
    for (const Group& group : block.groups) append_rows(group, text);
  }

  /// The rows in pieces of as many columns as fit.
  void append_rows(const Group& group, std::string& text) const {
    const std::size_t width = columns_.at(group.name);
    const std::size_t column = width + 2;  // a space before, the star behind
    const std::size_t before = label_ + 3;
    const std::size_t fit = std::max<std::size_t>(1, (std::max(width_, before) - before) / column);
    for (std::size_t first = 0; first < nodes_; first += fit) {
      const std::size_t end = std::min(nodes_, first + fit);
      std::string piece;
      for (const Row& row : group.rows) {
        const auto changed = row.changed.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = static_cast<std::ptrdiff_t>(end - first);
        const bool any = std::find(changed, changed + count, true) != changed + count;
        const bool compares =
            std::find(row.changed.begin(), row.changed.end(), true) != row.changed.end();
        if (compares && !any) continue;
        std::string line = fmt::format("  {:<{}} ", row.label, label_);
        for (std::size_t j = first; j < end; ++j) {
          line += fmt::format(" {:>{}}{}", row.cells[j], width, row.changed[j] ? '*' : ' ');
        }
        append_line(line, piece);
      }
      if (piece.empty()) continue;
      std::string header(before, ' ');
      for (std::size_t j = first; j < end; ++j) header += fmt::format(" {:>{}} ", j, width);
      append_line(header, text);
      text += piece;
    }
  }

  static std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t start = 0; start < text.size();) {
      std::size_t end = std::min(text.find(' ', start + 1), text.size());
      words.push_back(text.substr(start, end - start));
      start = end + 1;
    }
    return words;
  }

  /// A label and words behind it, on as many lines as it takes.
  void wrap(const std::string& label, const std::vector<std::string>& words,
            std::string_view separator, std::string& text) const {
    std::string line = label;
    for (const std::string& word : words) {
      const bool first = line.size() <= label.size();
      if (!first && line.size() + separator.size() + word.size() > width_) {
        append_line(line, text);
        line = std::string(label.size(), ' ');
      } else if (!first) {
        line += separator;
      }
      line += word;
    }
    append_line(line, text);
  }

  static void append_line(std::string line, std::string& text) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }

  const Trace& trace_;
  const Spec& spec_;
  std::size_t nodes_, width_;
  std::string order_;         // the should_be_permutation output, if there is one
  std::vector<double> keys_;  // of what is ordered
  bool hides_adj_ = false;    // it says nothing that A does not say
  std::size_t label_ = 8;
  std::map<std::string, std::size_t> columns_;  // widths by group
};

}  // namespace

std::string trace_table(const Trace& trace, int width) { return TraceTable(trace, width).text(); }

}  // namespace renar

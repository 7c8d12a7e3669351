#include "core/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/text.h"

namespace renar {
namespace {

using Kind = ProfileMark::Kind;

constexpr int kQueueNumber = 1000;  // of a GPU's queue among the tracks
constexpr double kMilli = 1e3, kNano = 1e9;

/// Goes along a track and calls entered(mark), then piece(range, op, from, to) for each two marks
/// with a range around them, op "" where the second one ends no op, and left(mark).
template <class Entered, class Piece, class Left>
void follow(const ProfileTrack& track, const Entered& entered, const Piece& piece,
            const Left& left) {
  std::vector<const ProfileMark*> open;
  const ProfileMark* last = nullptr;
  for (const ProfileMark& mark : track.marks) {
    if (!open.empty()) piece(*open.back(), mark.kind == Kind::kOp ? mark.op : "", *last, mark);
    if (mark.kind == Kind::kEnter) {
      open.push_back(&mark);
      entered(mark);
    } else if (mark.kind == Kind::kLeave && !open.empty()) {
      open.pop_back();
      left(mark);
    }
    last = &mark;
  }
}

void add(const ProfileCell& cell, ProfileCell& sum) {
  sum.calls += cell.calls;
  sum.seconds += cell.seconds;
  sum.host_seconds += cell.host_seconds;
  sum.work += cell.work;
}

ProfileCell sum_of(const std::vector<ProfileCell>& cells) {
  ProfileCell sum{};
  for (const ProfileCell& cell : cells) add(cell, sum);
  return sum;
}

/// The cells' sums over all that have the same `key`, longest first.
template <class Key>
std::vector<ProfileCell> sums_by(const std::vector<ProfileCell>& cells, const Key& key) {
  std::map<decltype(key(cells[0])), ProfileCell> sums;
  for (const ProfileCell& cell : cells) {
    const auto [at, is_new] = sums.try_emplace(key(cell), cell);
    if (!is_new) add(cell, at->second);
  }
  std::vector<ProfileCell> sorted;
  for (const auto& entry : sums) sorted.push_back(entry.second);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileCell& a, const ProfileCell& b) {
    return a.seconds > b.seconds;
  });
  return sorted;
}

/// A range with all that is in it.
struct Range {
  std::string name;
  ProfileCell forward{}, backward{};
  std::vector<std::unique_ptr<Range>> inner;

  Range& at(const std::string& wanted) {
    for (const auto& range : inner) {
      if (range->name == wanted) return *range;
    }
    return *inner.emplace_back(std::make_unique<Range>(Range{wanted, {}, {}, {}}));
  }
};

Range ranges_of(const std::vector<ProfileCell>& cells) {
  Range all{};
  for (const ProfileCell& cell : cells) {
    Range* range = &all;
    for (std::size_t start = 0; start <= cell.range.size();) {
      const std::size_t end = std::min(cell.range.find('/', start), cell.range.size());
      range = &range->at(cell.range.substr(start, end - start));
      ProfileCell& sum = cell.phase == ProfilePhase::kForward ? range->forward : range->backward;
      ProfileCell part = cell;
      if (!cell.op.empty() || end < cell.range.size()) part.calls = 0;
      add(part, sum);
      start = end + 1;
    }
  }
  return all;
}

/// Rows of names, numbers and a remark; the host's times stand apart on a GPU alone.
class Table {
 public:
  Table(const ProfileCell& total, bool on_gpu) : total_(total), on_gpu_(on_gpu) {}

  void head(std::string_view names, std::string_view remark = "") {
    write("{:<42}{:>9}{:>12}{:>8}{:>10}", names, "calls", "ms", "share", "launches");
    if (on_gpu_) write("{:>12}", "host ms");
    write("{}\n", remark);
  }
  void row(const std::string& names, const ProfileCell& cell, const std::string& remark = "") {
    const double share = total_.seconds > 0 ? 100 * cell.seconds / total_.seconds : 0;
    write("{:<42}{:>9}{:>12.2f}{:>7.2f}%{:>10}", names, cell.calls, cell.seconds * kMilli, share,
          cell.work.launches);
    if (on_gpu_) write("{:>12.2f}", cell.host_seconds * kMilli);
    write("{}\n", remark);
  }
  void ranges(const Range& around, int depth) {
    for (const auto& range : around.inner) {
      ProfileCell both = range->forward;
      add(range->backward, both);
      both.calls = range->forward.calls;
      row(fmt::format("{:{}}{}", "", 2 * depth, range->name), both,
          fmt::format("{:>12.2f}{:>12.2f}", range->forward.seconds * kMilli,
                      range->backward.seconds * kMilli));
      ranges(*range, depth + 1);
    }
  }
  void gap() { text_ += '\n'; }
  const std::string& text() const { return text_; }

 private:
  template <class... T>
  void write(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  ProfileCell total_;
  bool on_gpu_;
  std::string text_;
};

std::string op_and_phase(const ProfileCell& cell) {
  return fmt::format("{:<32} {}", cell.op.empty() ? "(no op)" : cell.op, name_of(cell.phase));
}

/// A bar of the picture; times in nanoseconds, so that what ends together does so when written.
struct Event {
  std::string_view name;
  ProfilePhase phase;
  bool is_range;
  std::int64_t start, end;
  std::int64_t launches;
};

/// A range stands before what is in it, as readers of nested events want it.
std::vector<Event> events_of(const ProfileTrack& track, double ProfileMark::*time, double from,
                             double to) {
  std::vector<Event> events;
  std::vector<std::size_t> open;
  const auto at = [&](const ProfileMark& mark) {
    return std::llround((mark.*time - from) * kNano);
  };
  follow(
      track,
      [&](const ProfileMark& mark) {
        open.push_back(events.size());
        events.push_back({mark.scope->name, mark.phase, true, at(mark), -1, -mark.work.launches});
      },
      [&](const ProfileMark&, const char* op, const ProfileMark& a, const ProfileMark& b) {
        if (*op == 0) return;
        events.push_back({op, b.phase, false, at(a), at(b), (b.work - a.work).launches});
      },
      [&](const ProfileMark& mark) {
        events[open.back()].end = at(mark);
        events[open.back()].launches += mark.work.launches;
        open.pop_back();
      });
  const std::int64_t last = std::llround((to - from) * kNano);
  std::erase_if(events, [&](const Event& event) {
    return event.start < 0 || event.start >= last || event.end < event.start;
  });
  return events;
}

void write_track(std::string& text, int number, std::string_view name,
                 const std::vector<Event>& events) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 R"(,
{{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"{1}"}}}},
{{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
                 number, name);
  for (const Event& event : events) {
    fmt::format_to(out, R"(,
{{"ph":"X","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"{}{}","cat":"{}")",
                   number, static_cast<double>(event.start) / 1e3,
                   static_cast<double>(event.end - event.start) / 1e3,
                   without_namespaces(event.name),
                   event.phase == ProfilePhase::kBackward ? " (backward)" : "",
                   event.is_range ? "range" : "op");
    if (event.launches > 0) fmt::format_to(out, R"(,"args":{{"launches":{}}})", event.launches);
    text += '}';
  }
}

/// The place of a cell, which is made if need be: threads have scopes of their own for one path.
std::size_t find_cell(std::vector<ProfileCell>& cells, const std::string& range,
                      const std::string& op, ProfilePhase phase) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].range == range && cells[i].op == op && cells[i].phase == phase) return i;
  }
  cells.push_back({range, op, phase});
  return cells.size() - 1;
}

}  // namespace

std::vector<ProfileCell> profile_cells(std::span<const ProfileTrack> tracks) {
  // By pointers first: there are a hundred thousand marks and a hundred names.
  using Key = std::tuple<const ProfileScope*, std::string_view, ProfilePhase>;
  std::map<Key, std::size_t> places;
  std::vector<ProfileCell> cells;
  const auto cell_of = [&](const ProfileMark& range, std::string_view op) -> ProfileCell& {
    const auto [at, is_new] = places.try_emplace({range.scope, op, range.phase}, cells.size());
    if (is_new)
      at->second = find_cell(cells, path_of(*range.scope), without_namespaces(op), range.phase);
    return cells[at->second];
  };
  for (const ProfileTrack& track : tracks) {
    int depth = 0;
    follow(
        track,
        [&](const ProfileMark& mark) {
          // A worker's outermost range is the one that it works for, counted where it began.
          cell_of(mark, "").calls += track.number == 0 || depth > 0 ? 1 : 0;
          ++depth;
        },
        [&](const ProfileMark& range, std::string_view op, const ProfileMark& a,
            const ProfileMark& b) {
          const bool elsewhere = b.kind == Kind::kOp && b.scope != nullptr;
          ProfileCell& cell = cell_of(elsewhere ? b : range, op);
          if (!op.empty()) ++cell.calls;
          const double host = b.host - a.host;
          cell.host_seconds += host;
          cell.seconds += track.queues ? b.queue - a.queue : host;
          cell.work += b.work - a.work;
        },
        [&](const ProfileMark&) { --depth; });
  }
  return cells;
}

std::string profile_text(std::span<const ProfileTrack> tracks) {
  const std::vector<ProfileCell> cells = profile_cells(tracks);
  const ProfileCell total = sum_of(cells);
  const bool on_gpu = std::any_of(tracks.begin(), tracks.end(),
                                  [](const ProfileTrack& track) { return track.queues; });
  Table table(total, on_gpu);
  table.head(fmt::format("{:<32} phase", "op"));
  const auto by_op = [](const ProfileCell& cell) { return std::tuple(cell.op, cell.phase); };
  for (const ProfileCell& cell : sums_by(cells, by_op)) table.row(op_and_phase(cell), cell);
  table.row("total", total);
  table.gap();
  table.head("range, with all that is in it", fmt::format("{:>12}{:>12}", "forward", "backward"));
  table.ranges(ranges_of(cells), 0);
  table.gap();
  table.head(fmt::format("{:<32} phase", "op"), "  range");
  const auto by_place = [](const ProfileCell& cell) {
    return std::tuple(cell.op, cell.phase, cell.range);
  };
  for (const ProfileCell& cell : sums_by(cells, by_place)) {
    table.row(op_and_phase(cell), cell, "  " + cell.range);
  }
  return table.text();
}

std::string profile_trace(std::span<const ProfileTrack> tracks, double from, double to) {
  std::string text = R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"renar"}})";
  for (const ProfileTrack& track : tracks) {
    write_track(text, track.number, track.thread, events_of(track, &ProfileMark::host, from, to));
    if (!track.queues) continue;
    write_track(text, kQueueNumber, "GPU", events_of(track, &ProfileMark::queue, from, to));
  }
  return text + "\n]}\n";
}

}  // namespace renar

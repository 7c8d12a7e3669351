#include "trainer/profiled_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/profile_report.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr int kWarmUp = 3, kMeasured = 5;
constexpr int kSummaryLines = 2 + 1 + 15;  // what was measured and a gap, the heads, rows

}  // namespace

ProfiledSteps::ProfiledSteps(const Config& config, const Machine& machine,
                             const RunDirectory& directory, int first)
    : config_(config), machine_(machine), directory_(directory), begin_(first), end_(first) {
  if (!config.profile) return;
  const int left = config.steps - first;
  if (left >= kWarmUp + kMeasured) begin_ += kWarmUp;
  end_ = std::min(begin_ + kMeasured, config.steps);
}

void ProfiledSteps::before(int step) {
  if (step < begin_ || step >= end_) return;
  if (!profiler_) {
    profiler_.emplace(machine_.device);
    start_ = seconds_now();
  }
  step_start_ = seconds_now();
}

void ProfiledSteps::after(int step) {
  if (!profiler_) return;
  profiler_->collect();
  const double now = seconds_now();
  if (now - step_start_ > longest_end_ - longest_start_) {
    longest_start_ = step_start_;
    longest_end_ = now;
  }
  if (step < end_) return;
  write(now - start_);
  profiler_.reset();
}

void ProfiledSteps::write(double seconds) {
  const std::vector<ProfileTrack> tracks = profiler_->tracks();
  const std::string head =
      fmt::format("profile of {}, {}, {} on {}: steps {} to {} of {} in {:.2f} s\n\n",
                  join(config_.algo), config_.method, config_.processor, text_of(machine_),
                  begin_ + 1, end_, config_.steps, seconds);
  write_file_atomically(directory_.profile(), head + profile_text(tracks));
  write_file_atomically(directory_.profile_trace(),
                        profile_trace(tracks, longest_start_, longest_end_));
}

std::string profile_summary(const RunDirectory& directory) {
  const std::string text = read_file(directory.profile());
  std::size_t end = 0;
  for (int line = 0; line < kSummaryLines && end < text.size(); ++line) {
    end = text.find('\n', end) + 1;
    if (end < text.size() && text[end] == '\n' && line > 1) break;  // the table was shorter
  }
  return fmt::format("\n{}all of it in {}; {} is for https://ui.perfetto.dev\n",
                     text.substr(0, end), directory.profile(), directory.profile_trace());
}

}  // namespace renar

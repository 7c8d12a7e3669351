// --profile: a few steady steps of a run are measured and told of in its directory.
//
//   profile.txt   where the time went, by op and by range (core/profile_report.h)
//   profile.json  the longest of the steps as a picture, for https://ui.perfetto.dev
//
// Measured are five steps after three that warm up, or the first five at most where the call has
// fewer than eight: with the standard settings each training length once. What is computed stays
// the same.
#pragma once

#include <optional>
#include <string>

#include "core/profiler.h"
#include "trainer/config.h"
#include "trainer/machine.h"
#include "trainer/run_directory.h"

namespace renar {

class ProfiledSteps {
 public:
  /// For a call that begins with step `first`. Does nothing without --profile.
  ProfiledSteps(const Config& config, const Machine& machine, const RunDirectory& directory,
                int first);

  /// Round each step; `step` is how many have been done. Writes the files after the last one that
  /// is measured.
  void before(int step);
  void after(int step);

 private:
  void write(double seconds);

  const Config& config_;
  const Machine& machine_;
  const RunDirectory& directory_;
  int begin_, end_;  // the steps that are measured
  std::optional<Profiler> profiler_;
  double start_ = 0, step_start_ = 0;
  double longest_start_ = 0, longest_end_ = 0;
};

/// The most important lines of profile.txt, for the end of a run. A run that was stopped before the
/// steps were done has none.
std::string profile_summary(const RunDirectory& directory);

}  // namespace renar

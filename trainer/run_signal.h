// Ctrl-C that loses nothing: the first SIGINT or SIGTERM asks the training loop to stop after its
// step, a second one ends the program at once.
#pragma once

#include <csignal>

namespace renar {

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the program. One that is made
/// while another lives leaves all as it is: between the runs of a sweep no signal is lost.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  bool outermost_;
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

/// Whether a signal has come since the outermost StopSignals object was made.
bool stop_requested();

}  // namespace renar

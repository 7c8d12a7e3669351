// Ctrl-C that loses nothing: the first SIGINT or SIGTERM, or the SIGHUP of a terminal that was
// closed, asks the training loop to stop after its step, and says so on stderr; the same signal
// again ends the program at once.
#pragma once

#include <array>
#include <csignal>

namespace renar {

/// While it lives, these signals set a flag instead of ending the program, but a SIGHUP that was
/// ignored (nohup) still is. One that is made while another lives leaves all as it is: between the
/// runs of a sweep no signal is lost.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array kCaught = {SIGINT, SIGTERM, SIGHUP};

  bool outermost_;
  std::array<struct sigaction, kCaught.size()> old_{};
};

/// Whether a signal has come since the outermost StopSignals object was made.
bool stop_requested();

}  // namespace renar

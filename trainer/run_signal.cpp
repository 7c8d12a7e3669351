#include "trainer/run_signal.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace renar {
namespace {

volatile std::sig_atomic_t stop = 0;
bool caught = false;  // a StopSignals object lives

void on_signal(int) {
  const int was = errno;
  stop = 1;
  constexpr std::string_view kSaid =
      "\nstopping after what is being done; the same signal again ends at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  errno = was;
}

}  // namespace

StopSignals::StopSignals() : outermost_(!caught) {
  if (!outermost_) return;
  caught = true;
  stop = 0;
  struct sigaction asks {};
  asks.sa_handler = on_signal;
  // SA_RESETHAND: when the signal comes again the system's own handler ends the program.
  asks.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&asks.sa_mask);
  for (std::size_t i = 0; i < kCaught.size(); ++i) {
    sigaction(kCaught[i], &asks, &old_[i]);
    const bool stays_ignored = kCaught[i] == SIGHUP && old_[i].sa_handler == SIG_IGN;
    if (stays_ignored) sigaction(SIGHUP, &old_[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  if (!outermost_) return;
  for (std::size_t i = 0; i < kCaught.size(); ++i) sigaction(kCaught[i], &old_[i], nullptr);
  stop = 0;
  caught = false;
}

bool stop_requested() { return stop != 0; }

}  // namespace renar

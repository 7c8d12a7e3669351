#include "trainer/run_signal.h"

namespace renar {
namespace {

volatile std::sig_atomic_t stop = 0;
bool caught = false;  // a StopSignals object lives

void on_signal(int) { stop = 1; }

}  // namespace

StopSignals::StopSignals() : outermost_(!caught) {
  if (!outermost_) return;
  caught = true;
  stop = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  // SA_RESETHAND: when the signal comes again the system's own handler ends the program.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

StopSignals::~StopSignals() {
  if (!outermost_) return;
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  stop = 0;
  caught = false;
}

bool stop_requested() { return stop != 0; }

}  // namespace renar

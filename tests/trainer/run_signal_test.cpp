// Ctrl-C: the first signal asks, the second would kill.
#include "trainer/run_signal.h"

#include <doctest/doctest.h>

#include <csignal>
#include <initializer_list>

namespace renar::run_signal_test {
namespace {

/// What a signal does while it lives, whatever whoever started the tests has said (nohup, for one).
struct Disposition {
  Disposition(int signal, void (*handler)(int)) : number(signal) {
    struct sigaction now {};
    now.sa_handler = handler;
    sigaction(number, &now, &before);
  }
  ~Disposition() { sigaction(number, &before, nullptr); }

  int number;
  struct sigaction before {};
};

TEST_CASE("run_signal: the first signal is a request, and gone with the object") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Disposition standard(number, SIG_DFL);
    {
      const StopSignals signals;
      CHECK_FALSE(stop_requested());
      std::raise(number);
      CHECK(stop_requested());
      struct sigaction second {};
      sigaction(number, nullptr, &second);
      CHECK((second.sa_handler == SIG_DFL));  // the second one kills
    }
    CHECK_FALSE(stop_requested());
  }
}

TEST_CASE("run_signal: a SIGHUP that is ignored stays so") {
  const Disposition ignored(SIGHUP, SIG_IGN);  // as nohup has it
  const StopSignals signals;
  std::raise(SIGHUP);
  CHECK_FALSE(stop_requested());
}

TEST_CASE("run_signal: a request outlives the objects within the outermost one") {
  {
    const StopSignals sweep;
    std::raise(SIGINT);
    {
      const StopSignals run;
      CHECK(stop_requested());
    }
    CHECK(stop_requested());
  }
  CHECK_FALSE(stop_requested());
}

}  // namespace
}  // namespace renar::run_signal_test

#include "core/simt_races.h"

#ifdef RENAR_WATCH_RACES

#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/check.h"

// Of the sanitizer's library; it has no header for them.
extern "C" {
int __tsan_get_report_mop(void* report, unsigned long index, int* thread, void** address, int* size,
                          int* write, int* atomic, void** trace, unsigned long trace_size);
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
void __sanitizer_symbolize_pc(void* pc, const char* format, char* text, unsigned long size);
const char* __tsan_default_options();
void __tsan_on_report(void* report);
}

namespace renar::simt {
namespace {

/// One of the two accesses of a race.
struct Access {
  int size = 0, write = 0;
  std::array<void*, 8> trace{};  // the places of the calls, the innermost first
};

struct Watch {
  Stack* host = nullptr;     // who launches; null between launches
  Stack* running = nullptr;  // whose kernel code runs
  std::vector<Stack*> racers;
  void* accused = nullptr;           // whose access showed this launch's first race
  std::array<Access, 2> accesses{};  // that one, and the one before it
  bool ordered = false;
  long ends = 0;  // what threads let go of at their end hangs on its address
  int host_races = 0;
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

  /// Of a launch's races renar::Error tells; any other ends the process with an error.
  ~Watch() {
    std::fflush(nullptr);
    if (host_races > 0) std::_Exit(1);
  }
};

void print_reports_to(int file) {
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(file)));
}

Watch& watch() {
  static Watch only;
  return only;
}

void name(const Stack& stack) {
  __tsan_switch_to_fiber(stack.racer, __tsan_switch_to_fiber_no_sync);
}

void order(Stack& before, Stack& after) {
  name(before);
  __tsan_release(&before);
  name(after);
  __tsan_acquire(&before);
}

void order_before_host(std::span<Stack* const> stacks) {
  Watch& w = watch();
  for (const Stack* each : stacks) {
    name(*each);
    __tsan_release(&w.ends);
  }
  name(*w.host);
  __tsan_acquire(&w.ends);
}

std::string words(const Access& access) {
  std::string all = message_of("{} of {} bytes", access.write ? "a write" : "a read", access.size);
  for (void* const pc : access.trace) {
    if (pc == nullptr) break;
    std::array<char, 512> text{};
    __sanitizer_symbolize_pc(pc, "%f %S", text.data(), text.size());
    all += std::string("\n      ") + text.data();
  }
  return all;
}

// The sanitizer holds its locks meanwhile: what is noted is put in words later.
void note(void* report) {
  Watch& w = watch();
  if (w.host == nullptr) {
    ++w.host_races;
    return;
  }
  if (w.accused != nullptr) return;
  w.accused = __tsan_get_current_fiber();
  __tsan_ignore_thread_begin();
  for (unsigned i = 0; i < w.accesses.size(); ++i) {
    Access& access = w.accesses[i] = {};
    int thread = 0, atomic = 0;
    void* address = nullptr;
    __tsan_get_report_mop(report, i, &thread, &address, &access.size, &access.write, &atomic,
                          access.trace.data(), access.trace.size());
  }
}

// What follows from the first race is not worth a report.
void order_all() {
  Watch& w = watch();
  w.ordered = true;
  order_before_host(w.racers);
}

}  // namespace

void begin_launch(Stack& host) {
  Watch& w = watch();
  w.host = &host;
  w.accused = nullptr;
  w.ordered = false;
  host.racer = __tsan_get_current_fiber();
  print_reports_to(w.nowhere);
}

std::optional<std::string> end_launch() {
  Watch& w = watch();
  const Stack& host = *std::exchange(w.host, nullptr);
  print_reports_to(STDERR_FILENO);
  if (w.accused == nullptr) return {};
  __tsan_switch_to_fiber(w.accused, __tsan_switch_to_fiber_no_sync);
  __tsan_ignore_thread_end();
  name(host);
  return words(w.accesses[0]) + "\n  and " + words(w.accesses[1]);
}

void begin_racer(Stack& stack) {
  stack.racer = __tsan_create_fiber(0);
  watch().racers.push_back(&stack);
}

void end_racer(Stack& stack) {
  __tsan_destroy_fiber(stack.racer);
  std::erase(watch().racers, &stack);
}

void run_as(Stack& stack) {
  Watch& w = watch();
  if (w.ordered) order(*w.host, stack);
  w.running = &stack;
  name(stack);
}

void run_as_host() {
  Watch& w = watch();
  if (w.ordered) order(*w.running, *w.host);
  if (w.accused != nullptr && !w.ordered) order_all();
  name(*w.host);
}

void after_host(Stack& stack) {
  order(*watch().host, stack);
  name(*watch().host);
}

void before_host(std::span<Stack* const> stacks) { order_before_host(stacks); }

// By the first one's clock. It has taken up all that was ever left there, so those who take it up
// come after nobody but the first and whom it came after.
void meet(std::span<Stack* const> stacks) {
  Stack& first = *stacks[0];
  for (const Stack* each : stacks) {
    name(*each);
    __tsan_release(&first);
  }
  for (const Stack* each : stacks) {
    name(*each);
    __tsan_acquire(&first);
  }
  name(*watch().host);
}

}  // namespace renar::simt

extern "C" void __tsan_on_report(void* report) { renar::simt::note(report); }

// Each launch answers for itself, so a race that another launch had, too, counts again.
extern "C" const char* __tsan_default_options() {
  return "suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0";
}

#endif

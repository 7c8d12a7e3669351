// What ThreadSanitizer is told of a launch. It looks for races between threads of the CPU; here all
// threads of a kernel run on one of them. So each stack of the bench is declared a thread of its
// own (a fiber, in its words), and what orders them on a GPU, and nothing else, is declared too:
//
//   a launch      comes after all that the host did, launches included, and before all it does next
//   a barrier     of a block, or __syncwarp: what its threads did comes before what any does next
//
// Shuffles and votes order nothing, as CUDA has it, and neither do turns: that two threads never
// run at once here hides no race, whatever the schedule. What the bench does itself counts as the
// host's: the kernel's threads are named while the kernel's code runs, and then only.
//
// A race between blocks is seen where they are among kUnorderedThreads threads that run one after
// another: to ThreadSanitizer a thread costs half a millisecond and 0.9 MB once, and one more
// entry in every clock that a barrier compares. Those of later blocks take the same names again,
// after all that went before.
//
// Only in a build with RENAR_SANITIZE=thread; elsewhere these functions do nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/simt_stack.h"

namespace renar::simt {

#ifdef RENAR_WATCH_RACES

constexpr bool kWatchesRaces = true;
constexpr std::size_t kUnorderedThreads = 1024;

/// From now to end_launch, `host` is who launches and runs the bench.
void begin_launch(Stack& host);
/// Where memory was used by two threads in no order and not only read, in words: the first race of
/// the launch. After it the threads count as ordered by their turns, so there is hardly a second.
std::optional<std::string> end_launch();

void begin_racer(Stack& stack);
void end_racer(Stack& stack);

/// What runs from here on is done by that thread.
void run_as(Stack& stack);
void run_as_host();

/// To be called as the host. What `stack` does next comes after what the host did; what the host
/// does next after what these did; what any of these does next after what all of them did.
void after_host(Stack& stack);
void before_host(std::span<Stack* const> stacks);
void meet(std::span<Stack* const> stacks);

#else  // nothing to do, and inline: whenever a fiber waits it comes here

constexpr bool kWatchesRaces = false;
constexpr std::size_t kUnorderedThreads = 0;
inline void begin_launch(Stack&) {}
inline std::optional<std::string> end_launch() { return {}; }
inline void begin_racer(Stack&) {}
inline void end_racer(Stack&) {}
inline void run_as(Stack&) {}
inline void run_as_host() {}
inline void after_host(Stack&) {}
inline void before_host(std::span<Stack* const>) {}
inline void meet(std::span<Stack* const>) {}

#endif

}  // namespace renar::simt

#include "core/simt.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/check.h"
#include "core/rng.h"
#include "core/simt_memory.h"
#include "core/simt_races.h"
#include "core/simt_stack.h"

namespace renar::simt {
namespace {

namespace context = boost::context::detail;

constexpr unsigned kLanes = 32;
constexpr std::size_t kGuardBytes = 64;  // after shared memory
constexpr int kUnset = 0xff, kGuard = 0xa5;

using Site = Barrier;  // where in the source a thread waits

enum class Status { kUnstarted, kReady, kAtBarrier, kInWarp, kDone };

struct Thread {
  Status status = Status::kUnstarted;
  Stack* stack = nullptr;
  Site site{};
  WarpOp op{};
  WarpWork work = nullptr;
  Fragments fragments{};
  unsigned mask = 0, source = 0;
  std::uint64_t bits = 0;  // put down, then taken up
};

class Engine {
 public:
  void run(Extent blocks, std::size_t shared, void (*body)(const void*), const void* arguments);
  void wait_at_barrier(Site site);
  bool counts(Site site);
  std::uint64_t join_warp(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source, Site site);
  Thread& running() { return threads_[static_cast<std::size_t>(current_)]; }

  /// What the blocks that ran since the last one did comes before what will be done from now on.
  void end_wave();
  /// Whatever still waits on them is given up.
  void forget_stacks();

  Schedule schedule;
  bool leaves_out_kernels = false;
  CounterRng choices{0, Purpose::kInitialisation, 0, 0};  // of launches
  bool watching = false;
  std::vector<Barrier> seen;
  std::optional<Barrier> left_out;
  std::mutex one_launch;
  std::byte* shared() { return shared_here_; }
  unsigned lane() const { return static_cast<unsigned>(current_) % kLanes; }
  Stack& stack_of_launch() { return scheduler_; }
  Stack& stack() { return *stack_; }

 private:
  void run_block(std::size_t shared);
  void resume(int thread, Stack& from);
  void give_way();
  Stack* free_stack();
  [[noreturn]] void run_unstarted(Stack* stack);
  static void enter(context::transfer_t from);
  int take_ready();
  void make_ready(int thread);
  bool release_barrier();
  bool release_warp(int thread);
  void set_indices(int thread);
  [[noreturn]] void stuck();

  void (*body_)(const void*) = nullptr;
  const void* arguments_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<unsigned> in_warp_;  // of each warp: how many of its threads are kInWarp
  std::vector<int> ready_;         // unstarted or released, from head_ on
  std::size_t head_ = 0;
  int ahead_ = 0;  // who runs first where one runs ahead
  int current_ = 0, done_ = 0;
  Stack* stack_ = nullptr;  // of the current thread
  Stack scheduler_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  std::vector<Stack*> idle_;
  std::vector<Stack*> used_;                    // since the last end of a wave
  std::vector<std::vector<std::byte>> shared_;  // of each block since then
  std::byte* shared_here_ = nullptr;            // of the running block
  CounterRng random_{0, Purpose::kInitialisation, 0, 0};
};

Engine& engine() {
  static Engine only;
  return only;
}

std::uint32_t below(CounterRng& random, std::size_t count) {
  return static_cast<std::uint32_t>(random.next() * std::uint64_t{count} >> 32);
}

void Engine::run(Extent blocks, std::size_t shared, void (*body)(const void*),
                 const void* arguments) {
  body_ = body;
  arguments_ = arguments;
  random_ = CounterRng(schedule.seed, Purpose::kInitialisation, blocks.count(), blockDim.count());
  std::vector<unsigned> order(blocks.count());
  for (unsigned i = 0; i < blocks.count(); ++i) {
    order[i] = schedule.order == Order::kReverse ? blocks.count() - 1 - i : i;
  }
  for (std::size_t i = order.size(); schedule.order == Order::kRandom && i-- > 1;) {
    std::swap(order[i], order[below(random_, i + 1)]);
  }
  for (const unsigned block : order) {
    blockIdx = {block % blocks.x, block / blocks.x};
    run_block(shared);
  }
  end_wave();
}

void Engine::end_wave() {
  before_host(used_);
  idle_.insert(idle_.end(), used_.begin(), used_.end());
  used_.clear();
  shared_.clear();
}

void Engine::run_block(std::size_t shared) {
  const unsigned count = blockDim.count();
  if (used_.size() + count > kUnorderedThreads) end_wave();
  shared_here_ = shared_.emplace_back(shared + kGuardBytes, std::byte{kUnset}).data();
  std::memset(shared_here_ + shared, kGuard, kGuardBytes);
  threads_.assign(count, Thread{});
  in_warp_.assign((count + kLanes - 1) / kLanes, 0);
  ready_.resize(count);
  head_ = 0;
  done_ = 0;
  for (unsigned i = 0; i < count; ++i) ready_[i] = static_cast<int>(i);
  ahead_ = schedule.order == Order::kOneAhead ? static_cast<int>(below(random_, count)) : -1;
  while (done_ < static_cast<int>(count)) {
    if (head_ == ready_.size() && !release_barrier()) stuck();
    resume(take_ready(), scheduler_);
  }
  const std::byte* guard = shared_here_ + shared;
  RENAR_CHECK(
      std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == std::byte{kGuard}; }),
      "[simt] block ({}, {}) wrote past its {} bytes of shared memory", blockIdx.x, blockIdx.y,
      shared);
}

int Engine::take_ready() {
  std::size_t chosen = head_;
  switch (schedule.order) {
    case Order::kForward: break;
    case Order::kReverse: chosen = ready_.size() - 1; break;
    case Order::kRandom: chosen = head_ + below(random_, ready_.size() - head_); break;
    case Order::kOneAhead: {
      const auto found =
          std::find(ready_.begin() + static_cast<std::ptrdiff_t>(head_), ready_.end(), ahead_);
      if (found != ready_.end()) chosen = static_cast<std::size_t>(found - ready_.begin());
      break;
    }
  }
  const int thread = ready_[chosen];
  if (chosen == head_) {
    ++head_;
  } else {
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return thread;
}

void Engine::make_ready(int thread) {
  threads_[static_cast<std::size_t>(thread)].status = Status::kReady;
  if (head_ == ready_.size()) {
    ready_.clear();
    head_ = 0;
  }
  ready_.push_back(thread);
}

// Of one axis after the other, x first, as CUDA numbers the threads of a block.
void Engine::set_indices(int thread) {
  current_ = thread;
  const auto t = static_cast<unsigned>(thread);
  threadIdx = {t % blockDim.x, t / blockDim.x};
}

// Leaves `from` for the thread; returns when somebody comes back to `from`.
void Engine::resume(int thread, Stack& from) {
  Thread& t = threads_[static_cast<std::size_t>(thread)];
  if (t.status == Status::kUnstarted) {
    t.stack = free_stack();
    after_host(*t.stack);
  }
  set_indices(thread);
  stack_ = t.stack;
  if (stack_ != &from) switch_stacks(from, *stack_);
}

// The running thread waits or has ended, and whoever is ready goes on at once; where nobody is, or
// where races are watched, the launch decides.
void Engine::give_way() {
  Stack& mine = *stack_;
  if (kWatchesRaces || head_ == ready_.size()) {
    switch_stacks(mine, scheduler_);
  } else {
    resume(take_ready(), mine);
  }
}

Stack* Engine::free_stack() {
  Stack* stack = nullptr;
  if (!idle_.empty()) {
    stack = idle_.back();
    idle_.pop_back();
  } else {
    stack = stacks_.emplace_back(std::make_unique<Stack>()).get();
    make_stack(*stack, enter);
    begin_racer(*stack);
  }
  if (kWatchesRaces) used_.push_back(stack);
  return stack;
}

void Engine::forget_stacks() {
  for (const auto& stack : stacks_) {
    end_racer(*stack);
    release_stack(*stack);
  }
  stacks_.clear();
  idle_.clear();
}

void Engine::enter(context::transfer_t from) {
  Engine& e = engine();
  Stack& here = *e.threads_[static_cast<std::size_t>(e.current_)].stack;
  arrive(here, from);
  e.run_unstarted(&here);
}

// A stack serves one thread after the other, as long as they end without waiting for each other;
// but where races are watched each has its own, so that they are not taken for one thread.
void Engine::run_unstarted(Stack* stack) {
  for (;;) {
    run_as(*stack);
    body_(arguments_);
    run_as_host();
    threads_[static_cast<std::size_t>(current_)].status = Status::kDone;
    ++done_;
    if (!kWatchesRaces) idle_.push_back(stack);
    give_way();
  }
}

// Whether the barrier is to be obeyed.
bool Engine::counts(Site site) {
  if (watching && std::find(seen.begin(), seen.end(), site) == seen.end()) seen.push_back(site);
  return !left_out || !(*left_out == site);
}

void Engine::wait_at_barrier(Site site) {
  if (!counts(site)) return;
  Thread& t = threads_[static_cast<std::size_t>(current_)];
  t.status = Status::kAtBarrier;
  t.site = site;
  give_way();
}

// Nobody can go on: either all threads stand at one barrier, or the kernel is wrong.
bool Engine::release_barrier() {
  const Site site = threads_[0].site;
  for (const Thread& t : threads_) {
    if (t.status != Status::kAtBarrier) return false;
    RENAR_CHECK(t.site == site, "[simt] threads of one block wait at two barriers, {} and {}",
                site.text(), t.site.text());
  }
  if (kWatchesRaces) meet(std::span(used_).last(threads_.size()));
  for (std::size_t i = 0; i < threads_.size(); ++i) make_ready(static_cast<int>(i));
  return true;
}

std::uint64_t Engine::join_warp(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                                Site site) {
  const int me = current_;
  Thread& t = threads_[static_cast<std::size_t>(me)];
  t.status = Status::kInWarp;
  ++in_warp_[static_cast<std::size_t>(me) / kLanes];
  t.op = op;
  t.mask = mask;
  t.bits = bits;
  t.source = source;
  t.site = site;
  if (!release_warp(me) || schedule.order == Order::kRandom) {
    give_way();
  } else {  // the last to come goes on
    ready_.pop_back();
  }
  t.status = Status::kReady;
  return t.bits;
}

// Completes the operation if all lanes that it names have come; `thread` is released last.
bool Engine::release_warp(int thread) {
  const int first = thread / static_cast<int>(kLanes) * static_cast<int>(kLanes);
  const Thread& mine = threads_[static_cast<std::size_t>(thread)];
  unsigned& here = in_warp_[static_cast<std::size_t>(first) / kLanes];
  const auto lanes_named = static_cast<unsigned>(std::popcount(mine.mask));
  if (here < lanes_named) return false;
  std::array<std::uint64_t, kLanes> put{};
  std::uint64_t votes = 0;
  std::vector<Stack*> lanes;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((mine.mask >> i & 1u) == 0) continue;
    const std::size_t other = static_cast<std::size_t>(first) + i;
    if (other >= threads_.size()) return false;
    const Thread& t = threads_[other];
    const bool came = t.status == Status::kInWarp && t.mask == mine.mask && t.op == mine.op &&
                      t.site == mine.site;
    if (!came) return false;
    put[i] = t.bits;
    if (kWatchesRaces && t.op == WarpOp::kBarrier) lanes.push_back(t.stack);
    votes |= std::uint64_t{t.bits != 0} << i;
  }
  if ((mine.mask >> (static_cast<unsigned>(thread) % kLanes) & 1u) == 0) return false;
  if (mine.op == WarpOp::kTogether) {
    std::array<Fragments, kLanes> brought;
    Thread* lane = &threads_[static_cast<std::size_t>(first)];
    for (unsigned i = 0; i < kLanes; ++i) brought[i] = lane[i].fragments;
    mine.work(brought.data());
    for (unsigned i = 0; i < kLanes; ++i) lane[i].fragments = brought[i];
  }
  here -= lanes_named;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((mine.mask >> i & 1u) == 0) continue;
    Thread& t = threads_[static_cast<std::size_t>(first) + i];
    t.bits = t.op == WarpOp::kVote ? votes : put[t.source % kLanes];
    if (first + static_cast<int>(i) != thread) make_ready(first + static_cast<int>(i));
  }
  make_ready(thread);
  if (mine.op == WarpOp::kBarrier) meet(lanes);
  return true;
}

void Engine::stuck() {
  int at_barrier = 0, in_warp = 0;
  std::string where;
  for (const Thread& t : threads_) {
    at_barrier += t.status == Status::kAtBarrier ? 1 : 0;
    in_warp += t.status == Status::kInWarp ? 1 : 0;
    if (where.empty() && t.status != Status::kDone) where = t.site.text();
  }
  throw Error(
      message_of("[simt] no thread of block ({}, {}) can go on: of {} {} have ended, {} "
                 "wait at a barrier, {} in an operation of their warp; the first at {}",
                 blockIdx.x, blockIdx.y, static_cast<std::int64_t>(threads_.size()), done_,
                 at_barrier, in_warp, where));
}

}  // namespace

bool watches_races() { return kWatchesRaces; }

void set_schedule(const Schedule& schedule) {
  engine().schedule = schedule;
  engine().choices = CounterRng(schedule.seed, Purpose::kInitialisation, 0, 0);
}

std::size_t next_launch(std::size_t ready) {
  switch (engine().schedule.order) {
    case Order::kForward: return 0;
    case Order::kReverse: return ready - 1;
    case Order::kRandom:
    case Order::kOneAhead: break;
  }
  return below(engine().choices, ready);
}

void leave_out_kernels(bool on) { engine().leaves_out_kernels = on; }

void run_grid(Extent blocks, Extent threads, std::size_t shared_bytes, void (*body)(const void*),
              const void* arguments) {
  Engine& e = engine();
  if (e.leaves_out_kernels) return;
  const std::lock_guard lock(e.one_launch);
  const Unlocked memory;
  gridDim = blocks;
  blockDim = threads;
  begin_launch(e.stack_of_launch());
  try {
    e.run(blocks, shared_bytes, body, arguments);
  } catch (...) {
    e.end_wave();
    end_launch();
    e.forget_stacks();
    throw;
  }
  const std::optional<std::string> race = end_launch();
  RENAR_CHECK(!race, "[simt] a race, of threads that nothing orders: {}", *race);
}

// A file name is one text as a rule: every lane of every operation comes here.
bool Barrier::operator==(const Barrier& other) const {
  const char *file = at.file_name(), *other_file = other.at.file_name();
  return at.line() == other.at.line() && at.column() == other.at.column() &&
         (file == other_file || std::strcmp(file, other_file) == 0);
}

std::string Barrier::text() const { return message_of("{}:{}", at.file_name(), at.line()); }

void watch_barriers() {
  engine().watching = true;
  engine().seen.clear();
}

std::vector<Barrier> barriers_seen() {
  engine().watching = false;
  return engine().seen;
}

void leave_out(const std::optional<Barrier>& barrier) { engine().left_out = barrier; }

void* shared_bytes() { return engine().shared(); }

/// While one lives, what the running thread does is the bench's doing.
class InBench {
 public:
  InBench() : stack_(engine().stack()) { run_as_host(); }
  ~InBench() { run_as(stack_); }
  InBench(const InBench&) = delete;
  InBench& operator=(const InBench&) = delete;

 private:
  Stack& stack_;
};

void block_barrier(std::source_location at) {
  const InBench in_bench;
  engine().wait_at_barrier({at});
}

std::uint64_t warp_operation(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                             std::source_location at) {
  const InBench in_bench;
  return engine().join_warp(op, mask, bits, source, {at});
}

void warp_together(WarpWork work, Fragments& mine, std::source_location at) {
  const InBench in_bench;
  engine().running().work = work;
  engine().running().fragments = mine;
  engine().join_warp(WarpOp::kTogether, ~0u, 0, 0, {at});
  mine = engine().running().fragments;
}

void warp_barrier(unsigned mask, std::source_location at) {
  const InBench in_bench;
  if (engine().counts({at})) engine().join_warp(WarpOp::kBarrier, mask, 0, 0, {at});
}

unsigned lane() { return engine().lane(); }

}  // namespace renar::simt

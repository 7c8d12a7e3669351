#include "core/simt.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "core/check.h"
#include "core/rng.h"
#include "core/simt_memory.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace renar::simt {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kStackBytes = 256 * 1024;  // only what is touched takes memory
constexpr unsigned kLanes = 32;
constexpr std::size_t kGuardBytes = 64;  // after shared memory
constexpr int kUnset = 0xff, kGuard = 0xa5;

/// A stack with something that runs on it.
struct Stack {
  std::byte* memory = nullptr;  // null: the thread that launches
  std::size_t size = 0;
  context::fcontext_t at = nullptr;
  void* fake_stack = nullptr;  // the address sanitizer's
};

/// On stack `here` again, or for the first time, out of another one.
void arrive(Stack& here, context::transfer_t from) {
  Stack& other = *static_cast<Stack*>(from.data);
  other.at = from.fctx;
#ifdef __SANITIZE_ADDRESS__
  const void* bottom = nullptr;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &other.size);
  other.memory = static_cast<std::byte*>(const_cast<void*>(bottom));
#else
  static_cast<void>(here);
#endif
}

/// Leaves `from` for `to`, and returns when somebody comes back.
void switch_stacks(Stack& from, Stack& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.memory, to.size);
#endif
  const context::transfer_t back = context::jump_fcontext(to.at, &from);
  arrive(from, back);
}

using Site = Barrier;  // where in the source a thread waits

enum class Status { kUnstarted, kReady, kAtBarrier, kInWarp, kDone };

struct Thread {
  Status status = Status::kUnstarted;
  Stack* stack = nullptr;
  Site site{};
  WarpOp op{};
  WarpWork work = nullptr;
  unsigned mask = 0, source = 0;
  std::uint64_t bits = 0;  // put down, then taken up
};

class Engine {
 public:
  void run(Extent blocks, std::size_t shared, void (*body)(const void*), const void* arguments);
  void wait_at_barrier(Site site);
  bool counts(Site site);
  std::uint64_t join_warp(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source, Site site);
  void set_work(WarpWork work) { threads_[static_cast<std::size_t>(current_)].work = work; }

  /// Whatever still waits on them is given up.
  void forget_stacks();

  Schedule schedule;
  bool watching = false;
  std::vector<Barrier> seen;
  std::optional<Barrier> left_out;
  std::mutex one_launch;
  std::byte* shared() { return shared_.data(); }
  unsigned lane() const { return static_cast<unsigned>(current_) % kLanes; }

 private:
  void run_block(std::size_t shared);
  void resume(int thread);
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
  std::vector<int> ready_;  // unstarted or released, from head_ on
  std::size_t head_ = 0;
  int ahead_ = 0;  // who runs first where one runs ahead
  int current_ = 0, done_ = 0;
  Stack scheduler_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  std::vector<Stack*> idle_;
  std::vector<std::byte> shared_;
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
  shared_.resize(shared + kGuardBytes);
  std::vector<unsigned> order(blocks.count());
  for (unsigned i = 0; i < blocks.count(); ++i) {
    order[i] = schedule.order == Order::kReverse ? blocks.count() - 1 - i : i;
  }
  for (std::size_t i = order.size(); schedule.order == Order::kRandom && i-- > 1;) {
    std::swap(order[i], order[below(random_, i + 1)]);
  }
  for (const unsigned block : order) {
    blockIdx = {block % blocks.x, block / blocks.x % blocks.y, block / blocks.x / blocks.y};
    run_block(shared);
  }
}

void Engine::run_block(std::size_t shared) {
  std::memset(shared_.data(), kUnset, shared);
  std::memset(shared_.data() + shared, kGuard, kGuardBytes);
  const unsigned count = blockDim.count();
  threads_.assign(count, Thread{});
  ready_.resize(count);
  head_ = 0;
  done_ = 0;
  for (unsigned i = 0; i < count; ++i) ready_[i] = static_cast<int>(i);
  ahead_ = schedule.order == Order::kOneAhead ? static_cast<int>(below(random_, count)) : -1;
  while (done_ < static_cast<int>(count)) {
    if (head_ == ready_.size() && !release_barrier()) stuck();
    resume(take_ready());
  }
  const auto guard = shared_.begin() + static_cast<std::ptrdiff_t>(shared);
  RENAR_CHECK(std::all_of(guard, shared_.end(), [](std::byte b) { return b == std::byte{kGuard}; }),
              "[simt] block ({}, {}) wrote past its {} bytes of shared memory", blockIdx.x,
              blockIdx.y, shared);
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
  threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
}

void Engine::resume(int thread) {
  Thread& t = threads_[static_cast<std::size_t>(thread)];
  if (t.status == Status::kUnstarted) t.stack = free_stack();
  set_indices(thread);
  Stack* stack = t.stack;
  switch_stacks(scheduler_, *stack);
}

Stack* Engine::free_stack() {
  if (!idle_.empty()) {
    Stack* stack = idle_.back();
    idle_.pop_back();
    return stack;
  }
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RENAR_CHECK(memory != MAP_FAILED, "[simt] no memory for a stack of {} bytes", kStackBytes);
  Stack& stack = *stacks_.emplace_back(std::make_unique<Stack>());
  stack.memory = static_cast<std::byte*>(memory);
  stack.size = kStackBytes;
  stack.at = context::make_fcontext(stack.memory + kStackBytes, kStackBytes, enter);
  return &stack;
}

void Engine::forget_stacks() {
  for (const auto& stack : stacks_) {
#ifdef __SANITIZE_ADDRESS__  // whoever gets these addresses next may write where frames had ended
    __asan_unpoison_memory_region(stack->memory, kStackBytes);
#endif
    munmap(stack->memory, kStackBytes);
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

// A stack serves one thread after the other, as long as they end without waiting for each other.
void Engine::run_unstarted(Stack* stack) {
  for (;;) {
    body_(arguments_);
    threads_[static_cast<std::size_t>(current_)].status = Status::kDone;
    ++done_;
    if (head_ < ready_.size()) {
      const int next = take_ready();
      Thread& t = threads_[static_cast<std::size_t>(next)];
      if (t.status == Status::kUnstarted) {
        t.stack = stack;
        set_indices(next);
        continue;
      }
      ready_.insert(ready_.begin() + static_cast<std::ptrdiff_t>(head_), next);
    }
    idle_.push_back(stack);
    switch_stacks(*stack, scheduler_);
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
  switch_stacks(*t.stack, scheduler_);
}

// Nobody can go on: either all threads stand at one barrier, or the kernel is wrong.
bool Engine::release_barrier() {
  const Site site = threads_[0].site;
  for (const Thread& t : threads_) {
    if (t.status != Status::kAtBarrier) return false;
    RENAR_CHECK(t.site == site, "[simt] threads of one block wait at two barriers, {} and {}",
                site.text(), t.site.text());
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) make_ready(static_cast<int>(i));
  return true;
}

std::uint64_t Engine::join_warp(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                                Site site) {
  const int me = current_;
  Thread& t = threads_[static_cast<std::size_t>(me)];
  t.status = Status::kInWarp;
  t.op = op;
  t.mask = mask;
  t.bits = bits;
  t.source = source;
  t.site = site;
  if (!release_warp(me) || schedule.order == Order::kRandom) {
    switch_stacks(*t.stack, scheduler_);
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
  std::array<std::uint64_t, kLanes> put{};
  std::uint64_t votes = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((mine.mask >> i & 1u) == 0) continue;
    const std::size_t other = static_cast<std::size_t>(first) + i;
    if (other >= threads_.size()) return false;
    const Thread& t = threads_[other];
    const bool here = t.status == Status::kInWarp && t.mask == mine.mask && t.op == mine.op &&
                      t.site == mine.site;
    if (!here) return false;
    put[i] = t.bits;
    votes |= std::uint64_t{t.bits != 0} << i;
  }
  if ((mine.mask >> (static_cast<unsigned>(thread) % kLanes) & 1u) == 0) return false;
  if (mine.op == WarpOp::kTogether) {
    std::array<void*, kLanes> brought;
    std::memcpy(brought.data(), put.data(), sizeof brought);
    mine.work(brought.data());
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((mine.mask >> i & 1u) == 0) continue;
    Thread& t = threads_[static_cast<std::size_t>(first) + i];
    t.bits = t.op == WarpOp::kVote ? votes : put[t.source % kLanes];
    if (first + static_cast<int>(i) != thread) make_ready(first + static_cast<int>(i));
  }
  make_ready(thread);
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

void set_schedule(const Schedule& schedule) { engine().schedule = schedule; }

void run_grid(Extent blocks, Extent threads, std::size_t shared_bytes, void (*body)(const void*),
              const void* arguments) {
  Engine& e = engine();
  const std::lock_guard lock(e.one_launch);
  const Unlocked memory;
  gridDim = blocks;
  blockDim = threads;
  try {
    e.run(blocks, shared_bytes, body, arguments);
  } catch (...) {
    e.forget_stacks();
    throw;
  }
}

bool Barrier::operator==(const Barrier& other) const {
  return at.line() == other.at.line() && at.column() == other.at.column() &&
         std::strcmp(at.file_name(), other.at.file_name()) == 0;
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

void block_barrier(std::source_location at) { engine().wait_at_barrier({at}); }

std::uint64_t warp_operation(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                             std::source_location at) {
  return engine().join_warp(op, mask, bits, source, {at});
}

void warp_together(WarpWork work, void* mine, std::source_location at) {
  static_assert(sizeof mine == sizeof(std::uint64_t));
  engine().set_work(work);
  engine().join_warp(WarpOp::kTogether, ~0u, reinterpret_cast<std::uintptr_t>(mine), lane(), {at});
}

void warp_barrier(unsigned mask, std::source_location at) {
  if (engine().counts({at})) exchange(mask, 0, lane(), at);
}

unsigned lane() { return engine().lane(); }

}  // namespace renar::simt

#include "core/simt_stack.h"

#include <sys/mman.h>

#include "core/check.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace renar::simt {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kStackBytes = 256 * 1024;  // only what is touched takes memory

}  // namespace

void make_stack(Stack& stack, Enter enter) {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RENAR_CHECK(memory != MAP_FAILED, "[simt] no memory for a stack of {} bytes", kStackBytes);
  stack.memory = static_cast<std::byte*>(memory);
  stack.size = kStackBytes;
  stack.at = context::make_fcontext(stack.memory + kStackBytes, kStackBytes, enter);
}

void release_stack(Stack& stack) {
#ifdef __SANITIZE_ADDRESS__  // whoever gets these addresses next may write where frames had ended
  __asan_unpoison_memory_region(stack.memory, kStackBytes);
#endif
  munmap(stack.memory, kStackBytes);
}

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

void switch_stacks(Stack& from, Stack& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.memory, to.size);
#endif
  const context::transfer_t back = context::jump_fcontext(to.at, &from);
  arrive(from, back);
}

}  // namespace renar::simt

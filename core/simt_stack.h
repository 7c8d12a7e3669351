// The stacks that the bench's fibers run on (Boost.Context), and what the address sanitizer must
// be told of them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace renar::simt {

/// A stack with something that runs on it.
struct Stack {
  std::byte* memory = nullptr;  // null: the thread that launches
  std::size_t size = 0;
  boost::context::detail::fcontext_t at = nullptr;
  void* fake_stack = nullptr;  // the address sanitizer's
  void* racer = nullptr;       // the thread sanitizer's, see core/simt_races.h
};

/// What begins on a stack at the first switch to it: it calls arrive, and never returns.
using Enter = void (*)(boost::context::detail::transfer_t from);

/// Throws renar::Error where there is no memory.
void make_stack(Stack& stack, Enter enter);
void release_stack(Stack& stack);

/// On stack `here` for the first time, out of another one.
void arrive(Stack& here, boost::context::detail::transfer_t from);

/// Leaves `from` for `to`, and returns when somebody comes back.
void switch_stacks(Stack& from, Stack& to);

}  // namespace renar::simt

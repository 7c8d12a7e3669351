// Subnormal numbers are zeros: what is smaller than 1.2e-38 in float, 2.2e-308 in double.
//
// A net that has learnt its task has gradients that shrink away on their way back through the
// steps, and moments that nothing moves any more. Where they leave the normal numbers, a product of
// vectors takes a CPU forty times as long: late in a training of matrix_chain_order an update took
// five times as long (docs/cpu.md). A sum with numbers of the usual size shows nothing of what is
// lost; XLA, in the field's reference, computes so as well. GPUs compute subnormal numbers as fast
// as others, and keep them.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace renar {

/// While it lives, this thread reads and gives zeros instead of subnormal numbers. On other CPUs
/// than x86 it changes nothing.
class FlushSubnormals {
 public:
#if defined(__SSE__)
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kReadZeros); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
#else
  FlushSubnormals() = default;
  ~FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlushResults = 0x8000, kReadZeros = 0x0040;  // FTZ and DAZ of MXCSR
  unsigned before_;
#endif
};

}  // namespace renar

// RENAR_HOST_DEVICE: functions that both the CPU and the kernels call, such as the formula of a
// sigmoid. RENAR_UNROLL: before a loop of a kernel whose numbers stay in registers only if it is
// written out. RENAR_GIVEN: after the type of a kernel's large argument, of which all threads on
// fibers then share one (core/simt.h). Seen by every compiler, they need no toolkit.
#pragma once

#ifdef __CUDACC__
#define RENAR_HOST_DEVICE __host__ __device__
#define RENAR_GIVEN
#else
#define RENAR_HOST_DEVICE
#define RENAR_GIVEN &
#endif

#ifdef __CUDA_ARCH__  // not where nvcc's host compiler sees the same loop
#define RENAR_UNROLL _Pragma("unroll")
#else
#define RENAR_UNROLL
#endif

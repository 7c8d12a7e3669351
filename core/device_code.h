// RENAR_HOST_DEVICE: functions that both the CPU and the kernels call, such as the formula of a
// sigmoid. RENAR_UNROLL: before a loop of a kernel whose numbers stay in registers only if it is
// written out. Seen by every compiler, they need no toolkit.
#pragma once

#ifdef __CUDACC__
#define RENAR_HOST_DEVICE __host__ __device__
#else
#define RENAR_HOST_DEVICE
#endif

#ifdef __CUDA_ARCH__  // not where nvcc's host compiler sees the same loop
#define RENAR_UNROLL _Pragma("unroll")
#else
#define RENAR_UNROLL
#endif

// RENAR_HOST_DEVICE: functions that both the CPU and the kernels call, such as the formula of a
// sigmoid. Seen by every compiler, it needs no toolkit.
#pragma once

#ifdef __CUDACC__
#define RENAR_HOST_DEVICE __host__ __device__
#else
#define RENAR_HOST_DEVICE
#endif

// kernels/host_device.h — ROTE_HD: what nvcc compiles for the host and for devices. To every other compiler it is nothing.
#pragma once

#ifdef __CUDACC__
// Device code calls into no other object, so each has its own copy, inline.
#define ROTE_HD __host__ __device__ inline
#else
#define ROTE_HD
#endif

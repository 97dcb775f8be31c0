// kernels/cuda/grid.cuh — what every kernel needs: the elements of a thread, the size of a grid, the status word. No kernel.
#pragma once

#include "kernels/cuda/kernels.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kThreads = 256;             // of a block
constexpr int64_t kMostBlocks = 1 << 16;  // threads take more than one element beyond; no bit depends on it

inline unsigned blocks_for(int64_t threads) {
  const int64_t blocks = (threads + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

// step(i) for this thread's part of 0 <= i < n.
template <class Step>
__device__ __forceinline__ void over_grid(int64_t n, const Step& step) {
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) step(i);
}

// Joins the amax words of all threads into *status; whole warps come here. An unsigned maximum does not depend on their order.
__device__ __forceinline__ void join_status(uint32_t* status, const Amax& amax) {
  const uint32_t word = __reduce_max_sync(0xFFFFFFFFu, amax.word());
  if (threadIdx.x % 32 == 0) atomicMax(status, word);
}

}  // namespace rote::isa::ROTE_ISA_NAME

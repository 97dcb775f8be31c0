// kernels/cpu/clip.cpp — sums of squares in fp64 for the clip norm, one per block of 4096 elements. Adding the blocks is the caller's.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// The square of a float is exact in fp64; the additions round. The loops over lanes are the compiler's to vectorise: no order is left to it.
double block_sum(const Real* x, int64_t n) {
  double lanes[kSumLanes] = {};
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (int64_t l = 0; l < kSumLanes; ++l) {
      const double v = x[i + l];
      lanes[l] += v * v;
    }
  }
  for (int64_t l = 0; l < n - i; ++l) {
    const double v = x[i + l];
    lanes[l] += v * v;
  }
  for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

}  // namespace

void square_blocks(int64_t n, const Real* x, double* blocks) {
  constexpr int64_t kTaskBlocks = 16;
  const int64_t count = ceil_div(n, kSumLeaf);
  parallel(ceil_div(count, kTaskBlocks), [&](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTaskBlocks, count);
    for (int64_t block = task * kTaskBlocks; block < end; ++block) {
      const int64_t begin = block * kSumLeaf;
      blocks[block] = block_sum(x + begin, least(n - begin, kSumLeaf));
    }
    return 0;
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/cpu/pack.h — matrix operands rearranged into panels, the order in which a register tile reads them. No arithmetic.
//
// "Lanes" are the rows of A or the columns of B. A panel holds `width` of them (the last one `last_width`), padded with zeros:
// panel[k*width + l]. Stores here are whole vectors: they may spill past one k into the next, which is written later, and past the
// panel's end into its slack.
#pragma once

#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

// Element (l, k) is p[l*lane + k*step].
struct Operand {
  const Real* p = nullptr;
  int64_t lane = 0, step = 0;
  int64_t count = 0;
};

struct Panels {
  Real* p = nullptr;
  int64_t stride = 0;  // from panel to panel
  int64_t count = 0;
  int width = 0, last_width = 0;

  ROTE_INLINE int width_of(int64_t panel) const { return panel + 1 < count ? width : last_width; }
};

// Elements from one panel to the next: whole cache lines, with one vector of slack.
ROTE_INLINE int64_t panel_stride(int64_t depth, int width) { return (depth * width + 2 * kLanes - 1) / kLanes * kLanes; }

typedef Real Quad __attribute__((vector_size(4 * sizeof(Real))));

// Four lanes x four k, turned: the columns of the square go to `to`, `stride` apart. By reference: a vector wider than the baseline's
// registers has no agreed way of being passed.
ROTE_INLINE void store_turned(Real* to, int64_t stride, const Quad (&square)[4]) {
  const Quad ab_low = __builtin_shufflevector(square[0], square[1], 0, 4, 1, 5), ab_high = __builtin_shufflevector(square[0], square[1], 2, 6, 3, 7);
  const Quad cd_low = __builtin_shufflevector(square[2], square[3], 0, 4, 1, 5), cd_high = __builtin_shufflevector(square[2], square[3], 2, 6, 3, 7);
  const Quad turned[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                          __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) __builtin_memcpy(to + i * stride, &turned[i], sizeof(Quad));
}

// Lanes that are contiguous along k are turned in squares of 4, rightmost squares first because theirs are the stores that spill.
// Squares run along 16 k before the next lanes: one cache line of each.
ROTE_INLINE void pack_turned(Real* panel, int width, const Operand& from, int64_t first, int64_t depth) {
  const Real* p = from.p + first * from.lane;
  const int64_t n = from.count - first, whole = depth / 4 * 4;
  for (int64_t line = 0; line < whole; line += 16) {
    const int64_t end = line + 16 < whole ? line + 16 : whole;
    for (int64_t l = (width - 1) / 4 * 4; l >= 0; l -= 4) {
      const Real* rows = p + l * from.lane;
      for (int64_t k = line; k < end; k += 4) {
        Quad square[4] = {};
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
          if (l + i < n) __builtin_memcpy(&square[i], rows + i * from.lane + k, sizeof(Quad));
        store_turned(panel + k * width + l, width, square);
      }
    }
  }
  for (int64_t k = whole; k < depth; ++k)
    for (int64_t l = 0; l < width; ++l) panel[k * width + l] = l < n ? p[l * from.lane + k] : Real(0);
}

constexpr int64_t kAhead = 12;  // rows of B (columns of A) whose loads are under way

// Lanes that are contiguous in memory: one k of every panel, so that reading is one long run.
ROTE_INLINE void pack_row(const Panels& to, const Operand& from, int64_t k) {
  const Real* p = from.p + k * from.step;
  // Rows are pages apart: hardware does not see the next ones coming.
  for (int64_t l = 0; l < from.count; l += 64 / static_cast<int64_t>(sizeof(Real))) __builtin_prefetch(p + kAhead * from.step + l);
  for (int64_t panel = 0; panel < to.count; ++panel) {
    const int width = to.width_of(panel);
    Real* at = to.p + panel * to.stride + k * width;
    const int64_t first = panel * to.width;
    const int n = from.count - first < width ? static_cast<int>(from.count - first) : width;
    for (int l = 0; l < width; l += kLanes) store(at + l, load(p + first + l, n > l ? n - l : 0));
  }
}

ROTE_INLINE void pack_any(Real* panel, int width, const Operand& from, int64_t first, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t l = 0; l < width; ++l)
      panel[k * width + l] = first + l < from.count ? from.p[(first + l) * from.lane + k * from.step] : Real(0);
}

// All of `from`, `depth` of k, by the fastest of the three.
inline void pack(const Panels& to, const Operand& from, int64_t depth) {
  if (from.lane == 1) {
    for (int64_t k = 0; k < depth; ++k) pack_row(to, from, k);
    return;
  }
  for (int64_t panel = 0; panel < to.count; ++panel) {
    Real* at = to.p + panel * to.stride;
    if (from.step == 1)
      pack_turned(at, to.width_of(panel), from, panel * to.width, depth);
    else
      pack_any(at, to.width_of(panel), from, panel * to.width, depth);
  }
}

}  // namespace rote::isa::ROTE_ISA_NAME

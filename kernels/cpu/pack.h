// kernels/cpu/pack.h — matrix operands rearranged into panels of Reals, the order in which a register tile reads them. No arithmetic but the conversion of
// elements that are stored otherwise.
//
// "Lanes" are the rows of A or the columns of B. A panel holds `width` of them (the last one `last_width`), padded with zeros:
// panel[k*width + l]. Stores here are whole vectors: they may spill past one k into the next, which is written later, and past the
// panel's end into its slack.
#pragma once

#include "kernels/simd/sixteen.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

// Element (l, k) is x[l*lane + k*step].
struct Operand {
  Elements<Real> x;
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
// Squares run along 16 k before the next lanes: one cache line of each. `n` lanes exist, `lane` apart.
__attribute__((noinline)) inline void pack_turned(Real* panel, int width, const Real* p, int64_t lane, int64_t n, int64_t depth) {
  const int64_t whole = depth / 4 * 4;
  for (int64_t line = 0; line < whole; line += 16) {
    const int64_t end = line + 16 < whole ? line + 16 : whole;
    for (int64_t l = (width - 1) / 4 * 4; l >= 0; l -= 4) {
      const Real* rows = p + l * lane;
      for (int64_t k = line; k < end; k += 4) {
        Quad square[4] = {};
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
          if (l + i < n) __builtin_memcpy(&square[i], rows + i * lane + k, sizeof(Quad));
        store_turned(panel + k * width + l, width, square);
      }
    }
  }
  for (int64_t k = whole; k < depth; ++k)
    for (int64_t l = 0; l < width; ++l) panel[k * width + l] = l < n ? p[l * lane + k] : Real(0);
}

// The same of elements that are converted first, some k of all lanes at a time, in memory that stays in the nearest cache.
template <class Source>
void pack_turned(Real* panel, int width, const typename Source::Element* p, int64_t lane, int64_t n, int64_t depth) {
  constexpr int64_t kRun = 64, kMostLanes = 32;
  alignas(64) Real rows[kMostLanes * kRun];
  n = n < width ? n : width;
  for (int64_t begin = 0; begin < depth; begin += kRun) {
    const int64_t count = depth - begin < kRun ? depth - begin : kRun;
    for (int64_t l = 0; l < n; ++l)
      for (int64_t k = 0; k < count; k += kLanes) store(rows + l * kRun + k, Source::load(p + l * lane + begin + k, static_cast<int>(count - k)));
    pack_turned(panel + begin * width, width, rows, kRun, n, count);
  }
}

constexpr int64_t kAhead = 12;  // rows of B (columns of A) whose loads are under way

// Lanes that are contiguous in memory: one k of every panel, so that reading is one long run.
template <class Source>
ROTE_INLINE void pack_row(const Panels& to, const Operand& from, int64_t k) {
  using Element = typename Source::Element;
  const Element* p = static_cast<const Element*>(from.x.p) + k * from.step;
  // Rows are pages apart: hardware does not see the next ones coming.
  for (int64_t l = 0; l < from.count; l += 64 / static_cast<int64_t>(sizeof(Element))) __builtin_prefetch(p + kAhead * from.step + l);
  for (int64_t panel = 0; panel < to.count; ++panel) {
    const int width = to.width_of(panel);
    Real* at = to.p + panel * to.stride + k * width;
    for (int l = 0; l < width; l += kLanes) {
      const int64_t rest = from.count - panel * to.width - l;  // whole vectors but at the end: what is too much is the next panel's, and spills
      store(at + l, Source::load(p + panel * to.width + l, rest >= kLanes ? kLanes : rest > 0 ? static_cast<int>(rest) : 0));
    }
  }
}

// Lanes [first, from.count), 16 at a time.
template <class Source>
void pack_any(Real* panel, int width, const Operand& from, int64_t first, int64_t depth) {
  using Element = typename Source::Element;
  const Element* p = static_cast<const Element*>(from.x.p) + first * from.lane;
  const int64_t n = from.count - first < width ? from.count - first : width;
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t l = 0; l < width; l += kLanes) {
      Element some[kLanes] = {};
      for (int64_t i = l; i < n && i < l + kLanes; ++i) some[i - l] = p[i * from.lane + k * from.step];
      store(panel + k * width + l, Source::load(some));
    }
}

// k from `begin` to `end`, by the fastest of the three: rows where lanes are neighbours, else panels, for which `begin` must be 0.
template <class Source>
ROTE_INLINE void pack_from(const Panels& to, const Operand& from, int64_t begin, int64_t end) {
  for (int64_t k = begin; from.lane == 1 && k < end; ++k) pack_row<Source>(to, from, k);
  for (int64_t panel = 0; from.lane != 1 && panel < to.count; ++panel) {
    Real* const at = to.p + panel * to.stride;
    const int width = to.width_of(panel);
    const int64_t first = panel * to.width;
    const auto* const p = static_cast<const typename Source::Element*>(from.x.p) + first * from.lane;
    if (from.step != 1) pack_any<Source>(at, width, from, first, end);
    else if constexpr (__is_same(Source, Plain)) pack_turned(at, width, p, from.lane, from.count - first, end);
    else pack_turned<Source>(at, width, p, from.lane, from.count - first, end);
  }
}

inline void pack(const Panels& to, const Operand& from, int64_t begin, int64_t end) {
  with_source(from.x.stored, [&](auto source) ROTE_LOOP_BODY { pack_from<decltype(source)>(to, from, begin, end); });
}

// The same of Reals, for callers that have no others.
inline void pack_reals(const Panels& to, const Operand& from, int64_t depth) { pack_from<Plain>(to, from, 0, depth); }

}  // namespace rote::isa::ROTE_ISA_NAME

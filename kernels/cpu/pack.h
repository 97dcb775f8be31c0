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

// Elements of one lane that are turned at once: a square of as many lanes and k.
template <class T>
struct Side {
  static constexpr int n = sizeof(T) == 2 ? 8 : 4;
  typedef T Run __attribute__((vector_size(n * sizeof(T))));
};

// By reference: a vector wider than the baseline's registers has no agreed way of being passed.
template <class Run>
ROTE_INLINE void zip(const Run& a, const Run& b, Run& low, Run& high) {
  if constexpr (sizeof(Run) / sizeof(a[0]) == 8) {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11), high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  }
}

// The columns of the square go to `to`, `stride` apart. Zipping its upper half with its lower one rotates the bits of (lane, k) by one: once for each
// bit of the lane turns the square.
template <class T>
ROTE_INLINE void store_turned(T* to, int64_t stride, typename Side<T>::Run (&square)[Side<T>::n]) {
  constexpr int n = Side<T>::n;
#pragma GCC unroll 3
  for (int bit = 1; bit < n; bit *= 2) {
    typename Side<T>::Run zipped[n];
#pragma GCC unroll 4
    for (int i = 0; i < n / 2; ++i) zip(square[i], square[i + n / 2], zipped[2 * i], zipped[2 * i + 1]);
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) square[i] = zipped[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) __builtin_memcpy(to + i * stride, &square[i], sizeof square[i]);
}

// Lanes that are contiguous along k are turned in squares, rightmost squares first because theirs are the stores that spill.
// Squares run along a cache line of each lane before the next lanes. `n` lanes exist, `lane` apart.
template <class T>
__attribute__((noinline)) void turn(T* panel, int width, const T* p, int64_t lane, int64_t n, int64_t depth) {
  constexpr int64_t kSide = Side<T>::n, kLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t whole = depth / kSide * kSide;
  for (int64_t line = 0; line < whole; line += kLine) {
    const int64_t end = line + kLine < whole ? line + kLine : whole;
    for (int64_t l = (width - 1) / kSide * kSide; l >= 0; l -= kSide) {
      const T* rows = p + l * lane;
      for (int64_t k = line; k < end; k += kSide) {
        typename Side<T>::Run square[kSide] = {};
#pragma GCC unroll 8
        for (int i = 0; i < kSide; ++i)
          if (l + i < n) __builtin_memcpy(&square[i], rows + i * lane + k, sizeof square[i]);
        store_turned(panel + k * width + l, width, square);
      }
    }
  }
  for (int64_t k = whole; k < depth; ++k)
    for (int64_t l = 0; l < width; ++l) panel[k * width + l] = l < n ? p[l * lane + k] : T(0);
}

// Lanes that are contiguous along k. Elements that are converted are turned first, some k at a time, in memory that stays in the nearest cache.
template <class Source>
void pack_turned(Real* panel, int width, const typename Source::Element* p, int64_t lane, int64_t n, int64_t depth) {
  if constexpr (__is_same(Source, Plain)) {
    turn(panel, width, p, lane, n, depth);
  } else {
    constexpr int64_t kRun = 64, kMostLanes = 32;
    alignas(64) typename Source::Element turned[kMostLanes * kRun + kLanes];
    for (int64_t begin = 0; begin < depth; begin += kRun) {
      const int64_t count = depth - begin < kRun ? depth - begin : kRun;
      turn(turned, width, p + begin, lane, n, count);
      for (int64_t i = 0; i < count * width; i += kLanes) store(panel + begin * width + i, Source::load(turned + i));
    }
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
    else pack_turned<Source>(at, width, p, from.lane, from.count - first, end);
  }
}

inline void pack(const Panels& to, const Operand& from, int64_t begin, int64_t end) {
  with_source(from.x.stored, [&](auto source) ROTE_LOOP_BODY { pack_from<decltype(source)>(to, from, begin, end); });
}

// The same of Reals, for callers that have no others.
inline void pack_reals(const Panels& to, const Operand& from, int64_t depth) { pack_from<Plain>(to, from, 0, depth); }

}  // namespace rote::isa::ROTE_ISA_NAME

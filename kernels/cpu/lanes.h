// kernels/cpu/lanes.h — the loops that row kernels share: over a row, 64-lane sums, sums down columns, rows over threads. No kernel.
//
// A loop body is called as f(i, n) for the elements from i on, with n = Whole{} for 16 of them or an int for the last ones of a row; load,
// store, keep and see below take either, so that the whole vectors of a row carry no mask.
#pragma once

#include "kernels/pool.h"
#include "kernels/simd/vec.h"
#include "kernels/tree.h"

namespace rote::isa::ROTE_ISA_NAME {

struct Whole {};
ROTE_INLINE Vec load(const Real* p, Whole) { return load(p); }
ROTE_INLINE void store(Real* p, Vec v, Whole) { store(p, v); }
// v with +0 in the lanes that do not exist.
ROTE_INLINE Vec keep(Vec v, Whole) { return v; }
ROTE_INLINE Vec keep(Vec v, int n) { return select(first(n), v, Vec(Real(0))); }
ROTE_INLINE void see(Amax& amax, Vec v, Whole) { amax.see(v); }
ROTE_INLINE void see(Amax& amax, Vec v, int n) { amax.see(v, n); }

ROTE_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
ROTE_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class F>
ROTE_INLINE void over_row(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, Whole{});
  if (i < n) f(i, static_cast<int>(n - i));
}

// Rows in tasks of about 16 thousand elements; row(r, amax) for each. Returns the amax word.
template <class F>
uint32_t over_rows(int64_t rows, int64_t n, const F& row) {
  constexpr int64_t kTaskElements = 16384;
  const int64_t chunk = n >= kTaskElements ? 1 : kTaskElements / (n > 0 ? n : 1);
  return parallel(ceil_div(rows, chunk), [&](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * chunk, rows);
    Amax amax;
    for (int64_t r = task * chunk; r < end; ++r) row(r, amax);
    return amax.word();
  });
}

constexpr int64_t kSumLanes = 64;     // 4 Vecs
constexpr int64_t kSumLeaf = 4096;    // elements of one leaf of a row's sum
constexpr int64_t kChainRows = 1024;  // rows of one chain of a column's sum

// One Vec and four Vecs side by side as sums: 64 lanes of one, or 16 and 64 columns. Not initialised, as stacks hold many.
struct Column {
  Vec a;
  static ROTE_INLINE Column zero() { return {Vec(Real(0))}; }
  friend ROTE_INLINE Column operator+(const Column& x, const Column& y) { return {x.a + y.a}; }
};
struct Lanes {
  Vec a, b, c, d;
  static ROTE_INLINE Lanes zero() { return {Vec(Real(0)), Vec(Real(0)), Vec(Real(0)), Vec(Real(0))}; }
  friend ROTE_INLINE Lanes operator+(const Lanes& x, const Lanes& y) { return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d}; }
};

// Σ value(i), begin <= i < end <= begin + kSumLeaf: lane l adds the elements begin + l, + 64, … in order, then lanes fold by halves. A term is
// rounded before it is added. value(i, n) must be +0 in lanes that do not exist; adding that +0 changes no sum but -0, which no result is.
template <class F>
ROTE_INLINE Real leaf_sum(int64_t begin, int64_t end, const F& value) {
  static_assert(sizeof(F) > 0 && 4 * kLanes == kSumLanes);  // asked where it is used: one lane has its own (cuda/reduce.cu)
  Lanes sum = Lanes::zero();
  int64_t i = begin;
  for (; i + kSumLanes <= end; i += kSumLanes) {
    sum.a += value(i, Whole{});
    sum.b += value(i + kLanes, Whole{});
    sum.c += value(i + 2 * kLanes, Whole{});
    sum.d += value(i + 3 * kLanes, Whole{});
  }
  const int rest = static_cast<int>(end - i);
  if (rest > 0) sum.a += value(i, rest);
  if (rest > kLanes) sum.b += value(i + kLanes, rest - kLanes);
  if (rest > 2 * kLanes) sum.c += value(i + 2 * kLanes, rest - 2 * kLanes);
  if (rest > 3 * kLanes) sum.d += value(i + 3 * kLanes, rest - 3 * kLanes);
  return fold((sum.a + sum.c) + (sum.b + sum.d));
}

// Σ value(i) over 0 <= i < n: leaves, the tree, + 0.
template <class F>
ROTE_INLINE Real lane_sum(int64_t n, const F& value) {
  TreeSum<Real> tree;
  int64_t begin = 0;
  do {
    const int64_t end = least(begin + kSumLeaf, n);
    tree.push(leaf_sum(begin, end, value));
    begin = end;
  } while (begin < n);
  return tree.total() + Real(0);
}

// Σ over rows for a block of columns: add(sum, r) adds row r to the chain; a chain ends at each leaf and after 1024 rows; pieces of a leaf
// fold by the tree, then the leaves. leaf = 0: one leaf. T: Column, Lanes or the like.
template <class T, class F>
ROTE_INLINE T column_sum(int64_t rows, int64_t leaf, const F& add) {
  if (rows == 0) return T::zero();
  if (leaf == 0) leaf = rows;
  TreeSum<T> leaves;
  for (int64_t begin = 0; begin < rows; begin += leaf) {
    const int64_t end = least(begin + leaf, rows);
    TreeSum<T> pieces;
    for (int64_t piece = begin; piece < end; piece += kChainRows) {
      const int64_t piece_end = least(piece + kChainRows, end);
      T sum = T::zero();
      for (int64_t r = piece; r < piece_end; ++r) add(sum, r);
      pieces.push(sum);
    }
    leaves.push(pieces.total());
  }
  return leaves.total();
}

// max over 0 <= i < n of value(i, n), n > 0; lanes that do not exist are masked here.
template <class F>
ROTE_INLINE Real lane_maximum(int64_t n, const F& value) {
  const Vec lowest(-static_cast<Real>(__builtin_inff()));
  Vec a = lowest, b = lowest;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = maximum(a, value(i, Whole{}));
    b = maximum(b, value(i + kLanes, Whole{}));
  }
  for (; i < n; i += kLanes) {
    const int rest = static_cast<int>(least(n - i, kLanes));
    a = maximum(a, select(first(rest), value(i, rest), lowest));
  }
  return fold_maximum(maximum(a, b));
}

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/cpu/reduce.cpp — sums of rows, sums of columns, maxima of rows. No tensor, no axis: callers bring the reduced axis last or first.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/scratch.h"
#include "kernels/simd/sixteen.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// Few long rows: their leaves are summed by all threads first. The same additions as in lane_sum.
uint32_t sum_long_rows(int64_t rows, int64_t n, const Real* x, Real* y) {
  const int64_t leaves = ceil_div(n, kSumLeaf);
  Real* sums = static_cast<Real*>(take_scratch(rows * leaves * static_cast<int64_t>(sizeof(Real))));
  over_rows(rows * leaves, kSumLeaf, [&](int64_t leaf, Amax&) {
    const Real* row = x + leaf / leaves * n;
    const int64_t begin = leaf % leaves * kSumLeaf;
    sums[leaf] = leaf_sum(begin, least(begin + kSumLeaf, n), [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(row + i, m); });
  });
  const uint32_t word = over_rows(rows, leaves, [&](int64_t r, Amax& amax) {
    TreeSum<Real> tree;
    for (int64_t leaf = 0; leaf < leaves; ++leaf) tree.push(sums[r * leaves + leaf]);
    y[r] = tree.total() + Real(0);
    amax.see(y[r]);
  });
  give_scratch(sums);
  return word;
}

}  // namespace

uint32_t sum_rows(int64_t rows, int64_t n, const Real* x, Real* y) {
  if (rows < 16 && n > 8 * kSumLeaf) return sum_long_rows(rows, n, x, y);
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const Real* row = x + r * n;
    y[r] = lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(row + i, m); });
    amax.see(y[r]);
  });
}

namespace {

template <class Source>
uint32_t sum_columns_of(int64_t rows, int64_t columns, int64_t leaf, const typename Source::Element* x, Real* y) {
  using Element = typename Source::Element;
  return parallel(ceil_div(columns, kSumLanes), [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kSumLanes, count = least(columns - begin, kSumLanes);
    const Element* block = x + begin;
    Amax amax;
    if (count == kSumLanes) {
      const Lanes sum = column_sum<Lanes>(rows, leaf, [&](Lanes& s, int64_t r) ROTE_LOOP_BODY {
        const Element* row = block + r * columns;
        s.a += Source::load(row), s.b += Source::load(row + kLanes), s.c += Source::load(row + 2 * kLanes), s.d += Source::load(row + 3 * kLanes);
      });
      const Vec zero(Real(0));
      const Vec sums[4] = {sum.a + zero, sum.b + zero, sum.c + zero, sum.d + zero};
      for (int k = 0; k < 4; ++k) {
        store(y + begin + k * kLanes, sums[k]);
        amax.see(sums[k]);
      }
    } else {
      for (int64_t c = 0; c < count; c += kLanes) {
        const int m = static_cast<int>(least(count - c, kLanes));
        const Column sum = column_sum<Column>(rows, leaf, [&](Column& s, int64_t r) ROTE_LOOP_BODY { s.a += Source::load(block + r * columns + c, m); });
        const Vec total = sum.a + Vec(Real(0));
        store(y + begin + c, total, m);
        amax.see(total, m);
      }
    }
    return amax.word();
  });
}

}  // namespace

uint32_t sum_columns(int64_t rows, int64_t columns, int64_t leaf, const Elements<Real>& x, Real* y) {
  return with_format(x.stored, [&](auto source) ROTE_LOOP_BODY {
    using Source = decltype(source);
    return sum_columns_of<Source>(rows, columns, leaf, static_cast<const typename Source::Element*>(x.p), y);
  });
}

uint32_t max_rows(int64_t rows, int64_t n, const Real* x, Real* y) {
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const Real* row = x + r * n;
    y[r] = lane_maximum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(row + i, m); });
    amax.see(y[r]);
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

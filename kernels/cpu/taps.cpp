// kernels/cpu/taps.cpp — a sparse matrix along one axis: average pools and interpolations, and their transposes.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// One row of the matrix on contiguous vectors x[index·inner + i].
ROTE_INLINE void combine(const Taps<Real>& t, const Real* x, int64_t j, Real* y, Amax& amax) {
  const int64_t first = t.begin[j], last = t.begin[j + 1];
  over_row(t.inner, [&](int64_t i, auto m) ROTE_LOOP_BODY {
    Vec sum(Real(0));
    if (first < last) sum = load(x + t.index[first] * t.inner + i, m) * Vec(t.weight[first]);
    for (int64_t k = first + 1; k < last; ++k) sum = fma(load(x + t.index[k] * t.inner + i, m), Vec(t.weight[k]), sum);
    if (t.divisor) sum = sum / Vec(t.divisor[j]);
    store(y + i, sum, m);
    see(amax, sum, m);
  });
}

// The same where the axis is the last one: results first … last-1 of y, 16 at a time in the lanes of one chain. A row of the matrix that has ended
// keeps its sum.
ROTE_INLINE void combine_last(const Taps<Real>& t, int64_t first, int64_t last, Amax& amax) {
  int64_t row = first / t.out, j = first % t.out;
  for (int64_t e = first; e < last; e += kLanes) {
    const int n = static_cast<int>(least(last - e, kLanes));
    const Real* x[kLanes];
    int64_t begin[kLanes], count[kLanes];
    alignas(64) Real counts[kLanes] = {}, divisors[kLanes] = {}, values[kLanes] = {}, weights[kLanes] = {};
    int64_t longest = 0;
    for (int l = 0; l < n; ++l) {
      x[l] = t.x + row * t.in;
      begin[l] = t.begin[j];
      count[l] = t.begin[j + 1] - begin[l];
      counts[l] = static_cast<Real>(count[l]);
      divisors[l] = t.divisor ? t.divisor[j] : Real(1);
      longest = count[l] > longest ? count[l] : longest;
      if (++j == t.out) j = 0, ++row;
    }
    const Vec all_counts = load(counts);
    Vec sum(Real(0));
    for (int64_t k = 0; k < longest; ++k) {
      for (int l = 0; l < n; ++l) {
        if (k >= count[l]) continue;
        values[l] = x[l][t.index[begin[l] + k]];
        weights[l] = t.weight[begin[l] + k];
      }
      const Vec v = load(values), w = load(weights);
      sum = k == 0 ? v * w : select(Vec(static_cast<Real>(k)) < all_counts, fma(v, w, sum), sum);
    }
    if (t.divisor) sum = sum / load(divisors);
    store(t.y + e, sum, n);
    amax.see(sum, n);
  }
}

}  // namespace

uint32_t taps(const Taps<Real>& t) {
  if (t.inner == 1) {
    const int64_t results = t.outer * t.out, chunk = 1024;
    return parallel(ceil_div(results, chunk), [&](int64_t task) -> uint32_t {
      Amax amax;
      combine_last(t, task * chunk, least((task + 1) * chunk, results), amax);
      return amax.word();
    });
  }
  return over_rows(t.outer * t.out, t.inner, [&](int64_t r, Amax& amax) {
    combine(t, t.x + r / t.out * t.in * t.inner, r % t.out, t.y + r * t.inner, amax);
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/cpu/moments.h — mean and variance of a row, as the norms take them (arithmetic.md 3).
#pragma once

#include "kernels/cpu/lanes.h"

namespace rote::isa::ROTE_ISA_NAME {

struct Moments {
  Real mean, variance;
};

ROTE_INLINE Real variance_about(const Real* row, int64_t n, Real mean) {
  const Vec mu(mean);
  return lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
    const Vec centred = keep(load(row + i, m) - mu, m);
    return centred * centred;
  }) / static_cast<Real>(n);
}

// mean = Σx/n and Σ(x - mean)²/n, n > 0. A mean lies between the smallest and the largest value; where they are so close that the rounding of the
// sum could have moved it out, it is put back: of equal values it is that value, and their normalised row is 0.
ROTE_INLINE Moments moments(const Real* row, int64_t n) {
  Moments found;
  found.mean = lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(row + i, m); }) / static_cast<Real>(n);
  found.variance = variance_about(row, n, found.mean);
  const Real spread = found.mean * Real(0x1p-16);
  if (!(found.variance <= spread * spread)) return found;
  const Real high = lane_maximum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(row + i, m); });
  const Real low = -lane_maximum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return -load(row + i, m); });
  found.mean = found.mean < low ? low : found.mean > high ? high : found.mean;
  found.variance = variance_about(row, n, found.mean);
  return found;
}

}  // namespace rote::isa::ROTE_ISA_NAME

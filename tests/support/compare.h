// tests/support/compare.h — comparing numbers: by bits, in units in the last place, by tolerance. Light: any test may include it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace rote::testing {

inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

// The first index at which the bits of a and b differ, -1 where all n are equal. A NaN equals only its own pattern; -0 differs from +0.
template <class T>
int64_t first_bit_difference(int64_t n, const T* a, const T* b) {
  for (int64_t i = 0; i < n; ++i) {
    if (std::memcmp(a + i, b + i, sizeof(T)) != 0) return i;
  }
  return -1;
}

// |a - b| <= atol + rtol·|b|; NaN is near NaN, an infinity near itself.
inline bool near(double a, double b, double rtol, double atol = 0) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= atol + rtol * std::abs(b);
}

// The distance of `got` from `want` in units of the last place of a float of want's size (subnormals have the place of the smallest
// normal number); 0 where both are NaN or the same infinity after rounding to float, infinite where only one is.
inline double ulps(float got, double want) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : kInfinity;
  if (std::isinf(got) || std::isinf(want)) return got == static_cast<float>(want) ? 0 : kInfinity;
  const int exponent = want == 0 ? -126 : std::max(std::ilogb(want), -126);
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 23);
}

}  // namespace rote::testing

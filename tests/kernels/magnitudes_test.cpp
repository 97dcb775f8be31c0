// tests/kernels/magnitudes_test.cpp — counts against those of a plain loop, in each format, for lengths around the blocks.
#include "kernels/magnitudes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace rote;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  std::vector<T> out;
  for (const double v : values) out.push_back(convert<T>(v));
  return out;
}

template <class T>
Magnitudes counted(const std::vector<double>& values, double bound) {
  const std::vector<T> x = as<T>(values);
  return magnitudes(DTypeOf<T>::value, x.data(), static_cast<int64_t>(x.size()), bound);
}

template <class T>
void check_lengths() {
  for (const int64_t n : {0, 1, 7, 8, 9, 1023, 1024, 1025, 65535, 65536, 65537, 200001}) {
    CAPTURE(n);
    std::vector<double> values;
    double largest = 0;
    int64_t nonzero = 0, below = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = i % 5 == 0 ? 0 : i % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : (i % 2 ? -1 : 1) * static_cast<double>(1 + i * 37 % 100) / 64;
      values.push_back(v);
      if (!(std::abs(v) > 0)) continue;
      largest = std::max(largest, std::abs(v));
      ++nonzero;
      below += std::abs(v) < 0.5;
    }
    const Magnitudes found = counted<T>(values, 0.5);
    CHECK(found.largest == largest);
    CHECK(found.nonzero == nonzero);
    CHECK(found.below == below);
    CHECK_FALSE(found.has_inf);
  }
}

}  // namespace

TEST_CASE("magnitudes: the counts of a plain loop for any length, in all four formats") {
  check_lengths<float>();
  check_lengths<double>();
  check_lengths<Half>();
  check_lengths<BFloat16>();
}

TEST_CASE("magnitudes: bounds are exclusive, signs do not count, Inf and NaN are no magnitudes") {
  const Magnitudes half = counted<Half>({0, -0.0, 0x1p-14, -0x1p-15, 0x1p-24, -65504, kInf}, 0x1p-14);
  CHECK(half.largest == 65504);
  CHECK(half.nonzero == 4);
  CHECK(half.below == 2);
  CHECK(half.has_inf);
  const Magnitudes single = counted<float>({-3, kInf, std::numeric_limits<double>::quiet_NaN()}, 0x1p-126);
  CHECK(single.largest == 3);
  CHECK(single.nonzero == 1);
  CHECK_FALSE(single.has_inf);  // a NaN hides it, which no rounding made
}

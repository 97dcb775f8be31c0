// tests/tensor/difference_test.cpp — difference() finds the first element, counts the others and measures in steps of the dtype.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "tensor/difference.h"

namespace rote::testing {

namespace {

std::string told(const Tensor& a, const Tensor& b) {
  const std::optional<Difference> found = difference(a, b);
  return found ? describe(*found, a) : "equal";
}

Tensor floats(const std::vector<float>& values) { return from_values({static_cast<int64_t>(values.size())}, values); }

}  // namespace

TEST_CASE("difference: equal bits are equal, and a NaN is like any other") {
  CHECK(told(floats({1, -0.0f, INFINITY}), floats({1, -0.0f, INFINITY})) == "equal");
  CHECK(told(floats({NAN}), floats({-NAN})) == "equal");
  CHECK(told(floats({}), floats({})) == "equal");
}

TEST_CASE("difference: one ulp is one step of the dtype, also across 0 and subnormals") {
  const float up = std::nextafter(0.5f, 1.0f), tiny = std::numeric_limits<float>::denorm_min();
  CHECK(told(floats({2, 0.5f}), floats({2, up})) == "f32[2]: 1 of 2 elements differ, first at [1]: 0.5 and 0.50000006, 1 ulp apart");
  CHECK(difference(floats({tiny}), floats({-tiny}))->ulps == 2);
  CHECK(difference(floats({0.0f}), floats({-0.0f}))->ulps == 0);
  CHECK(difference(floats({std::numeric_limits<float>::max()}), floats({INFINITY}))->ulps == 1);
  const Tensor a = from_values({1}, std::vector<double>{1}), b = from_values({1}, std::vector<double>{std::nextafter(1.0, 2.0)});
  CHECK(told(a, b) == "f64[1]: 1 of 1 elements differ, first at [0]: 1 and 1.0000000000000002, 1 ulp apart");
  CHECK(difference(converted(floats({1}), DType::bf16), converted(floats({1.0078125f}), DType::bf16))->ulps == 1);
  CHECK(difference(converted(floats({1}), DType::f16), converted(floats({1.0009765625f}), DType::f16))->ulps == 1);
}

TEST_CASE("difference: the first in logical order is named, the farthest measured") {
  const Tensor a = from_values({2, 3}, std::vector<int64_t>{0, 1, 2, 3, 4, 5}), b = from_values({2, 3}, std::vector<int64_t>{0, 1, 2, 9, 4, -5});
  CHECK(told(a, b) == "i64[2,3]: 2 of 6 elements differ, first at [1,0]: 3 and 9, 6 ulps apart; at most 10 ulps");
  CHECK(told(from_values({}, std::vector<float>{1}), from_values({}, std::vector<float>{2})).find("first at []") != std::string::npos);
}

TEST_CASE("difference: beside a NaN there is no distance") {
  CHECK(told(floats({NAN}), floats({1})) == "f32[1]: 1 of 1 elements differ, first at [0]: nan and 1");
  CHECK(told(floats({NAN, 1}), floats({1, 2})).find("; at most 8388608 ulps") != std::string::npos);
}

TEST_CASE("difference: other shapes and dtypes are refused") {
  CHECK_THROWS_WITH_AS(difference(floats({1}), floats({1, 2})), "difference: f32[1] and f32[2]; give two of one dtype and shape.", ShapeError);
  CHECK_THROWS_AS(difference(floats({1}), from_values({1}, std::vector<int64_t>{1})), ShapeError);
}

}  // namespace rote::testing

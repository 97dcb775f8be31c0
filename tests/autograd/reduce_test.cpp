// tests/autograd/reduce_test.cpp — products with zeros, which of equal values is the largest, norms at their kinks, division of integers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor row(const std::vector<double>& v, DType t = DType::f64) { return converted(from_values({static_cast<int64_t>(v.size())}, v), t); }

std::vector<double> values(const Tensor& x) {
  const Tensor y = contiguous(converted(x, DType::f64));
  return {y.data<double>(), y.data<double>() + y.numel()};
}

}  // namespace

TEST_CASE("prod: derivatives where factors are 0") {
  const auto f = [](const std::vector<Tensor>& x) { return prod(x[0], {1}); };
  for (const int zeros : {0, 1, 2, 3}) {
    CAPTURE(zeros);
    Tensor x = reshape(row({1, -2, 3, 0.5, 2, 1.5, -1, 0.25, 2, 4}), {2, 5});
    for (int i = 0; i < zeros; ++i) x.data<double>()[2 * i] = 0;
    CHECK(gradcheck(f, {x}) == "");
    CHECK(gradgradcheck(f, {x}) == "");
  }
}

TEST_CASE("max_along: the first of equal values, NaN before all, and the gradient goes there alone") {
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8}) {
    CHECK(values(max_along(row({1, 3, 3, 2}, t), 0)[1]) == std::vector<double>{1});
    CHECK(values(min_along(row({2, 1, 3, 1}, t), 0)[1]) == std::vector<double>{1});
  }
  CHECK(values(max_along(row({1, NAN, 9, NAN}), 0)[1]) == std::vector<double>{1});
  CHECK(values(min_along(row({-kInfinity, NAN}), 0)[1]) == std::vector<double>{1});
  Tensor x = row({1, 3, 3, 2});
  requires_grad(x);
  backward(max_along(x, 0)[0]);
  CHECK(values(x.grad()) == std::vector<double>{0, 1, 0, 0});
  CHECK_THROWS_WITH_AS(max_along(empty({2, 0}), 1), "max_along: axis 1 of f32[2,0] is empty; a largest needs an element.", ShapeError);
}

TEST_CASE("norm: every order is 0 with derivative 0 at 0, and refuses what has none") {
  for (const double order : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, kInfinity}) {
    CAPTURE(order);
    Tensor x = zeros({3}, {.dtype = DType::f64});
    requires_grad(x);
    const Tensor y = norm(x, order);
    CHECK(y.item() == 0);
    backward(y);
    CHECK(values(x.grad()) == std::vector<double>{0, 0, 0});
  }
  CHECK_THROWS_WITH_AS(norm(empty({0}), -1), "norm: f32[0] has no elements along the reduced axes; of order -1 the norm needs one.", ShapeError);
}

TEST_CASE("division: integers round as asked and are not divided by 0; floating numbers are") {
  const Tensor x = row({7, -7, 7, -7}, DType::i32), y = row({2, 2, -2, -2}, DType::i32);
  CHECK(values(floor_divide(x, y)) == std::vector<double>{3, -4, -4, 3});
  CHECK(values(trunc_divide(x, y)) == std::vector<double>{3, -3, -3, 3});
  CHECK(values(remainder(x, y)) == std::vector<double>{1, 1, -1, -1});
  CHECK(values(fmod(x, y)) == std::vector<double>{1, -1, 1, -1});
  const Tensor lowest = full({1}, -0x1p63, {.dtype = DType::i64}), minus_one = full({1}, -1, {.dtype = DType::i64});
  CHECK(values(floor_divide(lowest, minus_one)) == std::vector<double>{-0x1p63});  // wraps
  CHECK_THROWS_WITH_AS(floor_divide(x, row({1, 0, 1, 1}, DType::i32)),
                       "floor_divide: y i32[4] holds a 0, by which i32[4] is not divided; floating numbers give infinity or NaN there (to() converts).", ArgumentError);
  CHECK(values(floor_divide(row({1, -1}), row({0, 0}))) == std::vector<double>{kInfinity, -kInfinity});
  // 0.1 is above a tenth, so that nine of it fit into 1 and a tenth is left but for rounding: the quotient 1/0.1 is 10.
  CHECK(values(floor_divide(row({1}), row({0.1}))) == std::vector<double>{9});
}

TEST_CASE("bitwise: integers and bool alone") {
  CHECK(values(bitwise_not(row({0, 255}, DType::u8))) == std::vector<double>{255, 0});
  CHECK(values(bitwise_left_shift(row({1, 1, 1}, DType::i8), row({7, 8, -1}, DType::i8))) == std::vector<double>{-128, 0, 0});
  CHECK(values(bitwise_right_shift(row({-100, -100}, DType::i8), row({100, -1}, DType::i8))) == std::vector<double>{-1, -1});
  CHECK_THROWS_AS(bitwise_and(row({1}), row({1})), DTypeError);
  CHECK_THROWS_AS(bitwise_left_shift(row({1}, DType::boolean), row({1}, DType::boolean)), DTypeError);
}

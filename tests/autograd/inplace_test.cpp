// tests/autograd/inplace_test.cpp — writing in place: values, histories of bases and views, what is refused and why.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

Tensor matrix() {
  Tensor x = from_values({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  return requires_grad(x);
}

std::vector<double> values(const Tensor& x) {
  const Tensor plain = contiguous(x);
  return {plain.data<double>(), plain.data<double>() + plain.numel()};
}

}  // namespace

TEST_CASE("inplace: add_ on an inner tensor changes value and gradient") {
  const Tensor x = matrix(), y = mul(x, 2.0);
  CHECK(add_(y, x).impl() == y.impl());
  backward(sum(y));
  CHECK(values(y) == std::vector<double>{3, 6, 9, 12, 15, 18});
  CHECK(values(x.grad()) == std::vector<double>(6, 3));
}

TEST_CASE("inplace: a write through a view reaches the base and its other views") {
  const Tensor x = matrix(), y = mul(x, 1.0), row = select(y, 0, 0), column = select(y, 1, 0);
  mul_(row, 10.0);
  CHECK(values(y) == std::vector<double>{10, 20, 30, 4, 5, 6});
  CHECK(values(column) == std::vector<double>{10, 4});
  backward(sum(add(column, column)));  // of a view made before the write
  CHECK(values(x.grad()) == std::vector<double>{20, 0, 0, 2, 0, 0});
}

TEST_CASE("inplace: copy_ cuts the old history of what it overwrites") {
  const Tensor x = matrix(), y = mul(x, 3.0);
  Tensor source = from_values({3}, std::vector<double>{7, 8, 9});
  requires_grad(source);
  copy_(select(y, 0, 1), source);
  backward(sum(y));
  CHECK(values(x.grad()) == std::vector<double>{3, 3, 3, 0, 0, 0});
  CHECK(values(source.grad()) == std::vector<double>{1, 1, 1});
}

TEST_CASE("inplace: a plain tensor gains a history from what is written into it") {
  const Tensor buffer = zeros({2, 2}, {.dtype = DType::f64}), x = matrix();
  copy_(select(buffer, 1, 1), select(x, 1, 2));
  backward(sum(mul(buffer, buffer)));
  CHECK(values(x.grad()) == std::vector<double>{0, 0, 6, 0, 0, 12});
}

TEST_CASE("inplace: zero_ gives zero gradients") {
  const Tensor x = matrix(), y = mul(x, 2.0);
  zero_(y);
  backward(sum(y));
  CHECK(values(x.grad()) == std::vector<double>(6, 0));
}

TEST_CASE("inplace: a backward that needs an overwritten value is refused with the op's name") {
  const Tensor x = matrix(), y = exp(x);
  add_(select(y, 0, 0), 1.0);
  CHECK_THROWS_WITH_AS(backward(sum(y)), "backward: exp needs the value of y (f64[2,3]) that an in-place op overwrote after it ran; write into a clone.", StateError);
}

TEST_CASE("inplace: what is refused, before anything is written") {
  const Tensor x = matrix(), whole = from_values({2}, std::vector<int64_t>{1, 2});
  CHECK_THROWS_WITH_AS(add_(x, 1.0), "add_: f64[2,3] is a leaf that requires a gradient; write into it under NoGrad, or into a clone.", StateError);
  CHECK_THROWS_WITH_AS(zero_(select(x, 0, 0)), "fill_: f64[3] shows a leaf that requires a gradient; write into it under NoGrad, or into a clone.", StateError);
  CHECK_THROWS_WITH_AS(add_(whole, 0.5), "add_: the result is f32[2] and does not go into i64[2]; convert x with to() first.", DTypeError);
  CHECK_THROWS_WITH_AS(add_(whole, zeros({3, 1}, {.dtype = DType::i64})), "add_: the result is i64[3,2] but is written into i64[2]; the shapes must be equal.", ShapeError);
  const Tensor repeated = expand(from_values({1}, std::vector<double>{1}), {3});
  CHECK_THROWS_WITH_AS(mul_(repeated, 2.0), "mul_: f64[3] shows some elements twice; write into a clone.", StateError);
  CHECK(whole.data<int64_t>()[0] == 1);
  CHECK(values(x) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("inplace: under NoGrad a leaf may be written") {
  const Tensor x = matrix();
  {
    const NoGrad guard;
    mul_(x, 2.0);
  }
  CHECK(values(x)[5] == 12);
  CHECK(x.requires_grad());
}

TEST_CASE("inplace: a source in the same memory is read before it is written") {
  const Tensor x = from_values({3, 3}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  copy_(x, t(x));
  CHECK(values(x) == std::vector<double>{1, 4, 7, 2, 5, 8, 3, 6, 9});
}

TEST_CASE("inplace: a result that was copied is a base of its own: a write through its view keeps the rest of its history") {
  const Tensor x = matrix(), y = reshape(transpose(x, 0, 1), {6});
  mul_(slice(y, 0, 0, 2), 3.0);
  backward(sum(y));
  CHECK(values(x.grad()) == std::vector<double>{3, 1, 1, 3, 1, 1});
}

TEST_CASE("inplace: a leaf that shows other memory is a leaf all the same") {
  Tensor w = reshape(from_values({6}, std::vector<double>(6, 1)), {2, 3});
  requires_grad(w);
  CHECK_THROWS_AS(mul_(w, 2.0), StateError);
  CHECK(w.requires_grad());
}

TEST_CASE("views: places and sizes beyond memory are refused") {
  const Tensor x = zeros({4});
  CHECK_THROWS_AS(as_strided(x, {(int64_t{1} << 32) + 1}, {int64_t{1} << 32}, 0), ShapeError);
  CHECK_THROWS_AS(reshape(zeros({0}), {0, 1, int64_t{1} << 62, 4, -5}), ShapeError);
  CHECK_THROWS_AS(expand(zeros({1}), {int64_t{1} << 32, int64_t{1} << 32}), ShapeError);
  CHECK_THROWS_AS(narrow(x, 0, 1, std::numeric_limits<int64_t>::max()), ShapeError);
  CHECK(slice(x, 0, 0, 4, std::numeric_limits<int64_t>::max()).numel() == 1);
}

TEST_CASE("inplace: a view made under NoGrad does not write into what has a gradient") {
  const Tensor x = matrix(), y = mul(x, 2.0);
  Tensor v;
  {
    const NoGrad guard;
    v = select(y, 0, 0);
  }
  CHECK_THROWS_AS(mul_(v, 10.0), StateError);
  CHECK(values(y)[0] == 2);
}

TEST_CASE("inplace: what copy_ overwrites gets zeros") {
  const Tensor x = matrix(), y = mul(x, 2.0);
  copy_(y, mul(matrix(), 1.0));
  backward(sum(y));
  CHECK(values(x.grad()) == std::vector<double>(6, 0));
}

TEST_CASE("inplace: nothing shows twice where there is nothing") {
  const Tensor none = expand(empty({0, 3}), {2, 0, 3});
  CHECK(mul_(none, 2.0).impl() == none.impl());
}

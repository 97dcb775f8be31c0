// tests/autograd/contract_test.cpp — einsum's texts and letters, the order of multi_dot, matrix products without outputs and of integers.
#include <doctest/doctest.h>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

Tensor counted(const Shape& shape, DType dtype = DType::f64) {
  Tensor x = empty(shape, {.dtype = DType::f64});
  for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] = static_cast<double>(i % 7) - 2.5;
  return converted(x, dtype);
}

std::vector<double> values(const Tensor& x) {
  const Tensor y = contiguous(converted(x, DType::f64));
  return {y.data<double>(), y.data<double>() + y.numel()};
}

std::string refusal(const std::string& equation, const std::vector<Tensor>& operands) {
  try {
    einsum(equation, operands);
  } catch (const Error& e) {
    return e.text;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("einsum: a fault is named with the equation and the operand") {
  const Tensor x = counted({2, 3}), y = counted({4, 5});
  CHECK(refusal("ij,jk->ik", {x, y}) == "einsum: axis j has size 3 and in operand 1, f64[4,5], size 4; they must be equal, or one of them 1.");
  CHECK(refusal("ij,jk->ik", {x}) == "einsum: equation \"ij,jk->ik\" has 2 operands but 1 are given.");
  CHECK(refusal("ijk->i", {x}) == "einsum: operand 0 is f64[2,3] but its part of the equation names 3 axes.");
  CHECK(refusal("ii->i", {x}) == "einsum: i names two axes of operand 0, f64[2,3]; their sizes must be equal.");
  CHECK(refusal("ij->ik", {x}) == "einsum: equation \"ij->ik\" has k in its output but in no operand.");
  CHECK(refusal("ij->ii", {x}) == "einsum: equation \"ij->ii\" has i twice in its output; once is enough.");
  CHECK(refusal("i.j->i", {x}) == "einsum: equation \"i.j->i\" has a dot that is not one of three.");
  CHECK(refusal("i1->i", {x}) == "einsum: equation \"i1->i\" has the character '1'; axes are named by the letters a-z and A-Z.");
  CHECK(refusal("ij-i", {x}) == "einsum: equation \"ij-i\" has a - that is not its one ->.");
  CHECK(refusal("......", {x}) == "einsum: equation \"......\" has ... twice in one operand.");
}

TEST_CASE("einsum: without an output the letters that occur once follow in the order of ASCII, capitals first") {
  CHECK(einsum("bA", {counted({2, 3})}).shape() == Shape{3, 2});
  CHECK(values(einsum("ji", {counted({2, 3})})) == values(transpose(counted({2, 3}), 0, 1)));
}

TEST_CASE("einsum: first and second derivatives of a diagonal, a sum and a product of three") {
  const auto f = [](const std::vector<Tensor>& x) { return einsum("iij,jk,k->i", x); };
  const std::vector<Tensor> x = {counted({2, 2, 3}), counted({3, 2}), counted({2})};
  CHECK(gradcheck(f, x) == "");
  CHECK(gradgradcheck(f, x) == "");
}

TEST_CASE("multi_dot: the order multiplies least") {
  // From the left 1000·1·1000·2 + …; from the right only vectors of size 1 meet the wide ones.
  const Tensor a = counted({1000, 1}), b = counted({1, 1000}), c = counted({1000, 1});
  CHECK(values(multi_dot({a, b, c})) == values(matmul(a, matmul(b, c))));
  CHECK_THROWS_WITH_AS(multi_dot({a, a}), "multi_dot: matrix 1 is f64[1000,1] after f64[1000,1]; it needs 1 rows.", ShapeError);
}

TEST_CASE("linear: the gradient of x is 0 where w has no outputs") {
  Tensor x = counted({3, 4}, DType::f32);
  requires_grad(x);
  const Tensor y = linear(x, empty({0, 4}));
  backward({y}, {empty({3, 0})});
  CHECK(values(x.grad()) == std::vector<double>(12, 0));
}

TEST_CASE("matmul: integers wrap in their dtype, mixed ones and bool are refused") {
  const Tensor x = full({1, 2}, 100, {.dtype = DType::i8}), y = full({2, 1}, 1, {.dtype = DType::i8});
  CHECK(values(matmul(x, y)) == std::vector<double>{-56});
  CHECK_THROWS_WITH_AS(matmul(x, converted(y, DType::i64)), "matmul: x is i8[1,2] and y i64[2,1]; both must be of one integer dtype, or of one floating dtype.", DTypeError);
  CHECK_THROWS_AS(matmul(converted(x, DType::boolean), converted(y, DType::boolean)), DTypeError);
}

#include "autograd/ops/bitwise.h"

#include "autograd/boxed.h"
#include "autograd/ops/pointwise.h"

namespace rote {

namespace {

template <class Op>
Tensor of_integers(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(result_type({x, y}) != DType::boolean, DTypeError, Op::row.name, ": x and y are bool; convert one of them with to().");
  return apply<Op>({x, y});
}

}  // namespace

Tensor bitwise_not(const Tensor& x) { return x.dtype() == DType::boolean ? logical_not(x) : apply<BitwiseNot>({x}); }
Tensor bitwise_left_shift(const Tensor& x, const Tensor& y) { return of_integers<ShiftLeft>(x, y); }
Tensor bitwise_right_shift(const Tensor& x, const Tensor& y) { return of_integers<ShiftRight>(x, y); }
Tensor gcd(const Tensor& x, const Tensor& y) { return of_integers<Gcd>(x, y); }
Tensor lcm(const Tensor& x, const Tensor& y) { return of_integers<Lcm>(x, y); }

std::vector<Composition> bitwise_compositions() {
  return {
      {"bitwise_not", [](const Arguments& a) -> Value { return bitwise_not(a.tensor("self")); }},
      {"bitwise_left_shift.Tensor; bitwise_left_shift.Tensor_Scalar; bitwise_left_shift.Scalar_Tensor; __lshift__.Tensor; __lshift__.Scalar",
       [](const Arguments& a) -> Value { return bitwise_left_shift(a.tensor("self"), a.tensor("other")); }},
      {"bitwise_right_shift.Tensor; bitwise_right_shift.Tensor_Scalar; bitwise_right_shift.Scalar_Tensor; __rshift__.Tensor; __rshift__.Scalar",
       [](const Arguments& a) -> Value { return bitwise_right_shift(a.tensor("self"), a.tensor("other")); }},
      {"gcd", [](const Arguments& a) -> Value { return gcd(a.tensor("self"), a.tensor("other")); }},
      {"lcm", [](const Arguments& a) -> Value { return lcm(a.tensor("self"), a.tensor("other")); }},
  };
}

}  // namespace rote

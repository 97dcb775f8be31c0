#include "autograd/ops/pointwise.h"

#include <limits>

#include "autograd/boxed.h"
#include "autograd/node.h"
#include "autograd/ops/cast.h"

namespace rote {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor as_bool(const Tensor& x) { return ne(x, 0.0); }

}  // namespace

Tensor sub(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(x.dtype() != DType::boolean || y.dtype() != DType::boolean, DTypeError, "sub: x and y are bool; logical_xor tells where they differ.");
  return apply<Sub>({x, y});
}

Tensor neg(const Tensor& x) {
  ROTE_CHECK(x.dtype() != DType::boolean, DTypeError, "neg: x is ", describe(x), "; logical_not turns a bool.");
  return apply<Neg>({x});
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  ROTE_CHECK(condition.dtype() == DType::boolean, DTypeError, "where: the condition is ", describe(condition), "; it must be bool (ne(x, 0) makes one).");
  return apply<Where>({condition, a, b});
}

Tensor square(const Tensor& x) { return apply<Square>({x.dtype() == DType::boolean ? to(x, DType::i64) : x}); }

Tensor logical_not(const Tensor& x) { return eq(x, 0.0); }
Tensor logical_and(const Tensor& x, const Tensor& y) { return mul(as_bool(x), as_bool(y)); }
Tensor logical_or(const Tensor& x, const Tensor& y) { return maximum(as_bool(x), as_bool(y)); }
Tensor logical_xor(const Tensor& x, const Tensor& y) { return ne(as_bool(x), as_bool(y)); }
Tensor isnan(const Tensor& x) { return ne(x, x); }
Tensor isinf(const Tensor& x) { return eq(abs(x), kInfinity); }
Tensor isfinite(const Tensor& x) { return lt(abs(x), kInfinity); }
// clamp's values and gradient; with an infinite bound on the other side it would stop the gradient at that infinity.
Tensor clamp_min(const Tensor& x, double low) { return where(gt(x, low), x, detach(maximum(x, number_for(x, low)))); }
Tensor clamp_max(const Tensor& x, double high) { return where(lt(x, high), x, detach(minimum(x, number_for(x, high)))); }
Tensor frac(const Tensor& x) { return sub(x, trunc(x)); }
Tensor lerp(const Tensor& x, const Tensor& end, const Tensor& weight) {
  ROTE_CHECK(x.dtype() == end.dtype(), DTypeError, "lerp: x is ", describe(x), " and end ", describe(end), "; the dtypes must be equal.");
  return add(x, mul(weight, sub(end, x)));
}

namespace {

// other·alpha, as add and sub take it.
Tensor scaled(const Arguments& a, const char* name) {
  const Tensor x = a.tensor(name);
  if (!a.given("alpha") || a.number("alpha") == 1) return x;
  ROTE_CHECK(is_floating(x.dtype()) || !a.is_fraction("alpha"), ArgumentError, a.op(), ": alpha is ", a.number("alpha"), " but ", name, " ", describe(x),
             "; for integers alpha must be an integer.");
  return mul(x, a.tensor("alpha"));
}

// clamp, clamp_min and clamp_max with numbers: a floating bound makes integers floating.
Tensor clamped(const Arguments& a) {
  const bool low = a.given("min"), high = a.given("max");
  ROTE_CHECK(low || high, ArgumentError, a.op(), ": min and max are none; at least one must be a number.");
  Tensor x = a.tensor("self");
  if (!is_floating(x.dtype()) && (a.is_fraction("min") || a.is_fraction("max"))) x = to(x, DType::f32);
  if (x.dtype() == DType::boolean) throw Lacking{"clamp of bool"};
  if (!high) return clamp_min(x, a.number("min"));
  if (!low) return clamp_max(x, a.number("max"));
  return clamp(x, a.number("min"), a.number("max"));
}

}  // namespace

std::vector<Composition> pointwise_compositions() {
  return {
      {"add.Tensor; add.Scalar", [](const Arguments& a) -> Value { return add(a.tensor("self"), scaled(a, "other")); }},
      {"sub.Tensor; sub.Scalar", [](const Arguments& a) -> Value { return sub(a.tensor("self"), scaled(a, "other")); }},
      {"rsub.Tensor; rsub.Scalar", [](const Arguments& a) -> Value { return sub(a.tensor("other"), scaled(a, "self")); }},
      {"neg", [](const Arguments& a) -> Value { return neg(a.tensor("self")); }},
      {"square", [](const Arguments& a) -> Value { return square(a.tensor("self")); }},
      {"positive", [](const Arguments& a) -> Value { return a.tensor("self"); }},
      {"pow.Tensor_Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), y = a.tensor("exponent");
         // There the factor z·ln x overflows to infinity on the way to a finite gradient; here it is rounded once.
         if (y.dtype() == DType::f16 && needs_grad(y)) throw Lacking{"the gradient of a power in an f16 exponent as torch rounds it"};
         return pow(x, y);
       }},
      {"pow.Tensor_Scalar", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         ROTE_CHECK(is_floating(x.dtype()) || a.is_fraction("exponent") || a.number("exponent") >= 0, ArgumentError, "pow: ", describe(x), " to the power ",
                    a.number("exponent"), "; integers have no negative powers, convert x with to(x, DType::f32).");
         return pow(x, a.tensor("exponent"));
       }},
      {"where.self; where.ScalarOther; where.ScalarSelf; where.Scalar", [](const Arguments& a) -> Value {
         return where(a.tensor("condition"), a.tensor("self"), a.tensor("other"));
       }},
      {"clamp; clamp_min; clamp_max", [](const Arguments& a) -> Value { return clamped(a); }},
      {"logical_not", [](const Arguments& a) -> Value { return logical_not(a.tensor("self")); }},
      {"logical_and", [](const Arguments& a) -> Value { return logical_and(a.tensor("self"), a.tensor("other")); }},
      {"logical_or", [](const Arguments& a) -> Value { return logical_or(a.tensor("self"), a.tensor("other")); }},
      {"logical_xor", [](const Arguments& a) -> Value { return logical_xor(a.tensor("self"), a.tensor("other")); }},
      {"isnan", [](const Arguments& a) -> Value { return isnan(a.tensor("self")); }},
      {"isinf", [](const Arguments& a) -> Value { return isinf(a.tensor("self")); }},
      {"isfinite", [](const Arguments& a) -> Value { return isfinite(a.tensor("self")); }},
      {"isposinf", [](const Arguments& a) -> Value { return eq(a.tensor("self"), kInfinity); }},
      {"isneginf", [](const Arguments& a) -> Value { return eq(a.tensor("self"), -kInfinity); }},
      {"frac", [](const Arguments& a) -> Value { return frac(a.tensor("self")); }},
      {"lerp.Scalar; lerp.Tensor", [](const Arguments& a) -> Value { return lerp(a.tensor("self"), a.tensor("end"), a.tensor("weight")); }},
      {"addcmul", [](const Arguments& a) -> Value {
         return add(a.tensor("self"), mul(mul(a.tensor("tensor1"), a.tensor("tensor2")), a.tensor("value")));
       }},
      {"addcdiv", [](const Arguments& a) -> Value {
         const Tensor quotient = div(a.tensor("tensor1"), a.tensor("tensor2"));
         return add(a.tensor("self"), mul(quotient, a.tensor("value")));
       }},
  };
}

}  // namespace rote

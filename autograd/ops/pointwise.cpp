#include "autograd/ops/pointwise.h"

#include <cmath>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/node.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/reduce.h"

namespace rote {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor as_bool(const Tensor& x) { return ne(x, 0.0); }

}  // namespace

Tensor sub(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(x.dtype() != DType::boolean || y.dtype() != DType::boolean, DTypeError, "sub: x and y are bool; logical_xor tells where they differ.");
  return apply<Sub>({x, y});
}

// torch's f16 rounds the factors y·x^(y-1) and z·ln x of the gradients to f16, where they overflow to infinity from 65520 on.
Tensor pow(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(x.dtype() != DType::boolean || y.dtype() != DType::boolean, DTypeError, "pow: x and y are bool; convert one of them with to().");
  if (result_type({x, y}) == DType::f16) return apply<Pow>({x, y}, {65520.0});
  return apply<Pow>({x, y});
}

namespace {

// A number beside a narrow dtype is divided as one of it: -3 beside u8 is 253.
template <class Op>
Tensor divided(const Tensor& x, const Tensor& y) {
  const DType dtype = result_type({x, y});
  if (is_floating(dtype)) return apply<Op>({x, y});
  const char* who = Op::row.name;
  ROTE_CHECK(dtype != DType::boolean, DTypeError, who, ": x and y are bool; convert one of them with to().");
  const Tensor divisor = to(y, dtype);
  ROTE_CHECK(x.numel() == 0 || any(eq(divisor, 0.0)).item_i64() == 0, ArgumentError, who, ": y ", describe(y), " holds a 0, by which ", describe(x),
             " is not divided; floating numbers give infinity or NaN there (to() converts).");
  return apply<Op>({to(x, dtype), divisor});
}

}  // namespace

Tensor floor_divide(const Tensor& x, const Tensor& y) { return divided<FloorDivide>(x, y); }
Tensor trunc_divide(const Tensor& x, const Tensor& y) { return divided<TruncDivide>(x, y); }
Tensor remainder(const Tensor& x, const Tensor& y) { return divided<Remainder>(x, y); }
Tensor fmod(const Tensor& x, const Tensor& y) { return divided<Fmod>(x, y); }

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
Tensor heaviside(const Tensor& x, const Tensor& at_zero) {
  ROTE_CHECK(x.dtype() == at_zero.dtype(), DTypeError, "heaviside: x is ", describe(x), " and at_zero ", describe(at_zero), "; the dtypes must be equal.");
  return where(eq(x, 0.0), at_zero, to(gt(x, 0.0), x.dtype()));
}
Tensor signbit(const Tensor& x) { return is_floating(x.dtype()) ? lt(copysign(scalar(1, x.dtype()), detach(x)), 0.0) : lt(x, 0.0); }
Tensor ldexp(const Tensor& x, const Tensor& y) {
  if (is_floating(y.dtype())) return mul(x, exp2(y));
  const Tensor product = mul(to(x, DType::f64), exp2(to(y, DType::f64)));  // 2^y may leave the range that x·2^y is in
  return to(product, is_floating(x.dtype()) ? x.dtype() : DType::f32);
}
Tensor float_power(const Tensor& x, const Tensor& y) { return pow(to(x, DType::f64), to(y, DType::f64)); }
Tensor round(const Tensor& x, int64_t decimals) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "round: x is ", describe(x), " and decimals ", decimals, "; decimals are those of floating numbers.");
  if (decimals == 0) return round(x);
  double scale = 1;  // exact up to 10^22; the C library's pow rounds as it likes
  for (int64_t power = std::min(std::abs(static_cast<double>(decimals)), 400.0); power > 0; --power) scale *= 10;
  const Tensor wide = widened(x);
  return to(decimals > 0 ? div(round(mul(wide, scale)), scale) : mul(round(div(wide, scale)), scale), x.dtype());
}
Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> positive, std::optional<double> negative) {
  if (!is_floating(x.dtype())) return x;
  const double largest = x.dtype() == DType::f64 ? 0x1.fffffffffffffp1023 : x.dtype() == DType::f16 ? 65504 : x.dtype() == DType::bf16 ? 0x1.fep127 : 0x1.fffffep127;
  return apply<NanToNum>({x}, {nan, positive.value_or(largest), negative.value_or(-largest)});
}
Tensor frac(const Tensor& x) { return sub(x, trunc(x)); }
Tensor lerp(const Tensor& x, const Tensor& end, const Tensor& weight) {
  ROTE_CHECK(is_floating(x.dtype()) && x.dtype() == end.dtype(), DTypeError, "lerp: x is ", describe(x), " and end ", describe(end),
             "; they must be of one floating dtype.");
  const Tensor wide = widened(x);
  return to(add(wide, mul(widened(weight), sub(widened(end), wide))), x.dtype());
}

namespace {

// other·alpha in the dtype of the sum, as add and sub take it.
Tensor scaled(const Arguments& a, const char* name) {
  const Tensor x = a.tensor(name);
  if (!a.given("alpha") || a.number("alpha") == 1) return x;
  const DType common = result_type({a.tensor("self"), a.tensor("other")});
  ROTE_CHECK(is_floating(common) || !a.is_fraction("alpha"), ArgumentError, a.op(), ": alpha is ", a.number("alpha"), " but ", name, " ", describe(x),
             "; for integers alpha must be an integer.");
  return to(mul(to(x, common), a.tensor("alpha")), common);
}

// clamp, clamp_min and clamp_max with numbers: a floating bound makes integers floating, an integer makes bool one.
Tensor clamped(const Arguments& a) {
  const bool low = a.given("min"), high = a.given("max");
  ROTE_CHECK(low || high, ArgumentError, a.op(), ": min and max are none; at least one must be a number.");
  Tensor x = a.tensor("self");
  if (!is_floating(x.dtype()) && (a.is_fraction("min") || a.is_fraction("max"))) x = to(x, DType::f32);
  if (x.dtype() == DType::boolean) {
    const auto is_integer = [&](const char* name) { return a.given(name) && std::holds_alternative<int64_t>(a.value(name)); };
    ROTE_CHECK(is_integer("min") || is_integer("max"), DTypeError, a.op(), ": self and its bounds are bool; one of them must be a number.");
    x = to(x, DType::i64);
  }
  if (!high) return clamp_min(x, a.number("min"));
  if (!low) return clamp_max(x, a.number("max"));
  return clamp(x, a.number("min"), a.number("max"));
}

Tensor clamped_between(const Arguments& a) {
  const Tensor x = a.tensor("self"), low = a.tensor_or_none("min"), high = a.tensor_or_none("max");
  ROTE_CHECK(low.defined() || high.defined(), ArgumentError, a.op(), ": min and max are none; at least one must be a tensor.");
  if (!high.defined()) return maximum(x, low);
  if (!low.defined()) return minimum(x, high);
  return clamp(x, low, high);
}

Tensor divided_by_mode(const Arguments& a) {
  const Tensor x = a.tensor("self"), y = a.tensor("other");
  if (!a.given("rounding_mode")) return div(x, y);
  const std::string& mode = a.word("rounding_mode");
  ROTE_CHECK(mode == "floor" || mode == "trunc", ArgumentError, a.op(), ": rounding_mode is \"", mode, "\"; it is \"floor\", \"trunc\" or none.");
  return mode == "floor" ? floor_divide(x, y) : trunc_divide(x, y);
}

// self + value·f(tensor1, tensor2), rounded once; between integers value counts as one.
Tensor added_product(const Arguments& a, Tensor (*f)(const Tensor&, const Tensor&)) {
  const Tensor self = a.tensor("self"), x = a.tensor("tensor1"), y = a.tensor("tensor2");
  const DType dtype = result_type({self, x, y});
  ROTE_CHECK(dtype != DType::boolean, DTypeError, a.op(), ": all tensors are bool; convert one of them with to().");
  const double value = is_floating(dtype) ? a.number("value") : std::trunc(a.number("value"));
  const Tensor product = f(widened(to(x, dtype)), widened(to(y, dtype)));
  return to(add(widened(self), value == 1 ? product : mul(product, value)), dtype);
}

std::optional<double> number_or_none(const Arguments& a, const char* name) { return a.given(name) ? std::optional<double>(a.number(name)) : std::nullopt; }

}  // namespace

std::vector<Composition> pointwise_compositions() {
  return {
      {"add.Tensor; add.Scalar", [](const Arguments& a) -> Value { return add(a.tensor("self"), scaled(a, "other")); }},
      {"sub.Tensor; sub.Scalar", [](const Arguments& a) -> Value { return sub(a.tensor("self"), scaled(a, "other")); }},
      {"rsub.Tensor; rsub.Scalar", [](const Arguments& a) -> Value { return sub(a.tensor("other"), scaled(a, "self")); }},
      {"neg", [](const Arguments& a) -> Value { return neg(a.tensor("self")); }},
      {"square", [](const Arguments& a) -> Value { return square(a.tensor("self")); }},
      {"positive", [](const Arguments& a) -> Value { return a.tensor("self"); }},
      {"pow.Tensor_Tensor", [](const Arguments& a) -> Value { return pow(a.tensor("self"), a.tensor("exponent")); }},
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
      {"clamp.Tensor; clamp_min.Tensor; clamp_max.Tensor", [](const Arguments& a) -> Value { return clamped_between(a); }},
      {"floor_divide; floor_divide.Scalar", [](const Arguments& a) -> Value { return floor_divide(a.tensor("self"), a.tensor("other")); }},
      {"div.Tensor_mode; div.Scalar_mode", [](const Arguments& a) -> Value { return divided_by_mode(a); }},
      {"remainder.Tensor; remainder.Scalar; remainder.Scalar_Tensor", [](const Arguments& a) -> Value { return remainder(a.tensor("self"), a.tensor("other")); }},
      {"fmod.Tensor; fmod.Scalar", [](const Arguments& a) -> Value { return fmod(a.tensor("self"), a.tensor("other")); }},
      {"heaviside", [](const Arguments& a) -> Value { return heaviside(a.tensor("self"), a.tensor("values")); }},
      {"signbit", [](const Arguments& a) -> Value { return signbit(a.tensor("self")); }},
      {"ldexp.Tensor", [](const Arguments& a) -> Value { return ldexp(a.tensor("self"), a.tensor("other")); }},
      {"float_power.Tensor_Tensor; float_power.Tensor_Scalar; float_power.Scalar", [](const Arguments& a) -> Value {
         const auto wide = [&](const char* name) { return std::holds_alternative<Tensor>(a.value(name)) ? a.tensor(name) : scalar(a.number(name), DType::f64); };
         return float_power(wide("self"), wide("exponent"));
       }},
      {"round.decimals", [](const Arguments& a) -> Value { return round(a.tensor("self"), a.integer("decimals")); }},
      {"nan_to_num", [](const Arguments& a) -> Value {
         return nan_to_num(a.tensor("self"), a.given("nan") ? a.number("nan") : 0, number_or_none(a, "posinf"), number_or_none(a, "neginf"));
       }},
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
         return added_product(a, [](const Tensor& x, const Tensor& y) { return mul(x, y); });
       }},
      {"addcdiv", [](const Arguments& a) -> Value {
         ROTE_CHECK(is_floating(a.tensor("tensor1").dtype()) || is_floating(a.tensor("tensor2").dtype()), DTypeError, a.op(),
                    ": tensor1 and tensor2 are of integers; one must be floating (to() converts).");
         return added_product(a, [](const Tensor& x, const Tensor& y) { return div(x, y); });
       }},
  };
}

}  // namespace rote

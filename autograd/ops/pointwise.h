// autograd/ops/pointwise.h — arithmetic, selection and comparison, element by element. Functions: elementary.h. Bits: bitwise.h.
#pragma once

#include "autograd/ops/elementary.h"
#include "autograd/row.h"

namespace rote {

struct Add : Formula<2> {  // z = x + y
  static constexpr Row row{.name = "add", .schema = "add(x[*], y[*]) -> z[*]", .integers = true};
  static constexpr bool passes_dy = true;
  template <class V> static constexpr V forward(V x, V y) { return x + y; }
  template <class V> static constexpr Two<V> backward(V dz) { return {dz, dz}; }
};

struct Sub : Formula<2> {  // z = x - y
  static constexpr Row row{.name = "sub", .schema = "sub(x[*], y[*]) -> z[*]", .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return x - y; }
  template <class V> static constexpr Two<V> backward(V dz) { return {dz, -dz}; }
};

struct Mul : Formula<2> {  // z = x·y
  static constexpr Row row{.name = "mul", .schema = "mul(x[*], y[*]) -> z[*]", .saves = "x y", .reads = "y, x", .integers = true,
                           .aten = "mul.Tensor(self, other); mul.Scalar(self, other); multiply.Tensor(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return x * y; }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) { return {dz * y, dz * x}; }
};

struct Div : Formula<2> {  // z = x/y
  static constexpr Row row{.name = "div", .schema = "div(x[*], y[*]) -> z[*]", .saves = "x y", .reads = "y, x y", .low = 0.5,
                           .aten = "div.Tensor(self, other); div.Scalar(self, other); true_divide.Tensor(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return x / y; }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) { return {dz / y, -(dz * x / y) / y}; }
};

struct Pow : Formula<2, 1> {  // z = x^y; the derivative in y is taken as 0 where x = 0 and y >= 0; factors of both count as infinite from `limit` on
  static constexpr Row row{.name = "pow", .schema = "pow(x[*], y[*], limit=1.7976931348623157e308) -> z[*]", .saves = "x y z", .reads = "x y, x y z",
                           .low = 0.5, .integers = true, .aten = "pow.Scalar(self, exponent)"};
  template <class V> static constexpr V limited(V v, V limit) { return select(abs(v) < limit, v, v * V(__builtin_inff())); }
  template <class V> static constexpr V forward(V x, V y, V) { return pow(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V z, V dz, V limit) {
    const V dx = dz * limited(y * limited(pow(x, y - V(1)), limit), limit);
    const V dy = dz * limited(z * log(x), limit);
    return {select(y == V(0), V(0), dx), select((x == V(0)) & (y >= V(0)), V(0), dy)};
  }
};

// The whole number below x/y. fmod is exact, so that x less it is a multiple of y; a quotient of x and y alone could round up to the next.
template <class V>
V floor_quotient(V x, V y) {
  const V rest = fmod(x, y);
  const V whole = (x - rest) / y;
  const auto across = ((rest < V(0)) & (y > V(0))) | ((rest > V(0)) & (y < V(0)));
  return select(y == V(0), x / y, round(select(across, whole - V(1), whole)));
}

struct FloorDivide : Formula<2> {  // z = ⌊x/y⌋
  static constexpr Row row{.name = "floor_divide", .schema = "floor_divide(x[*], y[*]) -> z[*]", .samples = "*=2,3; *=4; *=; *=0", .low = 1.05,
                           .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return floor_quotient(x, y); }
  template <class V> static constexpr Two<V> backward(V) { return {V(0), V(0)}; }
};

struct TruncDivide : Formula<2> {  // z = x/y without its fraction
  static constexpr Row row{.name = "trunc_divide", .schema = "trunc_divide(x[*], y[*]) -> z[*]", .samples = "*=2,3; *=4; *=; *=0", .low = 1.05,
                           .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return trunc(x / y); }
  template <class V> static constexpr Two<V> backward(V) { return {V(0), V(0)}; }
};

struct Remainder : Formula<2> {  // z = x - y·⌊x/y⌋, of y's sign
  static constexpr Row row{.name = "remainder", .schema = "remainder(x[*], y[*]) -> z[*]", .saves = "x y", .samples = "*=2,3; *=4; *=; *=0",
                           .low = 1.05, .integers = true};
  template <class V> static constexpr V forward(V x, V y) {
    const V rest = fmod(x, y);
    return select(((rest < V(0)) & (y > V(0))) | ((rest > V(0)) & (y < V(0))), rest + y, rest);
  }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) { return {dz, -dz * floor_quotient(x, y)}; }
};

struct Fmod : Formula<2> {  // z = x - y·trunc(x/y), of x's sign
  static constexpr Row row{.name = "fmod", .schema = "fmod(x[*], y[*]) -> z[*]", .saves = "x y", .samples = "*=2,3; *=4; *=; *=0", .low = 1.05,
                           .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return fmod(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) { return {dz, -dz * trunc(x / y)}; }
};

struct Maximum : Formula<2> {  // the larger; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "maximum", .schema = "maximum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true,
                           .aten = "maximum(self, other); max.other(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return maximum(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x < y, V(0), dz)), select(x == y, half, select(x > y, V(0), dz))};
  }
};

struct Minimum : Formula<2> {  // the smaller; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "minimum", .schema = "minimum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true,
                           .aten = "minimum(self, other); min.other(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return minimum(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x > y, V(0), dz)), select(x == y, half, select(x < y, V(0), dz))};
  }
};

struct Fmax : Formula<2> {  // the larger; of a number and NaN the number; equal values share the gradient
  static constexpr Row row{.name = "fmax", .schema = "fmax(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "fmax(self, other)"};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V x, V y) { return select((x >= y) | (y != y), x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    const auto takes_x = (x > y) | (y != y);
    return {select(x == y, half, select(takes_x, dz, V(0))), select(x == y, half, select(takes_x, V(0), dz))};
  }
};
struct Fmin : Formula<2> {  // the smaller; of a number and NaN the number; equal values share the gradient
  static constexpr Row row{.name = "fmin", .schema = "fmin(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "fmin(self, other)"};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V x, V y) { return select((x <= y) | (y != y), x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    const auto takes_x = (x < y) | (y != y);
    return {select(x == y, half, select(takes_x, dz, V(0))), select(x == y, half, select(takes_x, V(0), dz))};
  }
};

struct Neg : Formula<1> {  // y = -x
  static constexpr Row row{.name = "neg", .schema = "neg(x[*]) -> y[*]", .integers = true};
  template <class V> static constexpr V forward(V x) { return -x; }
  template <class V> static constexpr V backward(V dy) { return -dy; }
};

struct Abs : Formula<1> {  // y = |x|; the derivative at 0 and NaN is 0
  static constexpr Row row{.name = "abs", .schema = "abs(x[*]) -> y[*]", .saves = "x", .kinks = "0", .integers = true, .aten = "abs(self)"};
  template <class V> static constexpr V forward(V x) { return abs(x); }
  template <class V> static constexpr V backward(V x, V dy) { return select(x > V(0), dy, select(x < V(0), -dy, V(0))); }
};

struct Sign : Formula<1> {  // 1, 0 or -1; 0 of NaN
  static constexpr Row row{.name = "sign", .schema = "sign(x[*]) -> y[*]", .kinks = "0", .integers = true, .aten = "sign(self); sgn(self)"};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V x) { return select(x > V(0), V(1), select(x < V(0), V(-1), V(0))); }
  template <class V> static constexpr V backward(V) { return V(0); }
};

struct Copysign : Formula<2> {  // |x| with the sign of y, whose zeros have one; the derivative at x = 0 is 0
  static constexpr Row row{.name = "copysign", .schema = "copysign(x[*], y[*]) -> z[*]", .saves = "x z", .reads = "x z, ", .kinks = "0",
                           .aten = "copysign.Tensor(self, other); copysign.Scalar(self, other)"};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V x, V y) { return copysign(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V z, V dz) { return {select(x == V(0), V(0), dz * (z / x)), V(0)}; }
};

struct Reciprocal : Formula<1> {  // y = 1/x
  static constexpr Row row{.name = "reciprocal", .schema = "reciprocal(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "reciprocal(self)"};
  template <class V> static constexpr V forward(V x) { return V(1) / x; }
  template <class V> static constexpr V backward(V y, V dy) { return -dy * (y * y); }
};

struct Square : Formula<1> {  // y = x²
  static constexpr Row row{.name = "square", .schema = "square(x[*]) -> y[*]", .saves = "x", .integers = true};
  template <class V> static constexpr V forward(V x) { return x * x; }
  template <class V> static constexpr V backward(V x, V dy) { return dy * (x + x); }
};

// To whole numbers: the derivative is 0 between the steps, and taken as 0 on them.
struct Floor : Formula<1> {
  static constexpr Row row{.name = "floor", .schema = "floor(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "floor(self)"};
  template <class V> static constexpr V forward(V x) { return floor(x); }
  template <class V> static constexpr V backward(V) { return V(0); }
};
struct Ceil : Formula<1> {
  static constexpr Row row{.name = "ceil", .schema = "ceil(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "ceil(self)"};
  template <class V> static constexpr V forward(V x) { return ceil(x); }
  template <class V> static constexpr V backward(V) { return V(0); }
};
struct Trunc : Formula<1> {  // toward 0
  static constexpr Row row{.name = "trunc", .schema = "trunc(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "trunc(self)"};
  template <class V> static constexpr V forward(V x) { return trunc(x); }
  template <class V> static constexpr V backward(V) { return V(0); }
};
struct Round : Formula<1> {  // halves to the even neighbour
  static constexpr Row row{.name = "round", .schema = "round(x[*]) -> y[*]", .kinks = "-1.5 -0.5 0.5 1.5", .integers = true, .aten = "round(self)"};
  template <class V> static constexpr V forward(V x) { return round(x); }
  template <class V> static constexpr V backward(V) { return V(0); }
};

struct Where : Formula<3> {  // y = a where the condition is not 0, else b
  static constexpr Row row{.name = "where", .schema = "where(c[*], a[*], b[*]) -> y[*]", .saves = "c", .integers = true};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V c, V a, V b) { return select(c != V(0), a, b); }
  template <class V> static constexpr Three<V> backward(V c, V dy) { return {V(0), select(c != V(0), dy, V(0)), select(c != V(0), V(0), dy)}; }
};

struct Clamp : Formula<1, 2> {  // y = min(max(x, low), high); the gradient passes inside, borders not included
  static constexpr Row row{.name = "clamp", .schema = "clamp(x[*], low, high) -> y[*]", .saves = "x", .samples = "*=2,3 low=-0.5 high=0.7",
                           .kinks = "-0.5 0.7", .integers = true};
  template <class V> static constexpr V forward(V x, V low, V high) { return minimum(maximum(x, low), high); }
  template <class V> static constexpr V backward(V x, V dy, V low, V high) { return select((x > low) & (x < high), dy, V(0)); }
};

struct ClampBetween : Formula<3> {  // Clamp between two tensors; x shares the gradient with a border that it is equal to
  static constexpr Row row{.name = "clamp_between", .schema = "clamp_between(x[*], low[*], high[*]) -> y[*]", .saves = "x low high",
                           .integers = true};
  template <class V> static constexpr V forward(V x, V low, V high) { return minimum(maximum(x, low), high); }
  template <class V> static constexpr Three<V> backward(V x, V low, V high, V dy) {
    const V half = dy * V(0.5f), zero = V(0);
    const auto open = low < high;
    const V at_low = select(open & (x == low), half, select((x < low) & (low <= high), dy, zero));
    const V at_high = select(open & (x == high), half, select((low > high) | ((x > high) & (low <= high)), dy, zero));
    return {select((x < low) | (x > high), zero, select(open & ((x == low) | (x == high)), half, dy)), at_low, at_high};
  }
};

struct NanToNum : Formula<1, 3> {  // y = x with other values for NaN and the infinities, where the gradient stops
  static constexpr Row row{.name = "nan_to_num", .schema = "nan_to_num(x[*], nan, positive, negative) -> y[*]", .saves = "x",
                           .samples = "*=2,3 nan=0.5 positive=9.0 negative=-9.0"};
  static constexpr bool moves_only = true;
  template <class V> static constexpr V forward(V x, V nan, V positive, V negative) {
    return select(x != x, nan, select(abs(x) == V(__builtin_inff()), select(x > V(0), positive, negative), x));
  }
  template <class V> static constexpr V backward(V x, V dy, V, V, V) { return select(abs(x) < V(__builtin_inff()), dy, V(0)); }
};

struct BceWithLogits : Formula<2> {  // y = max(x,0) - x·t + log(1 + e^-|x|): binary cross-entropy of a logit and its target
  static constexpr Row row{.name = "bce_with_logits", .schema = "bce_with_logits(x[*], t[*]) -> y[*]", .saves = "x t", .autocast = Autocast::f32,
                           .kinks = "0"};
  template <class V> static constexpr V forward(V x, V t) { return (maximum(x, V(0)) - x * t) + log1p(exp(-abs(x))); }
  template <class V> static constexpr Two<V> backward(V x, V t, V dy) { return {dy * (sigmoid(x) - t), -(dy * x)}; }
};

// Comparisons give bool.
struct Eq : Formula<2> {
  static constexpr Row row{.name = "eq", .schema = "eq(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "eq.Tensor(self, other); eq.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x == y, V(1), V(0)); }
};
struct Ne : Formula<2> {
  static constexpr Row row{.name = "ne", .schema = "ne(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "ne.Tensor(self, other); ne.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x != y, V(1), V(0)); }
};
struct Lt : Formula<2> {
  static constexpr Row row{.name = "lt", .schema = "lt(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "lt.Tensor(self, other); lt.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x < y, V(1), V(0)); }
};
struct Le : Formula<2> {
  static constexpr Row row{.name = "le", .schema = "le(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "le.Tensor(self, other); le.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x <= y, V(1), V(0)); }
};
struct Gt : Formula<2> {
  static constexpr Row row{.name = "gt", .schema = "gt(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "gt.Tensor(self, other); gt.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x > y, V(1), V(0)); }
};
struct Ge : Formula<2> {
  static constexpr Row row{.name = "ge", .schema = "ge(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere",
                           .integers = true, .aten = "ge.Tensor(self, other); ge.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select(x >= y, V(1), V(0)); }
};

using PointwiseOps = OpList<Add, Sub, Mul, Div, Pow, FloorDivide, TruncDivide, Remainder, Fmod, Maximum, Minimum, Fmax, Fmin, Neg, Abs, Sign, Copysign, Reciprocal,
                            Square, Floor, Ceil, Trunc, Round, Where, Clamp, ClampBetween, NanToNum, BceWithLogits, Eq, Ne, Lt, Le, Gt, Ge>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include <optional>

#include "autograd/apply.h"

// Each takes tensors of any dtype; dtypes and shapes join by PyTorch's promotion and broadcasting. A double is a scalar that promotes by
// category only. Integers enter functions that are not exact on them as f32.
namespace rote {

inline Tensor add(const Tensor& x, const Tensor& y) { return apply<Add>({x, y}); }
Tensor sub(const Tensor& x, const Tensor& y);  // not of two bools
inline Tensor mul(const Tensor& x, const Tensor& y) { return apply<Mul>({x, y}); }
inline Tensor div(const Tensor& x, const Tensor& y) { return apply<Div>({x, y}); }
Tensor pow(const Tensor& x, const Tensor& y);
// Not of two bools; integers are not divided by 0.
Tensor floor_divide(const Tensor& x, const Tensor& y);
Tensor trunc_divide(const Tensor& x, const Tensor& y);
Tensor remainder(const Tensor& x, const Tensor& y);
Tensor fmod(const Tensor& x, const Tensor& y);
inline Tensor maximum(const Tensor& x, const Tensor& y) { return apply<Maximum>({x, y}); }
inline Tensor minimum(const Tensor& x, const Tensor& y) { return apply<Minimum>({x, y}); }
inline Tensor fmax(const Tensor& x, const Tensor& y) { return apply<Fmax>({x, y}); }
inline Tensor fmin(const Tensor& x, const Tensor& y) { return apply<Fmin>({x, y}); }
inline Tensor sign(const Tensor& x) { return apply<Sign>({x}); }
inline Tensor copysign(const Tensor& x, const Tensor& y) { return apply<Copysign>({x, y}); }
Tensor neg(const Tensor& x);  // not of bool
inline Tensor abs(const Tensor& x) { return apply<Abs>({x}); }
inline Tensor reciprocal(const Tensor& x) { return apply<Reciprocal>({x}); }
Tensor square(const Tensor& x);  // of bool: i64
inline Tensor floor(const Tensor& x) { return apply<Floor>({x}); }
inline Tensor ceil(const Tensor& x) { return apply<Ceil>({x}); }
inline Tensor trunc(const Tensor& x) { return apply<Trunc>({x}); }
inline Tensor round(const Tensor& x) { return apply<Round>({x}); }
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);  // condition bool
inline Tensor clamp(const Tensor& x, double low, double high) { return apply<Clamp>({x}, {low, high}); }
inline Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) { return apply<ClampBetween>({x, low, high}); }
// NaN as `nan` and the infinities as `positive` and `negative`; those not given are the largest numbers of x's dtype.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> positive = {}, std::optional<double> negative = {});
inline Tensor bce_with_logits(const Tensor& x, const Tensor& target) { return apply<BceWithLogits>({x, target}); }
inline Tensor eq(const Tensor& x, const Tensor& y) { return apply<Eq>({x, y}); }
inline Tensor ne(const Tensor& x, const Tensor& y) { return apply<Ne>({x, y}); }
inline Tensor lt(const Tensor& x, const Tensor& y) { return apply<Lt>({x, y}); }
inline Tensor le(const Tensor& x, const Tensor& y) { return apply<Le>({x, y}); }
inline Tensor gt(const Tensor& x, const Tensor& y) { return apply<Gt>({x, y}); }
inline Tensor ge(const Tensor& x, const Tensor& y) { return apply<Ge>({x, y}); }

// The common dtype by PyTorch's promotion: tensors with axes first, those without by category only.
DType result_type(const std::vector<Tensor>& inputs);
// A number beside a tensor: 0-dim, of the tensor's dtype where that is floating (else f32 for a fraction, i64 for a whole number).
Tensor number_for(const Tensor& x, double value);
inline Tensor add(const Tensor& x, double y) { return add(x, number_for(x, y)); }
inline Tensor sub(const Tensor& x, double y) { return sub(x, number_for(x, y)); }
inline Tensor mul(const Tensor& x, double y) { return mul(x, number_for(x, y)); }
inline Tensor div(const Tensor& x, double y) { return div(x, number_for(x, y)); }
inline Tensor pow(const Tensor& x, double y) { return pow(x, number_for(x, y)); }
inline Tensor eq(const Tensor& x, double y) { return eq(x, number_for(x, y)); }
inline Tensor ne(const Tensor& x, double y) { return ne(x, number_for(x, y)); }
inline Tensor lt(const Tensor& x, double y) { return lt(x, number_for(x, y)); }
inline Tensor le(const Tensor& x, double y) { return le(x, number_for(x, y)); }
inline Tensor gt(const Tensor& x, double y) { return gt(x, number_for(x, y)); }
inline Tensor ge(const Tensor& x, double y) { return ge(x, number_for(x, y)); }

// Compositions of the above. The logical ones take any dtype, not 0 being true, and give bool.
Tensor logical_not(const Tensor& x);
Tensor logical_and(const Tensor& x, const Tensor& y);
Tensor logical_or(const Tensor& x, const Tensor& y);
Tensor logical_xor(const Tensor& x, const Tensor& y);
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor clamp_min(const Tensor& x, double low);   // one bound; the gradient passes above it
Tensor clamp_max(const Tensor& x, double high);
Tensor heaviside(const Tensor& x, const Tensor& at_zero);  // 0 below 0, 1 above, at_zero on it; equal dtypes
Tensor signbit(const Tensor& x);                           // bool, of -0 true
Tensor ldexp(const Tensor& x, const Tensor& y);            // x·2^y
Tensor float_power(const Tensor& x, const Tensor& y);      // in f64
Tensor round(const Tensor& x, int64_t decimals);           // to multiples of 10^-decimals
Tensor frac(const Tensor& x);                                                // x - trunc(x)
Tensor lerp(const Tensor& x, const Tensor& end, const Tensor& weight);       // x + weight·(end - x)
std::vector<Composition> pointwise_compositions();

inline Tensor operator+(const Tensor& x, const Tensor& y) { return add(x, y); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return sub(x, y); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return mul(x, y); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return div(x, y); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x, double y) { return add(x, y); }
inline Tensor operator-(const Tensor& x, double y) { return sub(x, y); }
inline Tensor operator*(const Tensor& x, double y) { return mul(x, y); }
inline Tensor operator/(const Tensor& x, double y) { return div(x, y); }

}  // namespace rote
#endif

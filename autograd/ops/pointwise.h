// autograd/ops/pointwise.h — arithmetic, comparison and elementary functions, element by element. Activations: activation.h.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Add : Formula<2> {  // z = x + y
  static constexpr Row row{.name = "add", .schema = "add(x[*], y[*]) -> z[*]", .integers = true};
  static constexpr bool passes_dy = true;
  template <class V> static V forward(V x, V y) { return x + y; }
  template <class V> static Two<V> backward(V dz) { return {dz, dz}; }
};

struct Sub : Formula<2> {  // z = x - y
  static constexpr Row row{.name = "sub", .schema = "sub(x[*], y[*]) -> z[*]", .integers = true};
  template <class V> static V forward(V x, V y) { return x - y; }
  template <class V> static Two<V> backward(V dz) { return {dz, -dz}; }
};

struct Mul : Formula<2> {  // z = x·y
  static constexpr Row row{.name = "mul", .schema = "mul(x[*], y[*]) -> z[*]", .saves = "x y", .reads = "y, x", .integers = true, .aten = "mul.Tensor(self, other); mul.Scalar(self, other); multiply.Tensor(self, other)"};
  template <class V> static V forward(V x, V y) { return x * y; }
  template <class V> static Two<V> backward(V x, V y, V dz) { return {dz * y, dz * x}; }
};

struct Div : Formula<2> {  // z = x/y
  static constexpr Row row{.name = "div", .schema = "div(x[*], y[*]) -> z[*]", .saves = "x y", .reads = "y, x y", .low = 0.5, .aten = "div.Tensor(self, other); div.Scalar(self, other); true_divide.Tensor(self, other)"};
  template <class V> static V forward(V x, V y) { return x / y; }
  template <class V> static Two<V> backward(V x, V y, V dz) { return {dz / y, -(dz * x / y) / y}; }
};

struct Pow : Formula<2> {  // z = x^y; the derivative in y is taken as 0 where x = 0 and y >= 0
  static constexpr Row row{.name = "pow", .schema = "pow(x[*], y[*]) -> z[*]", .saves = "x y z", .reads = "x y, x y z", .low = 0.5, .integers = true, .aten = "pow.Scalar(self, exponent)"};
  template <class V> static V forward(V x, V y) { return pow(x, y); }
  template <class V> static Two<V> backward(V x, V y, V z, V dz) {
    const V dx = select(y == V(0), V(0), dz * y * pow(x, y - V(1)));
    return {dx, select((x == V(0)) & (y >= V(0)), V(0), dz * z * log(x))};
  }
};

struct Maximum : Formula<2> {  // the larger; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "maximum", .schema = "maximum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "maximum(self, other); max.other(self, other)"};
  template <class V> static V forward(V x, V y) { return maximum(x, y); }
  template <class V> static Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x < y, V(0), dz)), select(x == y, half, select(x > y, V(0), dz))};
  }
};

struct Minimum : Formula<2> {  // the smaller; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "minimum", .schema = "minimum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "minimum(self, other); min.other(self, other)"};
  template <class V> static V forward(V x, V y) { return minimum(x, y); }
  template <class V> static Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x > y, V(0), dz)), select(x == y, half, select(x < y, V(0), dz))};
  }
};

struct Neg : Formula<1> {  // y = -x
  static constexpr Row row{.name = "neg", .schema = "neg(x[*]) -> y[*]", .integers = true};
  template <class V> static V forward(V x) { return -x; }
  template <class V> static V backward(V dy) { return -dy; }
};

struct Abs : Formula<1> {  // y = |x|; the derivative at 0 and NaN is 0
  static constexpr Row row{.name = "abs", .schema = "abs(x[*]) -> y[*]", .saves = "x", .kinks = "0", .integers = true, .aten = "abs(self)"};
  template <class V> static V forward(V x) { return abs(x); }
  template <class V> static V backward(V x, V dy) { return select(x > V(0), dy, select(x < V(0), -dy, V(0))); }
};

struct Exp : Formula<1> {  // y = eˣ
  static constexpr Row row{.name = "exp", .schema = "exp(x[*]) -> y[*]", .saves = "y", .aten = "exp(self)"};
  template <class V> static V forward(V x) { return exp(x); }
  template <class V> static V backward(V y, V dy) { return dy * y; }
};

struct Log : Formula<1> {  // y = ln x
  static constexpr Row row{.name = "log", .schema = "log(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "log(self)"};
  template <class V> static V forward(V x) { return log(x); }
  template <class V> static V backward(V x, V dy) { return dy / x; }
};

struct Sqrt : Formula<1> {  // y = √x
  static constexpr Row row{.name = "sqrt", .schema = "sqrt(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "sqrt(self)"};
  template <class V> static V forward(V x) { return sqrt(x); }
  template <class V> static V backward(V y, V dy) { return dy / (y + y); }
};

struct Rsqrt : Formula<1> {  // y = 1/√x
  static constexpr Row row{.name = "rsqrt", .schema = "rsqrt(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "rsqrt(self)"};
  template <class V> static V forward(V x) { return V(1) / sqrt(x); }
  template <class V> static V backward(V y, V dy) { return V(-0.5f) * dy * (y * y * y); }
};

struct Reciprocal : Formula<1> {  // y = 1/x
  static constexpr Row row{.name = "reciprocal", .schema = "reciprocal(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "reciprocal(self)"};
  template <class V> static V forward(V x) { return V(1) / x; }
  template <class V> static V backward(V y, V dy) { return -dy * (y * y); }
};

struct Square : Formula<1> {  // y = x²
  static constexpr Row row{.name = "square", .schema = "square(x[*]) -> y[*]", .saves = "x", .integers = true};
  template <class V> static V forward(V x) { return x * x; }
  template <class V> static V backward(V x, V dy) { return dy * (x + x); }
};

struct Sin : Formula<1> {  // y = sin x
  static constexpr Row row{.name = "sin", .schema = "sin(x[*]) -> y[*]", .saves = "x", .aten = "sin(self)"};
  template <class V> static V forward(V x) { return sin(x); }
  template <class V> static V backward(V x, V dy) { return dy * cos(x); }
};

struct Cos : Formula<1> {  // y = cos x
  static constexpr Row row{.name = "cos", .schema = "cos(x[*]) -> y[*]", .saves = "x", .aten = "cos(self)"};
  template <class V> static V forward(V x) { return cos(x); }
  template <class V> static V backward(V x, V dy) { return -dy * sin(x); }
};

struct Tan : Formula<1> {  // y = tan x
  static constexpr Row row{.name = "tan", .schema = "tan(x[*]) -> y[*]", .saves = "y", .low = -1, .high = 1, .aten = "tan(self)"};
  template <class V> static V forward(V x) { return tan(x); }
  template <class V> static V backward(V y, V dy) { return dy * (V(1) + y * y); }
};

struct Atan : Formula<1> {  // y = arctan x
  static constexpr Row row{.name = "atan", .schema = "atan(x[*]) -> y[*]", .saves = "x", .aten = "atan(self)"};
  template <class V> static V forward(V x) { return atan(x); }
  template <class V> static V backward(V x, V dy) { return dy / (V(1) + x * x); }
};

struct Sinh : Formula<1> {  // y = (e^x - e^-x)/2
  static constexpr Row row{.name = "sinh", .schema = "sinh(x[*]) -> y[*]", .saves = "x", .aten = "sinh(self)"};
  template <class V> static V forward(V x) { return sinh(x); }
  template <class V> static V backward(V x, V dy) { return dy * cosh(x); }
};

struct Cosh : Formula<1> {  // y = (e^x + e^-x)/2
  static constexpr Row row{.name = "cosh", .schema = "cosh(x[*]) -> y[*]", .saves = "x", .aten = "cosh(self)"};
  template <class V> static V forward(V x) { return cosh(x); }
  template <class V> static V backward(V x, V dy) { return dy * sinh(x); }
};

struct Erf : Formula<1> {  // y = 2/√π·∫e^-t² from 0 to x
  static constexpr Row row{.name = "erf", .schema = "erf(x[*]) -> y[*]", .saves = "x", .aten = "erf(self)"};
  template <class V> static V forward(V x) { return erf(x); }
  template <class V> static V backward(V x, V dy) { return dy * (V(1.12837916709551257390) * exp(-(x * x))); }
};

struct Exp2 : Formula<1> {  // y = 2^x
  static constexpr Row row{.name = "exp2", .schema = "exp2(x[*]) -> y[*]", .saves = "y", .aten = "exp2(self)"};
  template <class V> static V forward(V x) { return exp2(x); }
  template <class V> static V backward(V y, V dy) { return dy * (y * V(0.69314718055994530942)); }
};

struct Expm1 : Formula<1> {  // y = e^x - 1, exact near 0
  static constexpr Row row{.name = "expm1", .schema = "expm1(x[*]) -> y[*]", .saves = "y", .aten = "expm1(self)"};
  template <class V> static V forward(V x) { return expm1(x); }
  template <class V> static V backward(V y, V dy) { return dy * (y + V(1)); }
};

struct Log1p : Formula<1> {  // y = ln(1 + x), exact near 0
  static constexpr Row row{.name = "log1p", .schema = "log1p(x[*]) -> y[*]", .saves = "x", .low = -0.75, .aten = "log1p(self)"};
  template <class V> static V forward(V x) { return log1p(x); }
  template <class V> static V backward(V x, V dy) { return dy / (x + V(1)); }
};

struct Log2 : Formula<1> {  // y = log₂ x
  static constexpr Row row{.name = "log2", .schema = "log2(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "log2(self)"};
  template <class V> static V forward(V x) { return log2(x); }
  template <class V> static V backward(V x, V dy) { return dy / (x * V(0.69314718055994530942)); }
};

// To whole numbers: the derivative is 0 between the steps, and taken as 0 on them.
struct Floor : Formula<1> {
  static constexpr Row row{.name = "floor", .schema = "floor(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "floor(self)"};
  template <class V> static V forward(V x) { return floor(x); }
  template <class V> static V backward(V) { return V(0); }
};
struct Ceil : Formula<1> {
  static constexpr Row row{.name = "ceil", .schema = "ceil(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "ceil(self)"};
  template <class V> static V forward(V x) { return ceil(x); }
  template <class V> static V backward(V) { return V(0); }
};
struct Trunc : Formula<1> {  // toward 0
  static constexpr Row row{.name = "trunc", .schema = "trunc(x[*]) -> y[*]", .kinks = "-2 -1 0 1 2", .integers = true, .aten = "trunc(self)"};
  template <class V> static V forward(V x) { return trunc(x); }
  template <class V> static V backward(V) { return V(0); }
};
struct Round : Formula<1> {  // halves to the even neighbour
  static constexpr Row row{.name = "round", .schema = "round(x[*]) -> y[*]", .kinks = "-1.5 -0.5 0.5 1.5", .integers = true, .aten = "round(self)"};
  template <class V> static V forward(V x) { return round(x); }
  template <class V> static V backward(V) { return V(0); }
};

struct Where : Formula<3> {  // y = a where the condition is not 0, else b
  static constexpr Row row{.name = "where", .schema = "where(c[*], a[*], b[*]) -> y[*]", .saves = "c", .integers = true};
  static constexpr bool moves_only = true;
  template <class V> static V forward(V c, V a, V b) { return select(c != V(0), a, b); }
  template <class V> static Three<V> backward(V c, V dy) { return {V(0), select(c != V(0), dy, V(0)), select(c != V(0), V(0), dy)}; }
};

struct Clamp : Formula<1, 2> {  // y = min(max(x, low), high); the gradient passes inside, borders not included
  static constexpr Row row{.name = "clamp", .schema = "clamp(x[*], low, high) -> y[*]", .saves = "x", .samples = "*=2,3 low=-0.5 high=0.7", .kinks = "-0.5 0.7", .integers = true};
  template <class V> static V forward(V x, V low, V high) { return minimum(maximum(x, low), high); }
  template <class V> static V backward(V x, V dy, V low, V high) { return select((x > low) & (x < high), dy, V(0)); }
};

struct BceWithLogits : Formula<2> {  // y = max(x,0) - x·t + log(1 + e^-|x|): binary cross-entropy of a logit and its target
  static constexpr Row row{.name = "bce_with_logits", .schema = "bce_with_logits(x[*], t[*]) -> y[*]", .saves = "x t", .autocast = Autocast::f32, .kinks = "0"};
  template <class V> static V forward(V x, V t) { return (maximum(x, V(0)) - x * t) + log1p(exp(-abs(x))); }
  template <class V> static Two<V> backward(V x, V t, V dy) { return {dy * (sigmoid(x) - t), -(dy * x)}; }
};

// Comparisons give bool.
struct Eq : Formula<2> {
  static constexpr Row row{.name = "eq", .schema = "eq(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "eq.Tensor(self, other); eq.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x == y, V(1), V(0)); }
};
struct Ne : Formula<2> {
  static constexpr Row row{.name = "ne", .schema = "ne(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "ne.Tensor(self, other); ne.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x != y, V(1), V(0)); }
};
struct Lt : Formula<2> {
  static constexpr Row row{.name = "lt", .schema = "lt(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "lt.Tensor(self, other); lt.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x < y, V(1), V(0)); }
};
struct Le : Formula<2> {
  static constexpr Row row{.name = "le", .schema = "le(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "le.Tensor(self, other); le.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x <= y, V(1), V(0)); }
};
struct Gt : Formula<2> {
  static constexpr Row row{.name = "gt", .schema = "gt(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "gt.Tensor(self, other); gt.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x > y, V(1), V(0)); }
};
struct Ge : Formula<2> {
  static constexpr Row row{.name = "ge", .schema = "ge(x[*], y[*]) -> bool z[*]", .no_grad = "a comparison is constant almost everywhere", .integers = true, .aten = "ge.Tensor(self, other); ge.Scalar(self, other)"};
  template <class V> static V forward(V x, V y) { return select(x >= y, V(1), V(0)); }
};

using PointwiseOps = OpList<Add, Sub, Mul, Div, Pow, Maximum, Minimum, Neg, Abs, Exp, Log, Sqrt, Rsqrt, Reciprocal, Square, Sin, Cos, Tan, Atan, Sinh, Cosh, Erf,
                            Exp2, Expm1, Log1p, Log2, Floor, Ceil, Trunc, Round, Where, Clamp, BceWithLogits, Eq, Ne,
                            Lt, Le, Gt, Ge>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

// Each takes tensors of any dtype; dtypes and shapes join by PyTorch's promotion and broadcasting. A double is a scalar that promotes by
// category only. Integers enter functions that are not exact on them as f32.
namespace rote {

inline Tensor add(const Tensor& x, const Tensor& y) { return apply<Add>({x, y}); }
Tensor sub(const Tensor& x, const Tensor& y);  // not of two bools
inline Tensor mul(const Tensor& x, const Tensor& y) { return apply<Mul>({x, y}); }
inline Tensor div(const Tensor& x, const Tensor& y) { return apply<Div>({x, y}); }
inline Tensor pow(const Tensor& x, const Tensor& y) { return apply<Pow>({x, y}); }
inline Tensor maximum(const Tensor& x, const Tensor& y) { return apply<Maximum>({x, y}); }
inline Tensor minimum(const Tensor& x, const Tensor& y) { return apply<Minimum>({x, y}); }
Tensor neg(const Tensor& x);  // not of bool
inline Tensor abs(const Tensor& x) { return apply<Abs>({x}); }
inline Tensor exp(const Tensor& x) { return apply<Exp>({x}); }
inline Tensor log(const Tensor& x) { return apply<Log>({x}); }
inline Tensor sqrt(const Tensor& x) { return apply<Sqrt>({x}); }
inline Tensor rsqrt(const Tensor& x) { return apply<Rsqrt>({x}); }
inline Tensor reciprocal(const Tensor& x) { return apply<Reciprocal>({x}); }
Tensor square(const Tensor& x);  // of bool: i64
inline Tensor sin(const Tensor& x) { return apply<Sin>({x}); }
inline Tensor cos(const Tensor& x) { return apply<Cos>({x}); }
inline Tensor tan(const Tensor& x) { return apply<Tan>({x}); }
inline Tensor atan(const Tensor& x) { return apply<Atan>({x}); }
inline Tensor sinh(const Tensor& x) { return apply<Sinh>({x}); }
inline Tensor cosh(const Tensor& x) { return apply<Cosh>({x}); }
inline Tensor erf(const Tensor& x) { return apply<Erf>({x}); }
inline Tensor exp2(const Tensor& x) { return apply<Exp2>({x}); }
inline Tensor expm1(const Tensor& x) { return apply<Expm1>({x}); }
inline Tensor log1p(const Tensor& x) { return apply<Log1p>({x}); }
inline Tensor log2(const Tensor& x) { return apply<Log2>({x}); }
inline Tensor floor(const Tensor& x) { return apply<Floor>({x}); }
inline Tensor ceil(const Tensor& x) { return apply<Ceil>({x}); }
inline Tensor trunc(const Tensor& x) { return apply<Trunc>({x}); }
inline Tensor round(const Tensor& x) { return apply<Round>({x}); }
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);  // condition bool
inline Tensor clamp(const Tensor& x, double low, double high) { return apply<Clamp>({x}, {low, high}); }
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

// autograd/ops/pointwise.h — arithmetic, comparison and elementary functions, element by element. Activations: activation.h.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Add : Formula<2> {  // z = x + y
  static constexpr Row row{.name = "add", .schema = "add(x[*], y[*]) -> z[*]", .integers = true, .aten = "add.Tensor(self, other)"};
  static constexpr bool passes_dy = true;
  template <class V> static V forward(V x, V y) { return x + y; }
  template <class V> static Two<V> backward(V dz) { return {dz, dz}; }
};

struct Sub : Formula<2> {  // z = x - y
  static constexpr Row row{.name = "sub", .schema = "sub(x[*], y[*]) -> z[*]", .integers = true, .aten = "sub.Tensor(self, other)"};
  template <class V> static V forward(V x, V y) { return x - y; }
  template <class V> static Two<V> backward(V dz) { return {dz, -dz}; }
};

struct Mul : Formula<2> {  // z = x·y
  static constexpr Row row{.name = "mul", .schema = "mul(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "mul.Tensor(self, other)"};
  template <class V> static V forward(V x, V y) { return x * y; }
  template <class V> static Two<V> backward(V x, V y, V dz) { return {dz * y, dz * x}; }
};

struct Div : Formula<2> {  // z = x/y
  static constexpr Row row{.name = "div", .schema = "div(x[*], y[*]) -> z[*]", .saves = "x y", .low = 0.5, .aten = "div.Tensor(self, other)"};
  template <class V> static V forward(V x, V y) { return x / y; }
  template <class V> static Two<V> backward(V x, V y, V dz) { return {dz / y, -(dz * x / y) / y}; }
};

struct Pow : Formula<2> {  // z = x^y; the derivative in y is taken as 0 where x = 0
  static constexpr Row row{.name = "pow", .schema = "pow(x[*], y[*]) -> z[*]", .saves = "x y z", .low = 0.5, .aten = "pow.Tensor_Tensor(self, exponent); pow.Tensor_Scalar(self, exponent)"};
  template <class V> static V forward(V x, V y) { return pow(x, y); }
  template <class V> static Two<V> backward(V x, V y, V z, V dz) {
    const V dx = select(y == V(0), V(0), dz * y * pow(x, y - V(1)));
    return {dx, select(x == V(0), V(0), dz * z * log(x))};
  }
};

struct Maximum : Formula<2> {  // the larger; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "maximum", .schema = "maximum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "maximum(self, other)"};
  template <class V> static V forward(V x, V y) { return maximum(x, y); }
  template <class V> static Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x < y, V(0), dz)), select(x == y, half, select(x > y, V(0), dz))};
  }
};

struct Minimum : Formula<2> {  // the smaller; NaN wins; equal values share the gradient
  static constexpr Row row{.name = "minimum", .schema = "minimum(x[*], y[*]) -> z[*]", .saves = "x y", .integers = true, .aten = "minimum(self, other)"};
  template <class V> static V forward(V x, V y) { return minimum(x, y); }
  template <class V> static Two<V> backward(V x, V y, V dz) {
    const V half = dz * V(0.5f);
    return {select(x == y, half, select(x > y, V(0), dz)), select(x == y, half, select(x < y, V(0), dz))};
  }
};

struct Neg : Formula<1> {  // y = -x
  static constexpr Row row{.name = "neg", .schema = "neg(x[*]) -> y[*]", .integers = true, .aten = "neg(self)"};
  template <class V> static V forward(V x) { return -x; }
  template <class V> static V backward(V dy) { return -dy; }
};

struct Abs : Formula<1> {  // y = |x|; the derivative at 0 is 0
  static constexpr Row row{.name = "abs", .schema = "abs(x[*]) -> y[*]", .saves = "x", .kinks = "0", .integers = true, .aten = "abs(self)"};
  template <class V> static V forward(V x) { return abs(x); }
  template <class V> static V backward(V x, V dy) { return select(x == V(0), V(0), select(x < V(0), -dy, dy)); }
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
  static constexpr Row row{.name = "square", .schema = "square(x[*]) -> y[*]", .saves = "x", .integers = true, .aten = "square(self)"};
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

struct Where : Formula<3> {  // y = a where the condition is not 0, else b
  static constexpr Row row{.name = "where", .schema = "where(c[*], a[*], b[*]) -> y[*]", .saves = "c", .integers = true, .aten = "where.self(condition, self, other)"};
  static constexpr bool moves_only = true;
  template <class V> static V forward(V c, V a, V b) { return select(c != V(0), a, b); }
  template <class V> static Three<V> backward(V c, V dy) { return {V(0), select(c != V(0), dy, V(0)), select(c != V(0), V(0), dy)}; }
};

struct Clamp : Formula<1, 2> {  // y = min(max(x, low), high); the gradient passes inside, borders included
  static constexpr Row row{.name = "clamp", .schema = "clamp(x[*], low, high) -> y[*]", .saves = "x", .samples = "*=2,3 low=-0.5 high=0.7", .kinks = "-0.5 0.7", .aten = "clamp(self, min, max)"};
  template <class V> static V forward(V x, V low, V high) { return minimum(maximum(x, low), high); }
  template <class V> static V backward(V x, V dy, V low, V high) { return select((x >= low) & (x <= high), dy, V(0)); }
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

using PointwiseOps = OpList<Add, Sub, Mul, Div, Pow, Maximum, Minimum, Neg, Abs, Exp, Log, Sqrt, Rsqrt, Reciprocal, Square, Sin, Cos, Where, Clamp, BceWithLogits, Eq, Ne,
                            Lt, Le, Gt, Ge>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

// Each takes tensors of any dtype; dtypes and shapes join by PyTorch's promotion and broadcasting. A double is a scalar that promotes by
// category only. Integers enter functions that are not exact on them as f32.
namespace rote {

inline Tensor add(const Tensor& x, const Tensor& y) { return apply<Add>({x, y}); }
inline Tensor sub(const Tensor& x, const Tensor& y) { return apply<Sub>({x, y}); }
inline Tensor mul(const Tensor& x, const Tensor& y) { return apply<Mul>({x, y}); }
inline Tensor div(const Tensor& x, const Tensor& y) { return apply<Div>({x, y}); }
inline Tensor pow(const Tensor& x, const Tensor& y) { return apply<Pow>({x, y}); }
inline Tensor maximum(const Tensor& x, const Tensor& y) { return apply<Maximum>({x, y}); }
inline Tensor minimum(const Tensor& x, const Tensor& y) { return apply<Minimum>({x, y}); }
inline Tensor neg(const Tensor& x) { return apply<Neg>({x}); }
inline Tensor abs(const Tensor& x) { return apply<Abs>({x}); }
inline Tensor exp(const Tensor& x) { return apply<Exp>({x}); }
inline Tensor log(const Tensor& x) { return apply<Log>({x}); }
inline Tensor sqrt(const Tensor& x) { return apply<Sqrt>({x}); }
inline Tensor rsqrt(const Tensor& x) { return apply<Rsqrt>({x}); }
inline Tensor reciprocal(const Tensor& x) { return apply<Reciprocal>({x}); }
inline Tensor square(const Tensor& x) { return apply<Square>({x}); }
inline Tensor sin(const Tensor& x) { return apply<Sin>({x}); }
inline Tensor cos(const Tensor& x) { return apply<Cos>({x}); }
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return apply<Where>({condition, a, b}); }
inline Tensor clamp(const Tensor& x, double low, double high) { return apply<Clamp>({x}, {low, high}); }
inline Tensor bce_with_logits(const Tensor& x, const Tensor& target) { return apply<BceWithLogits>({x, target}); }
inline Tensor eq(const Tensor& x, const Tensor& y) { return apply<Eq>({x, y}); }
inline Tensor ne(const Tensor& x, const Tensor& y) { return apply<Ne>({x, y}); }
inline Tensor lt(const Tensor& x, const Tensor& y) { return apply<Lt>({x, y}); }
inline Tensor le(const Tensor& x, const Tensor& y) { return apply<Le>({x, y}); }
inline Tensor gt(const Tensor& x, const Tensor& y) { return apply<Gt>({x, y}); }
inline Tensor ge(const Tensor& x, const Tensor& y) { return apply<Ge>({x, y}); }

// A number beside a tensor: 0-dim, of the tensor's dtype where that is floating (else f32 for a fraction, i64 for a whole number).
Tensor number_for(const Tensor& x, double value);
inline Tensor add(const Tensor& x, double y) { return add(x, number_for(x, y)); }
inline Tensor sub(const Tensor& x, double y) { return sub(x, number_for(x, y)); }
inline Tensor mul(const Tensor& x, double y) { return mul(x, number_for(x, y)); }
inline Tensor div(const Tensor& x, double y) { return div(x, number_for(x, y)); }
inline Tensor pow(const Tensor& x, double y) { return pow(x, number_for(x, y)); }
inline Tensor eq(const Tensor& x, double y) { return eq(x, number_for(x, y)); }
inline Tensor ne(const Tensor& x, double y) { return ne(x, number_for(x, y)); }

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

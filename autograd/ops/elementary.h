// autograd/ops/elementary.h — roots, powers of e, circular, hyperbolic and error functions, element by element. Arithmetic: pointwise.h.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Exp : Formula<1> {  // y = eˣ
  static constexpr Row row{.name = "exp", .schema = "exp(x[*]) -> y[*]", .saves = "y", .aten = "exp(self)"};
  template <class V> static constexpr V forward(V x) { return exp(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * y; }
};

struct Log : Formula<1> {  // y = ln x
  static constexpr Row row{.name = "log", .schema = "log(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "log(self)"};
  template <class V> static constexpr V forward(V x) { return log(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / x; }
};

struct Sqrt : Formula<1> {  // y = √x
  static constexpr Row row{.name = "sqrt", .schema = "sqrt(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "sqrt(self)"};
  template <class V> static constexpr V forward(V x) { return sqrt(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy / (y + y); }
};

struct Rsqrt : Formula<1> {  // y = 1/√x
  static constexpr Row row{.name = "rsqrt", .schema = "rsqrt(x[*]) -> y[*]", .saves = "y", .low = 0.25, .aten = "rsqrt(self)"};
  template <class V> static constexpr V forward(V x) { return V(1) / sqrt(x); }
  template <class V> static constexpr V backward(V y, V dy) { return V(-0.5f) * dy * (y * y * y); }
};

struct Sin : Formula<1> {  // y = sin x
  static constexpr Row row{.name = "sin", .schema = "sin(x[*]) -> y[*]", .saves = "x", .aten = "sin(self)"};
  template <class V> static constexpr V forward(V x) { return sin(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * cos(x); }
};

struct Cos : Formula<1> {  // y = cos x
  static constexpr Row row{.name = "cos", .schema = "cos(x[*]) -> y[*]", .saves = "x", .aten = "cos(self)"};
  template <class V> static constexpr V forward(V x) { return cos(x); }
  template <class V> static constexpr V backward(V x, V dy) { return -dy * sin(x); }
};

struct Tan : Formula<1> {  // y = tan x
  static constexpr Row row{.name = "tan", .schema = "tan(x[*]) -> y[*]", .saves = "y", .low = -1, .high = 1, .aten = "tan(self)"};
  template <class V> static constexpr V forward(V x) { return tan(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (V(1) + y * y); }
};

struct Atan : Formula<1> {  // y = arctan x
  static constexpr Row row{.name = "atan", .schema = "atan(x[*]) -> y[*]", .saves = "x", .aten = "atan(self)"};
  template <class V> static constexpr V forward(V x) { return atan(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / (V(1) + x * x); }
};

struct Sinh : Formula<1> {  // y = (e^x - e^-x)/2
  static constexpr Row row{.name = "sinh", .schema = "sinh(x[*]) -> y[*]", .saves = "x", .aten = "sinh(self)"};
  template <class V> static constexpr V forward(V x) { return sinh(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * cosh(x); }
};

struct Cosh : Formula<1> {  // y = (e^x + e^-x)/2
  static constexpr Row row{.name = "cosh", .schema = "cosh(x[*]) -> y[*]", .saves = "x", .aten = "cosh(self)"};
  template <class V> static constexpr V forward(V x) { return cosh(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * sinh(x); }
};

struct Erf : Formula<1> {  // y = 2/√π·∫e^-t² from 0 to x
  static constexpr Row row{.name = "erf", .schema = "erf(x[*]) -> y[*]", .saves = "x", .aten = "erf(self)"};
  template <class V> static constexpr V forward(V x) { return erf(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * (V(1.12837916709551257390) * exp(-(x * x))); }
};

struct Exp2 : Formula<1> {  // y = 2^x
  static constexpr Row row{.name = "exp2", .schema = "exp2(x[*]) -> y[*]", .saves = "y", .aten = "exp2(self)"};
  template <class V> static constexpr V forward(V x) { return exp2(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (y * V(0.69314718055994530942)); }
};

struct Expm1 : Formula<1> {  // y = e^x - 1, exact near 0
  static constexpr Row row{.name = "expm1", .schema = "expm1(x[*]) -> y[*]", .saves = "y", .aten = "expm1(self)"};
  template <class V> static constexpr V forward(V x) { return expm1(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (y + V(1)); }
};

struct Log1p : Formula<1> {  // y = ln(1 + x), exact near 0
  static constexpr Row row{.name = "log1p", .schema = "log1p(x[*]) -> y[*]", .saves = "x", .low = -0.75, .aten = "log1p(self)"};
  template <class V> static constexpr V forward(V x) { return log1p(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / (x + V(1)); }
};

struct Log2 : Formula<1> {  // y = log₂ x
  static constexpr Row row{.name = "log2", .schema = "log2(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "log2(self)"};
  template <class V> static constexpr V forward(V x) { return log2(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / (x * V(0.69314718055994530942)); }
};

struct Log10 : Formula<1> {  // y = log₁₀ x
  static constexpr Row row{.name = "log10", .schema = "log10(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "log10(self)"};
  template <class V> static constexpr V forward(V x) { return log10(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / (x * V(2.30258509299404568402)); }
};

struct Asin : Formula<1> {  // y = arcsin x
  static constexpr Row row{.name = "asin", .schema = "asin(x[*]) -> y[*]", .saves = "x", .low = -0.9, .high = 0.9, .aten = "asin(self)"};
  template <class V> static constexpr V forward(V x) { return asin(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * rsqrt(V(1) - x * x); }
};

struct Acos : Formula<1> {  // y = arccos x
  static constexpr Row row{.name = "acos", .schema = "acos(x[*]) -> y[*]", .saves = "x", .low = -0.9, .high = 0.9, .aten = "acos(self)"};
  template <class V> static constexpr V forward(V x) { return acos(x); }
  template <class V> static constexpr V backward(V x, V dy) { return -dy * rsqrt(V(1) - x * x); }
};

struct Asinh : Formula<1> {  // y = ln(x + √(x² + 1))
  static constexpr Row row{.name = "asinh", .schema = "asinh(x[*]) -> y[*]", .saves = "x", .aten = "asinh(self)"};
  template <class V> static constexpr V forward(V x) { return asinh(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * rsqrt(x * x + V(1)); }
};

struct Acosh : Formula<1> {  // y = ln(x + √(x² - 1))
  static constexpr Row row{.name = "acosh", .schema = "acosh(x[*]) -> y[*]", .saves = "x", .low = 1.25, .high = 4, .aten = "acosh(self)"};
  template <class V> static constexpr V forward(V x) { return acosh(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * rsqrt(x * x - V(1)); }
};

struct Atanh : Formula<1> {  // y = ln((1 + x)/(1 - x))/2
  static constexpr Row row{.name = "atanh", .schema = "atanh(x[*]) -> y[*]", .saves = "x", .low = -0.9, .high = 0.9, .aten = "atanh(self)"};
  template <class V> static constexpr V forward(V x) { return atanh(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy / (V(1) - x * x); }
};

struct Erfc : Formula<1> {  // y = 1 - erf x, exact where that is small
  static constexpr Row row{.name = "erfc", .schema = "erfc(x[*]) -> y[*]", .saves = "x", .aten = "erfc(self)"};
  template <class V> static constexpr V forward(V x) { return erfc(x); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * (V(-1.12837916709551257390) * exp(-(x * x))); }
};

struct Erfinv : Formula<1> {  // erf y = x
  static constexpr Row row{.name = "erfinv", .schema = "erfinv(x[*]) -> y[*]", .saves = "y", .low = -0.9, .high = 0.9, .aten = "erfinv(self)"};
  template <class V> static constexpr V forward(V x) { return erfinv(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (V(0.88622692545275801365) * exp(y * y)); }
};

struct Sinc : Formula<1> {  // y = sin(πx)/(πx), 1 at 0
  static constexpr Row row{.name = "sinc", .schema = "sinc(x[*]) -> y[*]", .saves = "x", .kinks = "0", .aten = "sinc(self)"};
  template <class V> static constexpr V forward(V x) {
    const V z = x * V(3.14159265358979323846);
    return select(z == V(0), V(1), sin(z) / z);
  }
  template <class V> static constexpr V backward(V x, V dy) {
    const V z = x * V(3.14159265358979323846);
    return select(z == V(0), V(0), dy * ((cos(z) - sin(z) / z) / x));
  }
};

struct Logit : Formula<1, 2> {  // y = ln(x/(1 - x)) of x moved into [low, high]; with infinite borders NaN outside of [0, 1]
  static constexpr Row row{.name = "logit", .schema = "logit(x[*], low, high) -> y[*]", .saves = "x",
                           .samples = "*=2,3 low=0.25 high=0.75; *=4 low=-1e300 high=1e300", .low = 0.05, .high = 0.95, .kinks = "0.25 0.75"};
  template <class V> static constexpr V forward(V x, V low, V high) {
    const V z = select(x < low, low, select(x > high, high, x));
    return log(z / (V(1) - z));
  }
  template <class V> static constexpr V backward(V x, V dy, V low, V high) {
    const V square = x * (V(1) - x);
    const V inside = select(square < V(0), V(__builtin_nanf("")), dy / abs(square));
    return select((x < low) | (x > high), V(0), inside);
  }
};

struct Atan2 : Formula<2> {  // z = the angle of the point (x, y)
  static constexpr Row row{.name = "atan2", .schema = "atan2(y[*], x[*]) -> z[*]", .saves = "y x", .low = 0.25, .aten = "atan2(self, other)"};
  template <class V> static constexpr V forward(V y, V x) { return atan2(y, x); }
  template <class V> static constexpr Two<V> backward(V y, V x, V dz) {
    const V square = y * y + x * x;
    const V share = select(square == V(0), V(0), V(1) / square);
    return {dz * x * share, -dz * y * share};
  }
};

struct Hypot : Formula<2> {  // z = √(x² + y²) without overflow on the way
  static constexpr Row row{.name = "hypot", .schema = "hypot(x[*], y[*]) -> z[*]", .saves = "x y z", .reads = "x z, y z", .low = 0.25,
                           .aten = "hypot(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return hypot(x, y); }
  template <class V> static constexpr Two<V> backward(V x, V y, V z, V dz) { return {dz * (x / z), dz * (y / z)}; }
};

struct Logaddexp : Formula<2, 1> {  // z = ln(b^x + b^y)/ln b, given ln b
  static constexpr Row row{.name = "logaddexp", .schema = "logaddexp(x[*], y[*], log_base=1.0) -> z[*]", .saves = "x y",
                           .samples = "*=2,3; *=4 log_base=0.7", .aten = "logaddexp(self, other)"};
  template <class V> static constexpr V forward(V x, V y, V log_base) {
    const V apart = select(x == y, V(0), abs(x - y));  // of equal infinities too
    return maximum(x, y) + log1p(exp(-(apart * log_base))) / log_base;
  }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz, V log_base) {
    const V apart = (x - y) * log_base;
    return {dz * sigmoid(apart), dz * sigmoid(-apart)};
  }
};

struct Xlogy : Formula<2> {  // z = x·ln y, 0 where x = 0 and y is a number
  static constexpr Row row{.name = "xlogy", .schema = "xlogy(x[*], y[*]) -> z[*]", .saves = "x y", .reads = "x y, x y", .low = 0.25,
                           .aten = "xlogy.Tensor(self, other); xlogy.Scalar_Self(self, other); xlogy.Scalar_Other(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select((x == V(0)) & (y == y), V(0), x * log(y)); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    return {select(((x == V(0)) | (dz == V(0))) & (y <= V(0)), V(0), dz * log(y)), dz * (x / y)};
  }
};

struct Xlog1py : Formula<2> {  // z = x·ln(1 + y), 0 where x = 0 and y is a number
  static constexpr Row row{.name = "xlog1py", .schema = "xlog1py(x[*], y[*]) -> z[*]", .saves = "x y", .low = 0.25,
                           .aten = "special_xlog1py(self, other); special_xlog1py.self_scalar(self, other); "
                                   "special_xlog1py.other_scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return select((x == V(0)) & (y == y), V(0), x * log1p(y)); }
  template <class V> static constexpr Two<V> backward(V x, V y, V dz) {
    return {select(((x == V(0)) | (dz == V(0))) & (y <= V(-1)), V(0), dz * log1p(y)), dz * (x / (y + V(1)))};
  }
};

struct Entropy : Formula<1> {  // y = -x·ln x, 0 at 0 and -∞ below
  static constexpr Row row{.name = "entr", .schema = "entr(x[*]) -> y[*]", .saves = "x", .low = 0.25, .aten = "special_entr(self)"};
  template <class V> static constexpr V forward(V x) { return select(x > V(0), -x * log(x), select(x == V(0), V(0), select(x < V(0), V(-__builtin_inff()), x))); }
  template <class V> static constexpr V backward(V x, V dy) { return dy * (V(-1) - log(x)); }
};

using ElementaryOps = OpList<Exp, Log, Sqrt, Rsqrt, Sin, Cos, Tan, Atan, Sinh, Cosh, Erf, Exp2, Expm1, Log1p, Log2, Log10, Asin, Acos, Asinh, Acosh, Atanh,
                             Erfc, Erfinv, Sinc, Logit, Atan2, Hypot, Logaddexp, Xlogy, Xlog1py, Entropy>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

// Dtypes and shapes join as in pointwise.h; integers enter as f32.
namespace rote {

inline Tensor exp(const Tensor& x) { return apply<Exp>({x}); }
inline Tensor log(const Tensor& x) { return apply<Log>({x}); }
inline Tensor sqrt(const Tensor& x) { return apply<Sqrt>({x}); }
inline Tensor rsqrt(const Tensor& x) { return apply<Rsqrt>({x}); }
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
inline Tensor log10(const Tensor& x) { return apply<Log10>({x}); }
inline Tensor asin(const Tensor& x) { return apply<Asin>({x}); }
inline Tensor acos(const Tensor& x) { return apply<Acos>({x}); }
inline Tensor asinh(const Tensor& x) { return apply<Asinh>({x}); }
inline Tensor acosh(const Tensor& x) { return apply<Acosh>({x}); }
inline Tensor atanh(const Tensor& x) { return apply<Atanh>({x}); }
inline Tensor erfc(const Tensor& x) { return apply<Erfc>({x}); }
inline Tensor erfinv(const Tensor& x) { return apply<Erfinv>({x}); }
inline Tensor sinc(const Tensor& x) { return apply<Sinc>({x}); }
Tensor logit(const Tensor& x, double eps = -1);  // of x moved into [eps, 1 - eps]; eps < 0: of x itself
inline Tensor atan2(const Tensor& y, const Tensor& x) { return apply<Atan2>({y, x}); }
inline Tensor hypot(const Tensor& x, const Tensor& y) { return apply<Hypot>({x, y}); }
inline Tensor logaddexp(const Tensor& x, const Tensor& y) { return apply<Logaddexp>({x, y}); }
inline Tensor xlogy(const Tensor& x, const Tensor& y) { return apply<Xlogy>({x, y}); }
std::vector<Composition> elementary_compositions();

}  // namespace rote
#endif

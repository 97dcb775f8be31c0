// autograd/ops/activation.h — pointwise nonlinearities. A struct is the whole op: row, formula, derivative.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Relu : Formula<1> {  // y = x unless x <= 0, then +0: NaN shows
  static constexpr Row row{.name = "relu", .schema = "relu(x[*]) -> y[*]", .saves = "y", .kinks = "0", .aten = "relu(self)"};
  template <class V> static V forward(V x) { return select(x <= V(0), V(0), x); }
  template <class V> static V backward(V y, V dy) { return select(y <= V(0), V(0), dy); }
};

struct Gelu : Formula<1> {  // y = x·Φ(x) = x/2·(1 + erf(x/√2)).  Hendrycks & Gimpel 2016, arXiv:1606.08415
  static constexpr Row row{.name = "gelu", .schema = "gelu(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower, .aten = "gelu(self)"};
  template <class V> static V half_cdf2(V x) { return V(1) + erf(x * V(0.70710678118654752440)); }
  template <class V> static V forward(V x) { return (x * V(0.5f)) * half_cdf2(x); }
  template <class V> static V backward(V x, V dy) {
    const V density = V(0.39894228040143267794) * exp(x * x * V(-0.5f));
    return dy * fma(x, density, V(0.5f) * half_cdf2(x));
  }
};

struct GeluTanh : Formula<1> {  // y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the paper's approximation; "gelu_new"
  static constexpr Row row{.name = "gelu_tanh", .schema = "gelu_tanh(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower};
  template <class V> static V inner(V x) { return V(0.79788456080286535588) * fma(V(0.044715) * x, x * x, x); }
  template <class V> static V forward(V x) { return (x * V(0.5f)) * (V(1) + tanh(inner(x))); }
  template <class V> static V backward(V x, V dy) {
    const V t = tanh(inner(x));
    const V slope = V(0.79788456080286535588) * fma(V(0.134145) * x, x, V(1));
    return dy * (V(0.5f) * (V(1) + t) + (x * V(0.5f)) * (V(1) - t * t) * slope);
  }
};

struct Silu : Formula<1> {  // y = x·σ(x).  Elfwing et al. 2017, arXiv:1702.03118
  static constexpr Row row{.name = "silu", .schema = "silu(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower, .aten = "silu(self)"};
  template <class V> static V forward(V x) { return x * sigmoid(x); }
  template <class V> static V backward(V x, V dy) {
    const V s = sigmoid(x);
    return dy * (s + x * s * (V(1) - s));
  }
};

struct Tanh : Formula<1> {  // y = tanh x
  static constexpr Row row{.name = "tanh", .schema = "tanh(x[*]) -> y[*]", .saves = "y", .aten = "tanh(self)"};
  template <class V> static V forward(V x) { return tanh(x); }
  template <class V> static V backward(V y, V dy) { return dy * (V(1) - y * y); }
};

struct Sigmoid : Formula<1> {  // y = 1/(1 + e⁻ˣ)
  static constexpr Row row{.name = "sigmoid", .schema = "sigmoid(x[*]) -> y[*]", .saves = "y", .aten = "sigmoid(self)"};
  template <class V> static V forward(V x) { return sigmoid(x); }
  template <class V> static V backward(V y, V dy) { return dy * (y * (V(1) - y)); }
};

using ActivationOps = OpList<Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

namespace rote {

inline Tensor relu(const Tensor& x) { return apply<Relu>({x}); }
inline Tensor gelu(const Tensor& x) { return apply<Gelu>({x}); }
inline Tensor gelu_tanh(const Tensor& x) { return apply<GeluTanh>({x}); }
inline Tensor silu(const Tensor& x) { return apply<Silu>({x}); }
inline Tensor tanh(const Tensor& x) { return apply<Tanh>({x}); }
inline Tensor sigmoid(const Tensor& x) { return apply<Sigmoid>({x}); }

}  // namespace rote
#endif

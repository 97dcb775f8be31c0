// autograd/ops/activation.h — pointwise nonlinearities. A struct is the whole op: row, formula, derivative.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Relu : Formula<1> {  // y = x unless x <= 0, then +0: NaN shows
  static constexpr Row row{.name = "relu", .schema = "relu(x[*]) -> y[*]", .saves = "y", .kinks = "0", .integers = true, .aten = "relu(self)"};
  template <class V> static constexpr V forward(V x) { return select(x <= V(0), V(0), x); }
  template <class V> static constexpr V backward(V y, V dy) { return select(y <= V(0), V(0), dy); }
};

struct Gelu : Formula<1> {  // y = x·Φ(x) = x/2·(1 + erf(x/√2)).  Hendrycks & Gimpel 2016, arXiv:1606.08415
  static constexpr Row row{.name = "gelu", .schema = "gelu(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower};
  template <class V> static constexpr V half_cdf2(V x) { return V(1) + erf(x * V(0.70710678118654752440)); }
  template <class V> static constexpr V forward(V x) { return (x * V(0.5f)) * half_cdf2(x); }
  template <class V> static constexpr V backward(V x, V dy) {
    const V density = V(0.39894228040143267794) * exp(x * x * V(-0.5f));
    return dy * fma(x, density, V(0.5f) * half_cdf2(x));
  }
};

struct GeluTanh : Formula<1> {  // y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the paper's approximation; "gelu_new"
  static constexpr Row row{.name = "gelu_tanh", .schema = "gelu_tanh(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower};
  template <class V> static constexpr V inner(V x) { return V(0.79788456080286535588) * fma(V(0.044715) * x, x * x, x); }
  template <class V> static constexpr V forward(V x) { return (x * V(0.5f)) * (V(1) + tanh(inner(x))); }
  template <class V> static constexpr V backward(V x, V dy) {
    const V t = tanh(inner(x));
    const V slope = V(0.79788456080286535588) * fma(V(0.134145) * x, x, V(1));
    return dy * (V(0.5f) * (V(1) + t) + (x * V(0.5f)) * (V(1) - t * t) * slope);
  }
};

struct Silu : Formula<1> {  // y = x·σ(x).  Elfwing et al. 2017, arXiv:1702.03118
  static constexpr Row row{.name = "silu", .schema = "silu(x[*]) -> y[*]", .saves = "x", .autocast = Autocast::lower, .aten = "silu(self)"};
  template <class V> static constexpr V forward(V x) { return x * sigmoid(x); }
  template <class V> static constexpr V backward(V x, V dy) {
    const V s = sigmoid(x);
    return dy * (s + x * s * (V(1) - s));
  }
};

struct Tanh : Formula<1> {  // y = tanh x
  static constexpr Row row{.name = "tanh", .schema = "tanh(x[*]) -> y[*]", .saves = "y", .aten = "tanh(self)"};
  template <class V> static constexpr V forward(V x) { return tanh(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (V(1) - y * y); }
};

struct Sigmoid : Formula<1> {  // y = 1/(1 + e⁻ˣ)
  static constexpr Row row{.name = "sigmoid", .schema = "sigmoid(x[*]) -> y[*]", .saves = "y", .aten = "sigmoid(self)"};
  template <class V> static constexpr V forward(V x) { return sigmoid(x); }
  template <class V> static constexpr V backward(V y, V dy) { return dy * (y * (V(1) - y)); }
};

struct LeakyRelu : Formula<1, 1> {  // y = x where x > 0, else slope·x
  static constexpr Row row{.name = "leaky_relu", .schema = "leaky_relu(x[*], slope=0.01) -> y[*]", .saves = "x", .samples = "*=2,3 slope=0.1; *=0",
                           .kinks = "0", .aten = "leaky_relu(self, negative_slope)"};
  template <class V> static constexpr V forward(V x, V slope) { return select(x > V(0), x, x * slope); }
  template <class V> static constexpr V backward(V x, V dy, V slope) { return select(x > V(0), dy, dy * slope); }
};

struct Elu : Formula<1, 3> {  // y = scale·x where x > 0, else scale·alpha·(e^(input_scale·x) - 1).  Clevert et al. 2015, arXiv:1511.07289
  static constexpr Row row{.name = "elu", .schema = "elu(x[*], alpha=1.0, scale=1.0, input_scale=1.0) -> y[*]", .saves = "x",
                           .samples = "*=2,3 alpha=1.5 scale=0.5 input_scale=2.0; *=4", .kinks = "0", .aten = "elu(self, alpha, scale, input_scale)"};
  template <class V> static constexpr V forward(V x, V alpha, V scale, V input_scale) { return select(x > V(0), x * scale, expm1(x * input_scale) * (alpha * scale)); }
  template <class V> static constexpr V backward(V x, V dy, V alpha, V scale, V input_scale) {
    return select(x <= V(0), dy * (input_scale * (alpha * scale) * exp(x * input_scale)), dy * scale);
  }
};

struct Softplus : Formula<1, 2> {  // y = log(1 + e^(beta·x))/beta, and x where beta·x > threshold
  static constexpr Row row{.name = "softplus", .schema = "softplus(x[*], beta=1.0, threshold=20.0) -> y[*]", .saves = "x",
                           .samples = "*=2,3 beta=2.0; *=4", .aten = "softplus(self, beta, threshold)"};
  template <class V> static constexpr V forward(V x, V beta, V threshold) {
    const V z = x * beta;
    return select(z > threshold, x, (maximum(z, V(0)) + log1p(exp(-abs(z)))) / beta);
  }
  template <class V> static constexpr V backward(V x, V dy, V beta, V threshold) {
    const V z = x * beta;
    return select(z > threshold, dy, dy * sigmoid(z));
  }
};

struct Prelu : Formula<2> {  // y = x where x > 0, else w·x.  He et al. 2015, arXiv:1502.01852
  static constexpr Row row{.name = "prelu", .schema = "prelu(x[*], w[*]) -> y[*]", .saves = "x w", .kinks = "0"};
  template <class V> static constexpr V forward(V x, V w) { return select(x > V(0), x, w * x); }
  template <class V> static constexpr Two<V> backward(V x, V w, V dy) { return {select(x > V(0), dy, w * dy), select(x > V(0), V(0), x * dy)}; }
};

struct Mish : Formula<1> {  // y = x·tanh(log(1 + e^x)) = x·n/(n + 2) with n = e^x·(e^x + 2), and x from 20 on.  Misra 2019, arXiv:1908.08681
  static constexpr Row row{.name = "mish", .schema = "mish(x[*]) -> y[*]", .saves = "x", .aten = "mish(self)"};
  template <class V> static constexpr V odds(V x) {
    const V e = exp(minimum(x, V(20)));
    return e * (e + V(2));
  }
  template <class V> static constexpr V forward(V x) {
    const V n = odds(x);
    return select(x > V(20), x, x * (n / (n + V(2))));
  }
  template <class V> static constexpr V backward(V x, V dy) {
    const V n = odds(x), d = n + V(2);
    const V t = select(x > V(20), V(1), n / d), slope = select(x > V(20), V(0), V(4) * (n + V(1)) / (d * d));  // tanh and 1 - tanh²
    return dy * (t + x * sigmoid(x) * slope);
  }
};

struct Hardsigmoid : Formula<1> {  // y = min(max(x + 3, 0), 6)/6; the derivative is 0 on the borders
  static constexpr Row row{.name = "hardsigmoid", .schema = "hardsigmoid(x[*]) -> y[*]", .saves = "x", .low = -4, .high = 4, .kinks = "-3 3",
                           .aten = "hardsigmoid(self)"};
  template <class V> static constexpr V forward(V x) { return minimum(maximum(x + V(3), V(0)), V(6)) / V(6); }
  // 1/6 is that of f32 in f64 too, as in PyTorch.
  template <class V> static constexpr V backward(V x, V dy) { return select((x > V(-3)) & (x < V(3)), dy * V(1.0f / 6.0f), V(0)); }
};

struct Hardswish : Formula<1> {  // y = x·min(max(x + 3, 0), 6)/6; the derivative on the borders is that outside.  Howard et al. 2019, arXiv:1905.02244
  static constexpr Row row{.name = "hardswish", .schema = "hardswish(x[*]) -> y[*]", .saves = "x", .low = -4, .high = 4, .kinks = "-3 3",
                           .aten = "hardswish(self)"};
  template <class V> static constexpr V forward(V x) { return x * minimum(maximum(x + V(3), V(0)), V(6)) / V(6); }
  template <class V> static constexpr V backward(V x, V dy) { return select(x <= V(-3), V(0), select(x < V(3), dy * (x / V(3) + V(0.5f)), dy)); }
};

struct Hardshrink : Formula<1, 1> {  // y = 0 where |x| <= lambda, else x
  static constexpr Row row{.name = "hardshrink", .schema = "hardshrink(x[*], lambda=0.5) -> y[*]", .saves = "x", .kinks = "-0.5 0.5",
                           .aten = "hardshrink(self, lambd)"};
  template <class V> static constexpr V forward(V x, V lambda) { return select(abs(x) <= lambda, V(0), x); }
  template <class V> static constexpr V backward(V x, V dy, V lambda) { return select(abs(x) > lambda, dy, V(0)); }
};

struct Softshrink : Formula<1, 1> {  // y = 0 where |x| <= lambda, else x moved toward 0 by lambda
  static constexpr Row row{.name = "softshrink", .schema = "softshrink(x[*], lambda=0.5) -> y[*]", .saves = "x", .kinks = "-0.5 0.5"};
  template <class V> static constexpr V forward(V x, V lambda) { return select(abs(x) <= lambda, V(0), select(x < V(0), x + lambda, x - lambda)); }
  template <class V> static constexpr V backward(V x, V dy, V lambda) { return select(abs(x) > lambda, dy, V(0)); }
};

struct Threshold : Formula<1, 2> {  // y = x where x > at, else value
  static constexpr Row row{.name = "threshold", .schema = "threshold(x[*], at, value) -> y[*]", .saves = "x",
                           .samples = "*=2,3 at=0.5 value=-1.0; *=0 at=0.0 value=0.0", .kinks = "0.5", .integers = true};
  template <class V> static constexpr V forward(V x, V at, V value) { return select(x <= at, value, x); }
  template <class V> static constexpr V backward(V x, V dy, V at, V) { return select(x <= at, V(0), dy); }
};

using ActivationOps = OpList<Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid, LeakyRelu, Elu, Softplus, Prelu, Mish, Hardsigmoid, Hardswish, Hardshrink,
                             Softshrink, Threshold>;

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
inline Tensor leaky_relu(const Tensor& x, double slope = 0.01) { return apply<LeakyRelu>({x}, {slope}); }
inline Tensor elu(const Tensor& x, double alpha = 1) { return apply<Elu>({x}, {alpha}); }
inline Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20) { return apply<Softplus>({x}, {beta, threshold}); }

inline Tensor mish(const Tensor& x) { return apply<Mish>({x}); }
inline Tensor hardsigmoid(const Tensor& x) { return apply<Hardsigmoid>({x}); }
inline Tensor hardswish(const Tensor& x) { return apply<Hardswish>({x}); }
inline Tensor hardshrink(const Tensor& x, double lambda = 0.5) { return apply<Hardshrink>({x}, {lambda}); }
Tensor threshold(const Tensor& x, double at, double value);  // integers stay such: the numbers lose their fractions, as hardtanh's borders do

// Compositions.
Tensor prelu(const Tensor& x, const Tensor& w);    // w: one slope, or one for each channel (axis 1) of x
Tensor hardtanh(const Tensor& x, double low = -1, double high = 1);  // clamp
Tensor selu(const Tensor& x);                      // Klambauer et al. 2017, arXiv:1706.02515
Tensor celu(const Tensor& x, double alpha = 1);    // max(0, x) + min(0, alpha·(e^(x/alpha) - 1)).  Barron 2017, arXiv:1704.07483
Tensor relu6(const Tensor& x);                     // min(max(x, 0), 6)
Tensor log_sigmoid(const Tensor& x);               // -log(1 + e^-x)
Tensor softshrink(const Tensor& x, double lambda = 0.5);  // lambda is not negative
Tensor glu(const Tensor& x, int64_t axis = -1);    // a·σ(b) of the halves a, b along an axis.  Dauphin et al. 2016, arXiv:1612.08083
std::vector<Composition> activation_compositions();

}  // namespace rote
#endif

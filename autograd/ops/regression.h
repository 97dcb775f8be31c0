// autograd/ops/regression.h — losses of elements against the elements of a target. Of classes: loss.h; of whole vectors: metric.h.
#pragma once

#include "autograd/row.h"

namespace rote {

struct Huber : Formula<2, 1> {  // y = d²/2 where |d| < delta, else delta·(|d| - delta/2), with d = x - t.  Huber 1964
  static constexpr Row row{.name = "huber", .schema = "huber(x[*], t[*], delta=1.0) -> y[*]", .saves = "x t",
                           .samples = "*=2,3 delta=0.5; *=4 delta=2.0; *=; *=0"};
  template <class V> static constexpr V forward(V x, V t, V delta) {
    const V d = x - t, size = abs(d);
    return select(size < delta, V(0.5f) * d * d, delta * (size - V(0.5f) * delta));
  }
  template <class V> static constexpr Two<V> backward(V x, V t, V dy, V delta) {
    const V d = x - t;
    const V dx = dy * select(d >= delta, delta, select(d <= -delta, -delta, d));
    return {dx, -dx};
  }
};

struct BinaryCrossEntropy : Formula<2> {  // y = -(t·log x + (1 - t)·log(1 - x)), logarithms from -100 on: a sure and wrong x costs 100
  static constexpr Row row{.name = "binary_cross_entropy", .schema = "binary_cross_entropy(x[*], t[*]) -> y[*]", .saves = "x t", .low = 0.05,
                           .high = 0.95};
  template <class V> static constexpr V forward(V x, V t) {
    const V floor(-100);
    return (t - V(1)) * maximum(log1p(-x), floor) - t * maximum(log(x), floor);
  }
  // The bound is that of f32 in f64 too, as in PyTorch.
  template <class V> static constexpr Two<V> backward(V x, V t, V dy) {
    return {dy * (x - t) / maximum((V(1) - x) * x, V(1e-12f)), dy * (log1p(-x) - log(x))};
  }
};

using RegressionOps = OpList<Huber, BinaryCrossEntropy>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

namespace rote {

class Arguments;

// What becomes of the losses of the elements.
enum class Reduction { none, mean, sum };
Tensor reduced(const Tensor& losses, Reduction reduction);
Reduction reduction_of(const Arguments& a);  // of ATen's code: 0 none, 1 mean, 2 sum

// An input and a target that broadcast. 16-bit floats are computed in f32 and rounded once.
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);  // (x - t)²
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);   // |x - t|
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1, Reduction reduction = Reduction::mean);     // Huber above
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1, Reduction reduction = Reduction::mean);  // that with delta = beta, over beta

// Σ t·(log t - x) of log-probabilities x: t = 0 costs 0. log_target: the target is log t.
Tensor kl_div(const Tensor& x, const Tensor& target, bool log_target = false, Reduction reduction = Reduction::mean);
// Of probabilities x in [0,1]; ArgumentError where one is not. weight: of the elements, or none.
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {}, Reduction reduction = Reduction::mean);
// Of logits: (1 - t)·x + (1 + (positive - 1)·t)·log(1 + e^-x), times weight. positive: of the classes, or none.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight = {}, const Tensor& positive = {},
                                        Reduction reduction = Reduction::mean);
Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);  // log(1 + e^(-t·x)), t is 1 or -1

struct PoissonOptions {
  bool log_input = true;  // x is the logarithm of the rate
  bool full = false;      // with Stirling's approximation of log t! where t > 1
  double eps = 1e-8;      // added to a rate before its logarithm
};
// rate - t·log rate.
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options = {}, Reduction reduction = Reduction::mean);

std::vector<Composition> regression_compositions();

}  // namespace rote
#endif

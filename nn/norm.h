// nn/norm.h — normalisation layers.
#pragma once

#include "autograd/ops/norm.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

struct LayerNormOptions {
  double eps = 1e-5;
};

// y = (x - mean)/√(var + eps)·w + b over the last axis of x [*,C]; weight [C] starts as 1, bias [C] as 0.
struct LayerNorm : Layer<LayerNorm> {
  using Options = LayerNormOptions;
  Tensor weight, bias;
  const double eps;

  explicit LayerNorm(int64_t C, LayerNormOptions options = {}) : weight(empty({C})), bias(empty({C})), eps(options.eps) {
    if (init_enabled()) {
      fill(weight, 1);
      fill(bias, 0);
    }
    add_parameters({{"weight", weight}, {"bias", bias}});
  }

  Tensor forward(const Tensor& x) { return layer_norm(x, weight, bias, eps); }
};

// y = x/√(mean of x² + eps)·w over the last axis of x [*,C]; weight [C] starts as 1.
struct RMSNorm : Layer<RMSNorm> {
  using Options = LayerNormOptions;
  Tensor weight;
  const double eps;

  explicit RMSNorm(int64_t C, LayerNormOptions options = {}) : weight(empty({C})), eps(options.eps) {
    if (init_enabled()) fill(weight, 1);
    add_parameters({{"weight", weight}});
  }

  Tensor forward(const Tensor& x) { return rms_norm(x, weight, eps); }
};

}  // namespace rote::nn

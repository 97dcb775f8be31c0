// nn/linear.h — the affine layer.
#pragma once

#include <cmath>

#include "autograd/ops/linear.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

struct LinearOptions {
  bool bias = true;
};

// y = x·wᵀ + b: x [*,I] -> [*,O], weight [O,I], bias [O].
// Starts uniform within ±1/√I, as PyTorch's (He et al. 2015, arXiv:1502.01852, with a = √5).
struct Linear : Layer<Linear> {
  using Options = LinearOptions;
  Tensor weight, bias;

  Linear(int64_t I, int64_t O, LinearOptions options = {}) : weight(empty({O, I})) {
    if (options.bias) bias = empty({O});
    if (init_enabled() && I > 0) {
      const double bound = 1 / std::sqrt(static_cast<double>(I));
      fill_uniform(weight, -bound, bound, init_draw());
      if (options.bias) fill_uniform(bias, -bound, bound, init_draw());
    }
    add_parameters({{"weight", weight}, {"bias", bias}});
  }

  Tensor forward(const Tensor& x) { return linear(x, weight, bias); }
};

}  // namespace rote::nn

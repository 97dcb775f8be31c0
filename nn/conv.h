// nn/conv.h — convolution over images and the batch norm that goes with it.
#pragma once

#include <cmath>

#include "autograd/ops/conv.h"
#include "autograd/ops/norm.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

struct Conv2dOptions {
  int64_t stride = 1, padding = 0, groups = 1;
  bool bias = true;
};

// x [N,I,H,W] -> [N,O,H',W']; weight [O,I/groups,K,K], bias [O]. Starts uniform within ±1/√(I/groups·K²), as PyTorch's.
struct Conv2d : Layer<Conv2d> {
  using Options = Conv2dOptions;
  Tensor weight, bias;
  const Options options;

  Conv2d(int64_t I, int64_t O, int64_t K, Options o = {}) : weight(empty({O, I / o.groups, K, K})), options(o) {
    ROTE_CHECK(I % o.groups == 0 && O % o.groups == 0, ArgumentError, "Conv2d: ", I, " channels to ", O, " in ", o.groups, " groups; both must be multiples of them.");
    if (o.bias) bias = empty({O});
    if (init_enabled()) {
      const double bound = 1 / std::sqrt(static_cast<double>(I / o.groups * K * K));
      fill_uniform(weight, -bound, bound, init_draw());
      if (o.bias) fill_uniform(bias, -bound, bound, init_draw());
    }
    add_parameters({{"weight", weight}, {"bias", bias}});
  }

  Tensor forward(const Tensor& x) {
    return conv2d(x, weight, bias, {.stride = {options.stride}, .padding = {options.padding}, .groups = options.groups});
  }
};

struct BatchNormLayerOptions {
  double eps = 1e-5, momentum = 0.1;
};

// Of each channel of x [N,C,H,W]: in training by the batch's mean and variance, which running_mean and running_var follow, else by those.
struct BatchNorm2d : Layer<BatchNorm2d> {
  using Options = BatchNormLayerOptions;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  const Options options;

  explicit BatchNorm2d(int64_t C, Options o = {})
      : weight(started({C}, 1)),
        bias(started({C}, 0)),
        running_mean(started({C}, 0)),
        running_var(started({C}, 1)),
        num_batches_tracked(zeros({}, {.dtype = DType::i64})),
        options(o) {
    add_parameters({{"weight", weight}, {"bias", bias}});
    add_saved_buffers({{"running_mean", running_mean}, {"running_var", running_var}, {"num_batches_tracked", num_batches_tracked}});
  }

  Tensor forward(const Tensor& x) {
    if (training()) fill(num_batches_tracked, num_batches_tracked.item() + 1);
    return batch_norm(x, {.w = weight, .b = bias, .running_mean = running_mean, .running_var = running_var},
                      {.training = training(), .momentum = options.momentum, .eps = options.eps});
  }
};

}  // namespace rote::nn

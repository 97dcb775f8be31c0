// nn/conv1d.h — GPT-2's linear layer: as Linear, but its weight is stored [I,O].
#pragma once

#include "autograd/ops/linear.h"
#include "autograd/ops/view.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

struct Conv1DOptions {
  double init_scale = 1;  // of the deviation with which the weight starts
};

// y = x·W + b: x [*,I], weight [I,O], bias [O]. Starts normal with deviation 0.02·init_scale, bias 0.
struct Conv1D : Layer<Conv1D> {
  using Options = Conv1DOptions;
  Tensor weight, bias;
  const double init_scale;

  Conv1D(int64_t I, int64_t O, Conv1DOptions options = {}) : weight(empty({I, O})), bias(started({O}, 0)), init_scale(options.init_scale) {
    if (init_enabled()) fill_normal(weight, 0.02 * init_scale, init_draw());
    add_parameters({{"weight", weight}, {"bias", bias}});
  }
  Tensor forward(const Tensor& x) { return linear(x, transpose(weight, 0, 1), bias); }
};

}  // namespace rote::nn

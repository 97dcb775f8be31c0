// nn/dropout.h — dropout as a layer: off outside of training.
#pragma once

#include "autograd/ops/random.h"
#include "nn/module.h"

namespace rote::nn {

struct Dropout : Layer<Dropout> {
  const double p;

  explicit Dropout(double probability) : p(probability) {
    ROTE_CHECK(p >= 0 && p <= 1, ArgumentError, "Dropout: p is ", p, "; a probability lies in [0,1].");
  }

  Tensor forward(const Tensor& x) { return dropout(x, p, training()); }
};

}  // namespace rote::nn

// nn/activation.h — the nonlinearity that a config names, as a layer. The functions are ops (autograd/ops/activation.h).
#pragma once

#include <string>

#include "nn/module.h"

namespace rote::nn {

// gelu, gelu_new, relu, relu6, silu (or swish) or tanh; any other name is an ArgumentError that lists them.
struct Activation : Layer<Activation> {
  explicit Activation(const std::string& name);
  std::string class_name() const override;
  Tensor forward(const Tensor& x) { return function_(x); }

 private:
  const char* class_name_;
  Tensor (*function_)(const Tensor&);
};

}  // namespace rote::nn

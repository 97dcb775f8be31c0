#include "nn/activation.h"

#include "autograd/ops/activation.h"

namespace rote::nn {

namespace {

struct Choice {
  const char* name;
  const char* class_name;  // of the reference's module
  Tensor (*function)(const Tensor&);
};

constexpr Choice kChoices[] = {
    {"gelu", "GELUActivation", gelu}, {"gelu_new", "NewGELUActivation", gelu_tanh}, {"relu", "ReLU", relu}, {"relu6", "ReLU6", relu6},
    {"silu", "SiLUActivation", silu}, {"swish", "SiLUActivation", silu}, {"tanh", "Tanh", rote::tanh},
};

}  // namespace

Activation::Activation(const std::string& name) : class_name_(nullptr), function_(nullptr) {
  std::string known;
  for (const Choice& one : kChoices) {
    known += str(known.empty() ? "" : ", ", one.name);
    if (name == one.name) {
      class_name_ = one.class_name;
      function_ = one.function;
    }
  }
  ROTE_CHECK(function_ != nullptr, ArgumentError, "Activation: \"", name, "\" is not known; known are ", known, ".");
}

std::string Activation::class_name() const { return class_name_; }

}  // namespace rote::nn

// autograd/ops/wide.h — compositions of 16-bit floats: computed in f32, rounded once. Only the families' .cpp files include it.
#pragma once

#include "autograd/mode.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"

namespace rote {

// f(inputs) with 16-bit floats as f32; the result is rounded where 16 bits are the inputs' common dtype. Undefined inputs stay so.
template <class F>
Tensor in_f32(const std::vector<Tensor>& inputs, const F& f) {
  std::vector<Tensor> given, wide;
  for (const Tensor& x : inputs)
    if (x.defined()) given.push_back(x);
  const DType dtype = result_type(given);
  const bool narrow = is_floating(dtype) && size_of(dtype) == 2;
  for (const Tensor& x : inputs) wide.push_back(narrow && x.defined() && is_floating(x.dtype()) ? to(x, DType::f32) : x);
  const Tensor y = f(wide);
  return narrow ? to(y, dtype) : y;
}

// The same of a loss, which autocast leaves in f32.
template <class F>
Tensor loss_in_f32(const std::vector<Tensor>& inputs, const F& f) {
  if (!autocast_dtype()) return in_f32(inputs, f);
  std::vector<Tensor> wide;
  for (const Tensor& x : inputs) wide.push_back(x.defined() ? widened(x) : x);
  return f(wide);
}

}  // namespace rote

// autograd/ops/create.h — new tensors in the likeness of others, as functions without a derivative. Making one from sizes: tensor/tensor.h.
#pragma once

#include "autograd/apply.h"

namespace rote {

// A contiguous tensor of x's shape and dtype.
inline Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, {.dtype = x.dtype(), .device = x.device()}); }
inline Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
inline Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

std::vector<Composition> create_compositions();

}  // namespace rote

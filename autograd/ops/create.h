// autograd/ops/create.h — new tensors in the likeness of others, as functions without a derivative. Making one from sizes: tensor/tensor.h.
#pragma once

#include "autograd/apply.h"

namespace rote {

// A contiguous tensor of x's shape and dtype.
inline Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, {.dtype = x.dtype(), .device = x.device()}); }
inline Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
inline Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

// first, first + step, … before last: first + i·step in f64, converted once. From 0 by 1: tensor/tensor.h.
Tensor arange(double first, double last, double step = 1, DType dtype = DType::f32);
// `count` numbers from first to last, both included; the second half counted back from last, so that it is hit exactly.
Tensor linspace(double first, double last, int64_t count, DType dtype = DType::f32);
Tensor eye(int64_t rows, int64_t columns, DType dtype = DType::f32);  // 1 on the diagonal

std::vector<Composition> create_compositions();

}  // namespace rote

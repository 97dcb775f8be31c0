// autograd/ops/stored.h — operands of the kernels that read and write 16-bit floats as they lie (OpEntry::takes_sixteen).
#pragma once

#include <optional>

#include "autograd/ops/real.h"
#include "kernels/elements.h"

namespace rote {

// f(float{}) or f(double{}): what such a kernel computes values of this dtype in.
template <class F>
void with_wide_real(const Call& call, DType t, F&& f) {
  with_real(call, t == DType::f64 ? DType::f64 : DType::f32, f);
}

inline Stored stored(DType t) { return t == DType::bf16 ? Stored::bf16 : t == DType::f16 ? Stored::f16 : Stored::real; }

// x as a kernel reads it: f32 is rounded to `lower` on the way, where autocast says so.
template <class Real>
Elements<Real> elements(const Tensor& x, std::optional<DType> lower = {}) {
  if (size_of(x.dtype()) == 2) return {x.raw(), stored(x.dtype())};
  if (lower) return {x.raw(), *lower == DType::bf16 ? Stored::rounded_to_bf16 : Stored::rounded_to_f16};
  return x.data<Real>();
}

template <class Real>
Results<Real> results(const Tensor& x) {
  return {x.raw(), stored(x.dtype())};
}

// An operand that kernels take as Reals, rounded before where autocast says so; none stays none.
inline Tensor as_reals(const Call& call, Tensor x) {
  if (!x.defined()) return x;
  if (call.lower) x = converted(x, *call.lower);
  return size_of(x.dtype()) == 2 ? converted(x, DType::f32) : x;
}

}  // namespace rote

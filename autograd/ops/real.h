// autograd/ops/real.h — from a dtype to the element type of a kernel table. Only the families' .cpp files include it.
#pragma once

#include "autograd/op.h"

namespace rote {

// f(float{}) or f(double{}) by the dtype of x, which must be f32 or f64.
template <class F>
void with_real(const Call& call, DType t, F&& f) {
  ROTE_CHECK(t == DType::f32 || t == DType::f64, UncomputedDType, call.op->row.name, ": computed in f32 or f64, not in ", name(t), "; convert with to(x, DType::f32).");
  if (t == DType::f64) f(double{});
  else f(float{});
}

}  // namespace rote

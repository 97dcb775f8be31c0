// optim/factored.h — what the two kinds of Adafactor share: means over rows and columns, the root mean square, the one write of the parameter.
#pragma once

#include "autograd/ops.h"
#include "optim/clip.h"
#include "optim/rule.h"
#include "optim/sgd.h"

namespace rote::optim {

// `shape` without its axis `from_end` (1: the last), or with that axis of size 1.
inline Shape reduced(const Shape& shape, int from_end, bool keepdim) {
  Shape result;
  for (int axis = 0; axis < shape.axes(); ++axis) {
    if (axis != shape.axes() - from_end) result.append(shape[axis]);
    else if (keepdim) result.append(1);
  }
  return result;
}

inline Tensor zeros_of(const Tensor& like, const Shape& shape) { return zeros(shape, {.dtype = like.dtype()}); }

inline double rms(const Tensor& x) { return x.numel() == 0 ? 0 : two_norm({x}) / std::sqrt(static_cast<double>(x.numel())); }

// state = (1 - share)·state + share·x
inline void blend(const Tensor& state, const Tensor& x, double share) { copy_elements(state, state * (1 - share) + x * share); }

// p = kept·p - rate·u
inline uint32_t apply_update(Optimizer::Slot& slot, const Tensor& u, double rate, double kept) { return run<SgdUpdate>(slot, u, {1, 0, rate, kept}); }

}  // namespace rote::optim

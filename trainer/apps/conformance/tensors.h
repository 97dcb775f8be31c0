// trainer/apps/conformance/tensors.h — whether a tensor is what a case expects (the rule for numbers). Reads no file.
#pragma once

#include <functional>
#include <string>

#include "tensor/tensor.h"

namespace rote::conformance {

struct Expected {
  Tensor t;                 // dtype, shape, and the values that are not finite
  Tensor ref;               // the true values; undefined: those of t
  double rtol = 0, atol = 0;
  bool finite_only = false;  // elements where t is not finite are not compared
};

// One line: the worst error against its bound, the first element out of bounds and both values; empty where y passes.
// keep: only elements for whose index it holds are compared; none: all.
std::string difference(const Tensor& y, const Expected& expected, const std::function<bool(const Shape& index)>& keep = {});

}  // namespace rote::conformance

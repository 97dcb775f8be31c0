// autograd/ops/compare.h — whether tensors are equal or near as a whole. Element by element: pointwise.h.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Near {
  double rtol = 1e-5, atol = 1e-8;  // |x - y| <= atol + rtol·|y|
  bool equal_nan = false;           // NaN is near NaN
};
// bool of the broadcast shape; infinities are near only themselves. x and y have one dtype.
Tensor isclose(const Tensor& x, const Tensor& y, const Near& near = {});
bool allclose(const Tensor& x, const Tensor& y, const Near& near = {});
bool equal(const Tensor& x, const Tensor& y);  // same shape and elements; NaN equals nothing
std::vector<Composition> compare_compositions();

}  // namespace rote

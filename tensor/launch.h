// tensor/launch.h — strided, broadcast or converted operands in blocks: what a contiguous kernel needs of a tensor that is not.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace rote {

// Elements of a block; a few of them lie in the first-level cache at once.
inline constexpr int64_t kBlock = 1024;

// x seen under a larger shape: axes of size 1 repeat.
struct BlockSource {
  BlockSource(const Tensor& x, const Shape& shape);
  const void* data;
  DType dtype;
  Shape shape;
  Strides strides;
};

// Elements first … first+n-1 in logical order, converted to Real. scatter: the way back.
template <class Real>
void gather(const BlockSource& from, int64_t first, int64_t n, Real* out);
template <class Real>
void scatter(const BlockSource& to, int64_t first, int64_t n, const Real* values);

}  // namespace rote

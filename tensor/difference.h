// tensor/difference.h — where the bits of two tensors part, and how far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace rote {

struct Difference {
  int64_t elements = 0;              // that differ
  int64_t first = 0;                 // the first of them, in logical order
  double a = 0, b = 0;               // its values
  std::optional<uint64_t> ulps;      // between them: steps from one number of the dtype to the next; none beside a NaN. +0 and -0 are 0 apart
  std::optional<uint64_t> most_ulps; // of all elements that have a distance
};

// None where all bits are equal, every NaN being like every other. Throws ShapeError where shapes or dtypes differ.
std::optional<Difference> difference(const Tensor& a, const Tensor& b);

// "f32[2,3]: 2 of 6 elements differ, first at [0,1]: 0.5 and 0.50000006, 1 ulp apart; at most 4 ulps"
std::string describe(const Difference& difference, const Tensor& a);

}  // namespace rote

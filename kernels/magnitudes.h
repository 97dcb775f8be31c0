// kernels/magnitudes.h — counts over raw memory: the largest magnitude, and how many lie below a bound. For reports; no result depends on them.
#pragma once

#include <cstdint>

#include "kernels/dtype.h"

namespace rote {

// Of floats; Inf and NaN are left out of all but has_inf.
struct Magnitudes {
  double largest = 0;
  int64_t nonzero = 0;
  int64_t below = 0;     // of those: smaller than the bound
  bool has_inf = false;  // and no NaN
};

// Of n elements of a floating dtype. `bound` is a number of that dtype.
Magnitudes magnitudes(DType dtype, const void* data, int64_t n, double bound);

}  // namespace rote

// kernels/functions.h — the functions of the vector layer by name, over contiguous arrays. For tests of their bits and errors.
#pragma once

#include <cstdint>

namespace rote {

// out[i] = function(a[i], b[i], c[i]); functions of fewer inputs do not read the others.
template <class Real>
struct NamedFunction {
  const char* name;
  void (*apply)(int64_t n, const Real* a, const Real* b, const Real* c, Real* out);
};

// Those of "scalar", "avx2", "avx512" or "neon", in the same order for each, ended by a null name; nullptr where this build or machine
// lacks the instruction set.
const NamedFunction<float>* vector_functions(const char* isa);

}  // namespace rote

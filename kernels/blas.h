// kernels/blas.h — the matrix product of OpenBLAS, for the fast mode. It adds in orders of its own: outside of AC-1, nothing uses it unasked.
#pragma once

#include <string>

#include "kernels/table.h"

namespace rote {

// OpenBLAS as the first call finds it (libopenblas.so.0), its version and core type; empty where there is none.
const std::string& blas_name();

// gemm by OpenBLAS, with as many threads as num_threads(); leaves do not cut its sums. Operands that it cannot take are left to gemm of AC-1.
// REQUIRES: blas_name() is not empty.
uint32_t blas_gemm(const Gemm<float>& g);

}  // namespace rote

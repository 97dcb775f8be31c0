#include "autograd/arithmetic.h"

#include "kernels/blas.h"
#include "kernels/check.h"

namespace rote {

namespace {

thread_local Arithmetic arithmetic = Arithmetic::ac1;

}  // namespace

ArithmeticGuard::ArithmeticGuard(Arithmetic kind) : before_(arithmetic) {
  ROTE_CHECK(kind == Arithmetic::ac1 || !blas_name().empty(), ArgumentError,
             "arithmetic: fast takes the matrix product of OpenBLAS, and libopenblas.so.0 is not found; install libopenblas0, or use ac1.");
  arithmetic = kind;
}
ArithmeticGuard::~ArithmeticGuard() { arithmetic = before_; }

uint32_t product(const Gemm<float>& g) { return arithmetic == Arithmetic::ac1 ? kernels<float>().gemm(g) : blas_gemm(g); }

}  // namespace rote

// autograd/arithmetic.h — whose matrix product linear and matmul call: that of AC-1, or, on a thread that asks for it, a BLAS library's. Nothing else differs.
#pragma once

#include "kernels/table.h"

namespace rote {

enum class Arithmetic : uint8_t { ac1, fast };

// Products inside are of this kind, those of their backward as well where that runs inside. Throws ArgumentError for `fast` where no OpenBLAS is found.
class ArithmeticGuard {
 public:
  explicit ArithmeticGuard(Arithmetic kind);
  ~ArithmeticGuard();
  ArithmeticGuard(const ArithmeticGuard&) = delete;
  ArithmeticGuard& operator=(const ArithmeticGuard&) = delete;

 private:
  Arithmetic before_;
};

uint32_t product(const Gemm<float>& g);
inline uint32_t product(const Gemm<double>& g) { return kernels<double>().gemm(g); }

}  // namespace rote

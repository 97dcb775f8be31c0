// optim/update_table.h — the compiled loops of the optimizers' update formulas, per element type. Light: per-ISA objects include it.
#pragma once

#include <cstdint>

#include "autograd/formula_table.h"

namespace rote::optim {

// One step over n elements: parameter p, gradient g, the tensors of the formula's state; scalars as the formula numbers them.
// Returns the amax word of the parameters.
template <class Real>
using UpdateKernel = uint32_t (*)(int64_t n, Real* p, const Real* g, Real* const* state, const Real* scalars);

// What instantiate.cpp compiles once for each instruction set. Objects of their own: a program holds the loops of the optimizers that it names.
template <class Tag, class Real, class Update>
struct UpdateLoop {
  static const UpdateKernel<Real> kernel;
};

enum class UpdateIsa { avx512, avx2, neon, scalar };
UpdateIsa update_isa();  // of the kernel table in use

// The loop of this formula for the instruction set in use. Defined for the formulas of updates.h.
template <class Update, class Real>
UpdateKernel<Real> update_kernel() {
  if constexpr (sizeof(Real) == sizeof(double)) {
    return UpdateLoop<isa::f64::Tag, double, Update>::kernel;
  } else {
    switch (update_isa()) {
#ifdef ROTE_WITH_AVX512
      case UpdateIsa::avx512: return UpdateLoop<isa::avx512::Tag, float, Update>::kernel;
#endif
#ifdef ROTE_WITH_AVX2
      case UpdateIsa::avx2: return UpdateLoop<isa::avx2::Tag, float, Update>::kernel;
#endif
#ifdef ROTE_WITH_NEON
      case UpdateIsa::neon: return UpdateLoop<isa::neon::Tag, float, Update>::kernel;
#endif
      default: return UpdateLoop<isa::scalar::Tag, float, Update>::kernel;
    }
  }
}

}  // namespace rote::optim

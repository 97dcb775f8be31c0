// autograd/formula_table.h — the compiled loops of a formula and how an op finds them. Light: per-ISA objects include it.
//
// Each formula's loops are objects of their own, so that a program holds those of the ops that it calls and no others.
#pragma once

#include <cstdint>

#include "kernels/table.h"

namespace rote {

template <class Real>
struct FormulaKernel {
  uint32_t (*forward)(int64_t n, const Real* const* in, const Real* params, Real* out);
  uint32_t (*backward)(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din);  // none: no derivative
};

// Over i64 with wrap-around.
using IntegerKernel = void (*)(int64_t n, const int64_t* const* in, const int64_t* params, int64_t* out);

// The derivative of backward: dx[k][i] = Σ_j ddin[j][i]·∂din_j/∂x_k for x = what is saved, then dy. ddin[j] may be none, which is 0.
using AgainKernel = void (*)(int64_t n, const double* const* saved, const double* dy, const double* params, const double* const* ddin, double* const* dx);

struct FormulaLoops {
  const FormulaKernel<float>* single[4];  // avx512, avx2, neon, scalar; none where not in this build
  const FormulaKernel<double>* f64;
  IntegerKernel integer;  // none: not exact on integers
  AgainKernel again;      // none: no derivative

  template <class Real>
  const FormulaKernel<Real>& kernel() const;  // of the instruction set in use
};
template <>
const FormulaKernel<float>& FormulaLoops::kernel<float>() const;
template <>
inline const FormulaKernel<double>& FormulaLoops::kernel<double>() const { return *f64; }

// The loops of F. Defined for listed formulas only: an op left out of its family's list fails at link, by name. A user's own: own_op.h.
template <class F>
const FormulaLoops& formula_loops();

// What ops/instantiate.cpp compiles once for each instruction set.
template <class Tag, class Real, class F>
struct Loops {
  static const FormulaKernel<Real> kernel;
};

}  // namespace rote

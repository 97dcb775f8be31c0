// autograd/formula_table.h — the compiled loops of a formula, per element type, and how an op finds them. Light.
#pragma once

#include <cstdint>

namespace rote {

template <class Real>
struct FormulaKernel {
  uint32_t (*forward)(int64_t n, const Real* const* in, const Real* params, Real* out);
  uint32_t (*backward)(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din);  // none: no derivative
};

// The loops of the formula with this index, for the instruction set in use.
template <class Real>
const FormulaKernel<Real>& formula_kernel(int index);
template <>
const FormulaKernel<float>& formula_kernel<float>(int index);
template <>
const FormulaKernel<double>& formula_kernel<double>(int index);

// The index of F in the library's list. Defined for listed formulas only: an op left out of its family's list fails at link, by name.
template <class F>
int formula_index();

}  // namespace rote

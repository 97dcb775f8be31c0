// autograd/ops/instantiate.cpp — compiles every formula's loops for one instruction set. Holds no formula itself.
#include "autograd/formula_table.h"
#include "autograd/ops/formulas.h"
#include "kernels/loops.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

template <class F>
constexpr FormulaKernel<Real> kernel() {
  if constexpr (F::row.no_grad[0] == 0) return {map<F>, map_grad<F, count_words(F::row.saves)>};
  else return {map<F>, nullptr};
}

template <class List>
struct Kernels;
template <class... F>
struct Kernels<OpList<F...>> {
  static constexpr FormulaKernel<Real> all[] = {kernel<F>()...};
};

}  // namespace

extern const FormulaKernel<Real>* const formula_kernels;
const FormulaKernel<Real>* const formula_kernels = Kernels<AllFormulas>::all;

}  // namespace rote::isa::ROTE_ISA_NAME

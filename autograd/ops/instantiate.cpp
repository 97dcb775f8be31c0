// autograd/ops/instantiate.cpp — compiles every formula's loops for one instruction set. Holds no formula itself.
#include "autograd/formula_table.h"
#include "autograd/ops/formulas.h"
#include "kernels/loops.h"

namespace rote {

namespace isa::ROTE_ISA_NAME {

template <class F>
constexpr FormulaKernel<Real> kernel_of() {
  if constexpr (F::integers_only) return {nullptr, nullptr};
  else if constexpr (F::row.no_grad[0] == 0) return {map<F>, map_grad<F, count_words(F::row.saves)>};
  else return {map<F>, nullptr};
}

}  // namespace isa::ROTE_ISA_NAME

template <class Tag, class Real, class F>
const FormulaKernel<Real> Loops<Tag, Real, F>::kernel = isa::ROTE_ISA_NAME::kernel_of<F>();

namespace isa::ROTE_ISA_NAME {

// Taking the addresses makes the compiler emit the loops of each formula.
template <class List>
struct Listed;
template <class... F>
struct Listed<OpList<F...>> {
  static constexpr const FormulaKernel<Real>* all[] = {&Loops<Tag, Real, F>::kernel...};
};
[[maybe_unused, gnu::used]] static const auto* const listed = Listed<AllFormulas>::all;

}  // namespace isa::ROTE_ISA_NAME

}  // namespace rote

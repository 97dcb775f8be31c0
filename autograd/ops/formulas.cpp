// autograd/ops/formulas.cpp — which compiled loops serve a formula, by the instruction set in use; its loops over Integer and Dual.
#include "autograd/ops/formulas.h"

#include <cstring>

#include "autograd/scalar_loops.h"
#include "kernels/check.h"
#include "kernels/table.h"

namespace rote {

namespace {

constexpr const char* kIsas[] = {"avx512", "avx2", "neon", "scalar"};

int isa_in_use() {
  for (int i = 0; i < 4; ++i)
    if (std::strcmp(kernels<float>().isa, kIsas[i]) == 0) return i;
  ROTE_ASSERT(false, "the kernel table is of an instruction set without formula loops");
  return 0;
}

template <class F>
constexpr FormulaLoops loops_of() {
  FormulaLoops loops{};
#ifdef ROTE_WITH_AVX512
  loops.single[0] = &Loops<isa::avx512::Tag, float, F>::kernel;
#endif
#ifdef ROTE_WITH_AVX2
  loops.single[1] = &Loops<isa::avx2::Tag, float, F>::kernel;
#endif
#ifdef ROTE_WITH_NEON
  loops.single[2] = &Loops<isa::neon::Tag, float, F>::kernel;
#endif
  loops.single[3] = &Loops<isa::scalar::Tag, float, F>::kernel;
  loops.f64 = &Loops<isa::f64::Tag, double, F>::kernel;
  if constexpr (F::row.integers) loops.integer = detail::integer_loop<F>;
  loops.again = detail::again_kernel<F>();
  return loops;
}

template <class F>
constexpr FormulaLoops kLoops = loops_of<F>();

template <class List>
struct Listed;
template <class... F>
struct Listed<OpList<F...>> {
  using Function = const FormulaLoops& (*)();
  static const Function functions[];
};
// Taking the addresses makes the compiler emit each formula_loops<F>, which other files only declare.
template <class... F>
const typename Listed<OpList<F...>>::Function Listed<OpList<F...>>::functions[] = {&formula_loops<F>...};
[[maybe_unused, gnu::used]] const auto* const kept = Listed<AllFormulas>::functions;

}  // namespace

template <class F>
const FormulaLoops& formula_loops() {
  return kLoops<F>;
}

template <>
const FormulaKernel<float>& FormulaLoops::kernel<float>() const {
  static const int isa = isa_in_use();
  return *single[isa];
}

}  // namespace rote

// autograd/ops/formulas.cpp — which compiled loops serve a formula: by its index in the list and by the instruction set in use.
#include "autograd/ops/formulas.h"

#include <cstring>

#include "autograd/formula_table.h"
#include "kernels/check.h"
#include "kernels/table.h"

namespace rote {

namespace isa {
namespace scalar { extern const FormulaKernel<float>* const formula_kernels; }
namespace f64 { extern const FormulaKernel<double>* const formula_kernels; }
#ifdef ROTE_WITH_AVX2
namespace avx2 { extern const FormulaKernel<float>* const formula_kernels; }
#endif
#ifdef ROTE_WITH_AVX512
namespace avx512 { extern const FormulaKernel<float>* const formula_kernels; }
#endif
#ifdef ROTE_WITH_NEON
namespace neon { extern const FormulaKernel<float>* const formula_kernels; }
#endif
}  // namespace isa

namespace {

const FormulaKernel<float>* loops_of(const char* name) {
#ifdef ROTE_WITH_AVX512
  if (std::strcmp(name, "avx512") == 0) return isa::avx512::formula_kernels;
#endif
#ifdef ROTE_WITH_AVX2
  if (std::strcmp(name, "avx2") == 0) return isa::avx2::formula_kernels;
#endif
#ifdef ROTE_WITH_NEON
  if (std::strcmp(name, "neon") == 0) return isa::neon::formula_kernels;
#endif
  ROTE_ASSERT(std::strcmp(name, "scalar") == 0, "the kernel table is of an instruction set without formula loops");
  return isa::scalar::formula_kernels;
}

template <class List>
struct Listed;
template <class... F>
struct Listed<OpList<F...>> {
  using Function = int (*)();
  static const Function functions[];
};
// Taking the addresses makes the compiler emit each formula_index<F>, which other files only declare.
template <class... F>
const typename Listed<OpList<F...>>::Function Listed<OpList<F...>>::functions[] = {&formula_index<F>...};
[[maybe_unused, gnu::used]] const auto* const kept = Listed<AllFormulas>::functions;

}  // namespace

template <class F>
int formula_index() {
  return kIndexOf<F, AllFormulas>;
}

template <>
const FormulaKernel<float>& formula_kernel<float>(int index) {
  static const FormulaKernel<float>* const loops = loops_of(kernels<float>().isa);
  return loops[index];
}

template <>
const FormulaKernel<double>& formula_kernel<double>(int index) {
  return isa::f64::formula_kernels[index];
}

}  // namespace rote

// autograd/ops/instantiate.cu — compiles every formula's launchers for devices. Holds no formula itself.
#include "autograd/integer.h"
#include "autograd/ops/formulas.h"
#include "kernels/loops.cuh"

namespace rote::cuda {

using namespace isa::ROTE_ISA_NAME;

template <class F>
constexpr FormulaLaunchers launchers_of() {
  FormulaLaunchers launchers = {};
  if constexpr (!F::integers_only) launchers.forward = launch_map<F>;
  if constexpr (!F::integers_only && F::row.no_grad[0] == 0) launchers.backward = launch_map_grad<F, count_words(F::row.saves)>;
  if constexpr (F::row.integers) launchers.integer = launch_map_integers<F, Integer>;
  return launchers;
}

template <class F>
const FormulaLaunchers& formula_launchers() {
  static constexpr FormulaLaunchers launchers = launchers_of<F>();
  return launchers;
}

// Taking the addresses makes the compiler emit the functions, which other files only declare.
template <class List>
struct Listed;
template <class... F>
struct Listed<OpList<F...>> {
  using Function = const FormulaLaunchers& (*)();
  static constexpr Function functions[] = {&formula_launchers<F>...};
};
[[maybe_unused, gnu::used]] static const auto* const listed = Listed<AllFormulas>::functions;

}  // namespace rote::cuda

// autograd/own_op.h — a user's own formula op: a struct as in ops/activation.h that derives from OwnFormula instead of Formula and is
// compiled where it stands. Computed in f64 one element at a time and rounded once, so its bits are the same everywhere; the library's
// own formulas are compiled for each instruction set. docs/adding-an-op.md shows one from row to gradcheck.
#pragma once

#include <algorithm>
#include <cstring>

#include "autograd/apply.h"
#include "autograd/scalar_loops.h"

namespace rote {

template <int Inputs, int Params = 0>
struct OwnFormula : Formula<Inputs, Params> {
  static constexpr bool is_own = true;
};

namespace detail {

inline uint32_t amax_word(double value) {
  const float single = static_cast<float>(value);
  uint32_t word;
  std::memcpy(&word, &single, sizeof word);
  return word & 0x7FFFFFFFu;
}

template <class F, class Real>
uint32_t own_forward(int64_t n, const Real* const* in, const Real* params, Real* out) {
  uint32_t amax = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double y = forward_at<F, Scalar>(in, i, params, std::make_index_sequence<F::inputs>(), std::make_index_sequence<F::params>()).v;
    out[i] = static_cast<Real>(y);
    amax = std::max(amax, amax_word(y));
  }
  return amax;
}

template <class F, class Real>
uint32_t own_backward(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din) {
  uint32_t amax = 0;
  double p[F::params + 1] = {};
  std::copy(params, params + F::params, p);
  for (int64_t i = 0; i < n; ++i) {
    Scalar x[kSaved<F> + 1], dx[3];
    for (int k = 0; k < kSaved<F>; ++k) x[k] = saved[k][i];
    x[kSaved<F>] = dy[i];
    gradients<F>(x, p, dx);
    for (int k = 0; k < F::inputs; ++k) {
      if (din[k] == nullptr) continue;
      din[k][i] = static_cast<Real>(dx[k].v);
      amax = std::max(amax, amax_word(dx[k].v));
    }
  }
  return amax;
}

template <class F, class Real>
constexpr FormulaKernel<Real> own_kernel() {
  if constexpr (F::row.no_grad[0] == 0) return {own_forward<F, Real>, own_backward<F, Real>};
  else return {own_forward<F, Real>, nullptr};
}

template <class F>
const FormulaLoops& own_formula_loops() {
  static const FormulaKernel<float> single = own_kernel<F, float>();
  static const FormulaKernel<double> f64 = own_kernel<F, double>();
  static const FormulaLoops loops{{&single, &single, &single, &single}, &f64, nullptr, again_kernel<F>()};
  return loops;
}

}  // namespace detail

}  // namespace rote

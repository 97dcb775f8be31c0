// autograd/scalar_loops.h — a formula's loops one element at a time: over Integer, over Scalar (a user's own formula) and over Dual (what
// differentiates backward again). Cold; the hot loops over Vec are kernels/loops.h.
#pragma once

#include <utility>

#include "autograd/formula_table.h"
#include "autograd/integer.h"
#include "autograd/row.h"
#include "autograd/scalar.h"

namespace rote::detail {

template <class F, class V, class Real, size_t... In, size_t... P>
V forward_at(const Real* const* in, int64_t i, [[maybe_unused]] const Real* params, std::index_sequence<In...>, std::index_sequence<P...>) {
  return F::forward(V(in[In][i])..., V(params[P])...);
}

template <class F>
void integer_loop(int64_t n, const int64_t* const* in, [[maybe_unused]] const int64_t* params, int64_t* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = forward_at<F, Integer>(in, i, params, std::make_index_sequence<F::inputs>(), std::make_index_sequence<F::params>()).v;
}

template <class V>
void spread(const V& g, V* out) { out[0] = g; }
template <class V>
void spread(const Two<V>& g, V* out) { out[0] = g.a, out[1] = g.b; }
template <class V>
void spread(const Three<V>& g, V* out) { out[0] = g.a, out[1] = g.b, out[2] = g.c; }

template <class F, class V, size_t... S, size_t... P>
void gradients(const V* x, [[maybe_unused]] const double* params, V* out, std::index_sequence<S...>, std::index_sequence<P...>) {
  spread(F::backward(x[S]..., x[sizeof...(S)], V(params[P])...), out);
}

template <class F>
inline constexpr int kSaved = count_words(F::row.saves);

// x: what is saved, then dy.
template <class F, class V>
void gradients(const V* x, const double* params, V* out) {
  gradients<F>(x, params, out, std::make_index_sequence<kSaved<F>>(), std::make_index_sequence<F::params>());
}

template <class F>
void again_loop(int64_t n, const double* const* saved, const double* dy, const double* params, const double* const* ddin, double* const* dx) {
  constexpr int kX = kSaved<F> + 1;
  for (int64_t i = 0; i < n; ++i) {
    Dual x[kX];
    for (int k = 0; k < kX; ++k) x[k] = Dual(k < kSaved<F> ? saved[k][i] : dy[i]);
    for (int k = 0; k < kX; ++k) {
      if (dx[k] == nullptr) continue;
      x[k].d = 1;
      Dual din[3];
      gradients<F>(x, params, din);
      x[k].d = 0;
      double sum = 0;
      for (int j = 0; j < F::inputs; ++j)
        if (ddin[j] != nullptr) sum += ddin[j][i] * din[j].d.v;
      dx[k][i] = sum;
    }
  }
}

template <class F>
constexpr AgainKernel again_kernel() {
  if constexpr (F::row.no_grad[0] == 0) return again_loop<F>;
  else return nullptr;
}

}  // namespace rote::detail

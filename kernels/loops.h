// kernels/loops.h — loops over a formula: forward, backward, optimizer update. Contiguous Real only; anything else is gathered first.
//
// A formula is a struct with `inputs`, `params`, `row.saves` and static templates forward(V…) and backward(V…); V is Vec here.
// A loop is made of steps of kLanes elements: map_step, map_grad_step, update_step. A thread of a device takes the same steps (loops.cuh).
#pragma once

#include <stdint.h>

#include "kernels/pool.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

// Elements of one task: large enough to hide its hand-over, small enough for two cores to share a row of activations.
constexpr int64_t kMapChunk = 16384;

template <int... I>
struct Indices {};
template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
  using type = Indices<I...>;
};

ROTE_INLINE int lanes_left(int64_t at, int64_t end) { return end - at < kLanes ? static_cast<int>(end - at) : kLanes; }

// V: Vec, or what a formula takes in its place.
template <class F, class V, class Number, int... In, int... P>
ROTE_INLINE V apply_formula(const V* x, [[maybe_unused]] const Number* params, Indices<In...>, Indices<P...>) {
  return F::forward(x[In]..., V(params[P])...);
}

// Elements i … i + count - 1.
template <class F>
ROTE_INLINE void map_step(int64_t i, int count, const Real* const* in, const Real* params, Real* out, Amax& amax) {
  Vec x[F::inputs];
  for (int k = 0; k < F::inputs; ++k) x[k] = count == kLanes ? load(in[k] + i) : load(in[k] + i, count);
  const Vec y = apply_formula<F>(x, params, typename MakeIndices<F::inputs>::type{}, typename MakeIndices<F::params>::type{});
  if (count == kLanes) {
    store(out + i, y);
    amax.see(y);
  } else {
    store(out + i, y, count);
    amax.see(y, count);
  }
}

// step(i, count, amax) over 0 <= i < n, by all threads. Returns the amax word.
template <class Step>
ROTE_INLINE uint32_t over_elements(int64_t n, const Step& step) {
  const auto chunk = [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kMapChunk, end = begin + kMapChunk < n ? begin + kMapChunk : n;
    const Step own = step;  // which no store through a vector can change
    Amax amax;
    for (int64_t i = begin; i < end; i += kLanes) own(i, lanes_left(i, end), amax);
    return amax.word();
  };
  return parallel((n + kMapChunk - 1) / kMapChunk, chunk);
}

// out[i] = F::forward(in[0][i], …, params…); out may be one of the inputs. Returns the amax word.
template <class F>
uint32_t map(int64_t n, const Real* const* in, const Real* params, Real* out) {
  return over_elements(n, [=](int64_t i, int count, Amax& amax) ROTE_LOOP_BODY { map_step<F>(i, count, in, params, out, amax); });
}

ROTE_INLINE void spread(Vec g, Vec* out) { out[0] = g; }
template <class Pack>
ROTE_INLINE void spread(const Pack& g, Vec* out) {
  out[0] = g.a;
  out[1] = g.b;
  if constexpr (sizeof(Pack) == 3 * sizeof(Vec)) out[2] = g.c;
}

template <class F, int... S, int... P>
ROTE_INLINE auto apply_backward(const Vec* saved, Vec dy, const Real* params, Indices<S...>, Indices<P...>) {
  return F::backward(saved[S]..., dy, Vec(params[P])...);
}

template <class F, int Saved>
ROTE_INLINE void map_grad_step(int64_t i, int count, const Real* const* saved, const Real* dy, const Real* params, Real* const* din, Amax& amax) {
  Vec x[Saved + 1];
  for (int k = 0; k < Saved; ++k) x[k] = load(saved[k] + i, count);
  Vec g[3];
  spread(apply_backward<F>(x, load(dy + i, count), params, typename MakeIndices<Saved>::type{}, typename MakeIndices<F::params>::type{}), g);
  for (int k = 0; k < F::inputs; ++k) {
    if (din[k] == nullptr) continue;
    store(din[k] + i, g[k], count);
    amax.see(g[k], count);
  }
}

// din[k][i] for each k whose pointer is set; saved: what F::row.saves names, in its order.
template <class F, int Saved>
uint32_t map_grad(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din) {
  return over_elements(
      n, [=](int64_t i, int count, Amax& amax) ROTE_LOOP_BODY { map_grad_step<F, Saved>(i, count, saved, dy, params, din, amax); });
}

// One element of an optimizer: parameter, gradient, and as many values of state as the formula has.
template <int States>
struct UpdateElement {
  Vec p, g, state[States > 0 ? States : 1];
};

// For each element: F::update(element, scalars); p and the state are written back, state below the smallest normal becomes +0 (arithmetic.md 1).
template <class F>
ROTE_INLINE void update_step(int64_t i, int count, Real* p, const Real* g, Real* const* state, const Real* scalars, Amax& amax) {
  const Vec tiny(Real(0x1p-126));
  const Vec zero(Real(0));
  UpdateElement<F::states> e;
  e.p = load(p + i, count);
  e.g = load(g + i, count);
  for (int k = 0; k < F::states; ++k) e.state[k] = load(state[k] + i, count);
  F::update(e, scalars);
  store(p + i, e.p, count);
  amax.see(e.p, count);
  for (int k = 0; k < F::states; ++k) store(state[k] + i, select(abs(e.state[k]) < tiny, zero, e.state[k]), count);
}

template <class F>
uint32_t update(int64_t n, Real* p, const Real* g, Real* const* state, const Real* scalars) {
  return over_elements(n, [=](int64_t i, int count, Amax& amax) ROTE_LOOP_BODY { update_step<F>(i, count, p, g, state, scalars, amax); });
}

}  // namespace rote::isa::ROTE_ISA_NAME

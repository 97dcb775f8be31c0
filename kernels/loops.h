// kernels/loops.h — loops over a formula: forward, backward, optimizer update. Contiguous Real only; anything else is gathered first.
//
// A formula is a struct with `inputs`, `params`, `row.saves` and static templates forward(V…) and backward(V…); V is Vec here.
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

template <class F, int... In, int... P>
ROTE_INLINE Vec apply_formula(const Vec* x, const Real* params, Indices<In...>, Indices<P...>) {
  return F::forward(x[In]..., Vec(params[P])...);
}

// out[i] = F::forward(in[0][i], …, params…); out may be one of the inputs. Returns the amax word.
template <class F>
uint32_t map(int64_t n, const Real* const* in, const Real* params, Real* out) {
  const auto chunk = [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kMapChunk, end = begin + kMapChunk < n ? begin + kMapChunk : n;
    Amax amax;
    for (int64_t i = begin; i < end; i += kLanes) {
      const int count = lanes_left(i, end);
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
    return amax.word();
  };
  return parallel((n + kMapChunk - 1) / kMapChunk, chunk);
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

// din[k][i] for each k whose pointer is set; saved: what F::row.saves names, in its order.
template <class F, int Saved>
uint32_t map_grad(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din) {
  const auto chunk = [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kMapChunk, end = begin + kMapChunk < n ? begin + kMapChunk : n;
    Amax amax;
    for (int64_t i = begin; i < end; i += kLanes) {
      const int count = lanes_left(i, end);
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
    return amax.word();
  };
  return parallel((n + kMapChunk - 1) / kMapChunk, chunk);
}

// State of one element of an optimizer: parameter, gradient, up to two moments.
struct UpdateElement {
  Vec p, g, m, v;
};

// For each element: F::update(element, scalars); p, m, v are written back, |m|, |v| below the smallest normal become +0 (arithmetic.md 1).
template <class F>
uint32_t update(int64_t n, Real* p, const Real* g, Real* m, Real* v, const Real* scalars) {
  const auto chunk = [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kMapChunk, end = begin + kMapChunk < n ? begin + kMapChunk : n;
    const Vec tiny(Real(0x1p-126));
    const Vec zero(Real(0));
    Amax amax;
    for (int64_t i = begin; i < end; i += kLanes) {
      const int count = lanes_left(i, end);
      UpdateElement e{load(p + i, count), load(g + i, count), m ? load(m + i, count) : zero, v ? load(v + i, count) : zero};
      F::update(e, scalars);
      store(p + i, e.p, count);
      amax.see(e.p, count);
      if (m) store(m + i, select(abs(e.m) < tiny, zero, e.m), count);
      if (v) store(v + i, select(abs(e.v) < tiny, zero, e.v), count);
    }
    return amax.word();
  };
  return parallel((n + kMapChunk - 1) / kMapChunk, chunk);
}

}  // namespace rote::isa::ROTE_ISA_NAME

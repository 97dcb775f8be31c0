// kernels/loops.h — loops over a formula: forward, backward, optimizer update. Contiguous Real only; anything else is gathered first.
//
// A formula is a struct with `inputs`, `params`, `row.saves` and static templates forward(V…) and backward(V…); V is Vec here.
// A loop is made of steps of kLanes elements: map_step, map_grad_step, update_step. A thread of a device takes the same steps (loops.cuh).
// The loops proper know whole steps alone; over_elements, which all of them share, cuts the elements into tasks and fills up the last step.
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

// V: Vec, or what a formula takes in its place.
template <class F, class V, class Number, int... In, int... P>
ROTE_INLINE V apply_formula(const V* x, [[maybe_unused]] const Number* params, Indices<In...>, Indices<P...>) {
  return F::forward(x[In]..., V(params[P])...);
}

// Elements i … i + kLanes - 1.
template <class F>
ROTE_INLINE void map_step(int64_t i, const Real* const* in, const Real* params, Real* out, Amax& amax) {
  Vec x[F::inputs];
  for (int k = 0; k < F::inputs; ++k) x[k] = load(in[k] + i);
  const Vec y = apply_formula<F>(x, params, typename MakeIndices<F::inputs>::type{}, typename MakeIndices<F::params>::type{});
  store(out + i, y);
  amax.see(y);
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
ROTE_INLINE void map_grad_step(int64_t i, const Real* const* saved, const Real* dy, const Real* params, Real* const* din, Amax& amax) {
  Vec x[Saved + 1];
  for (int k = 0; k < Saved; ++k) x[k] = load(saved[k] + i);
  Vec g[3];
  spread(apply_backward<F>(x, load(dy + i), params, typename MakeIndices<Saved>::type{}, typename MakeIndices<F::params>::type{}), g);
  for (int k = 0; k < F::inputs; ++k) {
    if (din[k] == nullptr) continue;
    store(din[k] + i, g[k]);
    amax.see(g[k]);
  }
}

// One element of an optimizer: parameter, gradient, and as many values of state as the formula has.
template <int States>
struct UpdateElement {
  Vec p, g, state[States > 0 ? States : 1];
};

// F::update(element, scalars) of what lies at in: p, g, state…; out takes p, state…. State below the smallest normal becomes +0 (arithmetic.md 1).
template <class F>
ROTE_INLINE void update_step(int64_t i, const Real* const* in, const Real* scalars, Real* const* out, Amax& amax) {
  const Vec tiny(Real(0x1p-126));
  const Vec zero(Real(0));
  UpdateElement<F::states> e;
  e.p = load(in[0] + i);
  e.g = load(in[1] + i);
  for (int k = 0; k < F::states; ++k) e.state[k] = load(in[2 + k] + i);
  F::update(e, scalars);
  store(out[0] + i, e.p);
  amax.see(e.p);
  for (int k = 0; k < F::states; ++k) store(out[1 + k] + i, select(abs(e.state[k]) < tiny, zero, e.state[k]));
}

// What a loop reads and writes, element by element, and the numbers that all elements share. A null write is not wanted.
constexpr int kMostRows = 8;
struct Rows {
  int reads = 0, writes = 0;
  const Real* read[kMostRows] = {};
  Real* write[kMostRows] = {};
  const Real* params = nullptr;
};

// The first n elements of the rows, a multiple of kLanes. Returns the amax word.
using Steps = uint32_t (*)(int64_t n, const Rows& rows);

// The last n < kLanes elements, as a whole step: what is missing repeats the last of them, of which no amax word can tell.
[[gnu::noinline]] inline uint32_t last_step(int64_t n, const Rows& rows, Steps steps) {
  Real read[kMostRows][kLanes], write[kMostRows][kLanes];
  Rows whole = rows;
  for (int k = 0; k < rows.reads; ++k) {
    for (int64_t i = 0; i < kLanes; ++i) read[k][i] = rows.read[k][i < n ? i : n - 1];
    whole.read[k] = read[k];
  }
  for (int k = 0; k < rows.writes; ++k)
    if (rows.write[k]) whole.write[k] = write[k];
  const uint32_t amax = steps(kLanes, whole);
  for (int k = 0; k < rows.writes; ++k)
    for (int64_t i = 0; rows.write[k] && i < n; ++i) rows.write[k][i] = write[k][i];
  return amax;
}

// All elements, by all threads. Returns the amax word.
[[gnu::noinline]] inline uint32_t over_elements(int64_t n, const Rows& all, Steps steps) {
  const auto from = [&](int64_t at) {
    Rows rows = all;
    for (int k = 0; k < all.reads; ++k) rows.read[k] += at;
    for (int k = 0; k < all.writes; ++k)
      if (rows.write[k]) rows.write[k] += at;
    return rows;
  };
  const auto chunk = [&](int64_t task) -> uint32_t {
    const int64_t begin = task * kMapChunk, count = n - begin < kMapChunk ? n - begin : kMapChunk, whole = count - count % kLanes;
    const uint32_t amax = steps(whole, from(begin));
    if (whole == count) return amax;
    const uint32_t last = last_step(count - whole, from(begin + whole), steps);
    return amax > last ? amax : last;
  };
  return parallel((n + kMapChunk - 1) / kMapChunk, chunk);
}

// step(i, rows, params, amax) over n elements, with copies of the rows and of N numbers, which no store through a vector can change.
template <int N, class Step>
ROTE_INLINE uint32_t whole_steps(int64_t n, const Rows& rows, const Step& step) {
  const Rows own = rows;
  Real params[N + 1];
  for (int k = 0; k < N; ++k) params[k] = rows.params[k];
  Amax amax;
  for (int64_t i = 0; i < n; i += kLanes) step(i, own, params, amax);
  return amax.word();
}

// out[i] = F::forward(in[0][i], …, params…); out may be one of the inputs. Returns the amax word.
template <class F>
uint32_t map(int64_t n, const Real* const* in, const Real* params, Real* out) {
  Rows all = {.reads = F::inputs, .writes = 1, .params = params};
  for (int k = 0; k < F::inputs; ++k) all.read[k] = in[k];
  all.write[0] = out;
  return over_elements(n, all, [](int64_t count, const Rows& rows) {
    return whole_steps<F::params>(count, rows, [](int64_t i, const Rows& r, const Real* own, Amax& amax) ROTE_LOOP_BODY {
      map_step<F>(i, r.read, own, r.write[0], amax);
    });
  });
}

// din[k][i] for each k whose pointer is set; saved: what F::row.saves names, in its order.
template <class F, int Saved>
uint32_t map_grad(int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din) {
  Rows all = {.reads = Saved + 1, .writes = F::inputs, .params = params};
  for (int k = 0; k < Saved; ++k) all.read[k] = saved[k];
  all.read[Saved] = dy;
  for (int k = 0; k < F::inputs; ++k) all.write[k] = din[k];
  return over_elements(n, all, [](int64_t count, const Rows& rows) {
    return whole_steps<F::params>(count, rows, [](int64_t i, const Rows& r, const Real* own, Amax& amax) ROTE_LOOP_BODY {
      map_grad_step<F, Saved>(i, r.read, r.read[Saved], own, r.write, amax);
    });
  });
}

template <class F>
uint32_t update(int64_t n, Real* p, const Real* g, Real* const* state, const Real* scalars) {
  Rows all = {.reads = 2 + F::states, .writes = 1 + F::states, .params = scalars};
  all.read[0] = all.write[0] = p;
  all.read[1] = g;
  for (int k = 0; k < F::states; ++k) all.read[2 + k] = all.write[1 + k] = state[k];
  return over_elements(n, all, [](int64_t count, const Rows& rows) {
    return whole_steps<F::scalars>(count, rows, [](int64_t i, const Rows& r, const Real* own, Amax& amax) ROTE_LOOP_BODY {
      update_step<F>(i, r.read, own, r.write, amax);
    });
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

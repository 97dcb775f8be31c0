// kernels/loops.cuh — the loops of loops.h on a device: launchers of map, map_grad, update and of a formula's map over integers.
//
// A thread takes the steps of loops.h, one element each; the formula and the functions below it are the text that the CPU runs.
#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/loops.h"
#include "kernels/math64.cpp"  // device code calls into no other object

namespace rote::isa::ROTE_ISA_NAME {

// A few pointers or numbers, from the host to a kernel by value.
template <class T, int N>
struct Few {
  T at[N > 0 ? N : 1];
};
template <int N, class T>
Few<T, N> few(const T* from) {
  Few<T, N> copy = {};
  for (int i = 0; i < N; ++i) copy.at[i] = from[i];
  return copy;
}

template <class F>
__global__ void map_kernel(int64_t n, Few<const Real*, F::inputs> in, Few<Real, F::params> params, Real* out, uint32_t* status) {
  Amax amax;
  over_grid(n, [&](int64_t i) { map_step<F>(i, in.at, params.at, out, amax); });
  join_status(status, amax);
}

template <class F>
void launch_map(cuda::Stream stream, int64_t n, const Real* const* in, const Real* params, Real* out, uint32_t* status) {
  if (n == 0) return;
  map_kernel<F><<<blocks_for(n), kThreads, 0, stream>>>(n, few<F::inputs>(in), few<F::params>(params), out, status);
  cuda::check_launch(F::row.name);
}

template <class F, int Saved>
__global__ void map_grad_kernel(int64_t n, Few<const Real*, Saved> saved, const Real* dy, Few<Real, F::params> params, Few<Real*, F::inputs> din,
                                uint32_t* status) {
  Amax amax;
  over_grid(n, [&](int64_t i) { map_grad_step<F, Saved>(i, saved.at, dy, params.at, din.at, amax); });
  join_status(status, amax);
}

template <class F, int Saved>
void launch_map_grad(cuda::Stream stream, int64_t n, const Real* const* saved, const Real* dy, const Real* params, Real* const* din, uint32_t* status) {
  if (n == 0) return;
  map_grad_kernel<F, Saved>
      <<<blocks_for(n), kThreads, 0, stream>>>(n, few<Saved>(saved), dy, few<F::params>(params), few<F::inputs>(din), status);
  cuda::check_launch(F::row.name);
}

// V: the formula's number over int64, with the value in .v.
template <class F, class V>
__global__ void map_integers_kernel(int64_t n, Few<const int64_t*, F::inputs> in, Few<int64_t, F::params> params, int64_t* out) {
  over_grid(n, [&](int64_t i) {
    V x[F::inputs];
    for (int k = 0; k < F::inputs; ++k) x[k] = in.at[k][i];
    out[i] = apply_formula<F>(x, params.at, typename MakeIndices<F::inputs>::type{}, typename MakeIndices<F::params>::type{}).v;
  });
}

template <class F, class V>
void launch_map_integers(cuda::Stream stream, int64_t n, const int64_t* const* in, const int64_t* params, int64_t* out) {
  if (n == 0) return;
  map_integers_kernel<F, V><<<blocks_for(n), kThreads, 0, stream>>>(n, few<F::inputs>(in), few<F::params>(params), out);
  cuda::check_launch(F::row.name);
}

template <class F>
__global__ void update_kernel(int64_t n, Few<const Real*, 2 + F::states> in, Few<Real, F::scalars> scalars, Few<Real*, 1 + F::states> out,
                              uint32_t* status) {
  Amax amax;
  over_grid(n, [&](int64_t i) { update_step<F>(i, in.at, scalars.at, out.at, amax); });
  join_status(status, amax);
}

template <class F>
void launch_update(cuda::Stream stream, int64_t n, Real* p, const Real* g, Real* const* state, const Real* scalars, uint32_t* status) {
  if (n == 0) return;
  Few<const Real*, 2 + F::states> in = {{p, g}};
  Few<Real*, 1 + F::states> out = {{p}};
  for (int k = 0; k < F::states; ++k) in.at[2 + k] = out.at[1 + k] = state[k];
  update_kernel<F><<<blocks_for(n), kThreads, 0, stream>>>(n, in, few<F::scalars>(scalars), out, status);
  cuda::check_launch("optimizer update");
}

}  // namespace rote::isa::ROTE_ISA_NAME

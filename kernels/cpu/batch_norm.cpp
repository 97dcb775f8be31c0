// kernels/cpu/batch_norm.cpp — norm of the channels of [N,C,S] and its gradients. arithmetic.md 3: two passes, a tree over the samples.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/scratch.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// A body f(at, of, n, amax) gets elements at, at + 1, … of [N,C,S] and `of`, which gives the values of a [C] array beside them. Rows run along
// S, or along C where S is 1.
template <class F>
uint32_t over_channels(const BatchNorm<Real>& g, const F& f) {
  if (g.S == 1)
    return over_rows(g.N, g.C, [&](int64_t r, Amax& amax) {
      over_row(g.C, [&](int64_t c, auto m) ROTE_LOOP_BODY { f(r * g.C + c, [&](const Real* p) ROTE_LOOP_BODY { return load(p + c, m); }, m, amax); });
    });
  return over_rows(g.N * g.C, g.S, [&](int64_t r, Amax& amax) {
    const int64_t c = r % g.C;
    over_row(g.S, [&](int64_t i, auto m) ROTE_LOOP_BODY { f(r * g.S + i, [&](const Real* p) ROTE_LOOP_BODY { return Vec(p[c]); }, m, amax); });
  });
}

// sums[k][c] = Σ of the k-th value over channel c, values called as in over_channels.
template <class... F>
void channel_sums(const BatchNorm<Real>& g, Real* const* sums, const F&... values) {
  if (g.S == 1) {
    parallel(ceil_div(g.C, kLanes), [&](int64_t task) -> uint32_t {
      const int64_t c = task * kLanes;
      const auto block = [&](auto m) ROTE_LOOP_BODY {
        int k = 0;
        const auto one = [&](const auto& value) ROTE_LOOP_BODY {
          const Column sum = column_sum<Column>(g.N, g.leaf, [&](Column& s, int64_t r) ROTE_LOOP_BODY {
            s.a += value(r * g.C + c, [&](const Real* p) ROTE_LOOP_BODY { return load(p + c, m); }, m);
          });
          store(sums[k++] + c, sum.a + Vec(Real(0)), m);
        };
        (one(values), ...);
      };
      if (g.C - c >= kLanes) block(Whole{});
      else block(static_cast<int>(g.C - c));
      return 0;
    });
    return;
  }
  const int64_t rows = g.N * g.C;
  Real* const partial = static_cast<Real*>(take_scratch(static_cast<int64_t>(sizeof...(F)) * rows * static_cast<int64_t>(sizeof(Real))));
  over_rows(rows, g.S, [&](int64_t r, Amax&) {
    const int64_t c = r % g.C;
    Real* out = partial + r;
    const auto one = [&](const auto& value) ROTE_LOOP_BODY {
      *out = lane_sum(g.S, [&](int64_t i, auto m) ROTE_LOOP_BODY {
        return keep(value(r * g.S + i, [&](const Real* p) ROTE_LOOP_BODY { return Vec(p[c]); }, m), m);
      });
      out += rows;
    };
    (one(values), ...);
  });
  for (int64_t k = 0; k < static_cast<int64_t>(sizeof...(F)); ++k) sum_columns(g.N, g.C, g.leaf, partial + k * rows, sums[k]);
  give_scratch(partial);
}

// scale[c] = 1/√(var + eps).
void root_scales(const BatchNorm<Real>& g, Real* scale) {
  const Vec eps(g.eps);
  over_row(g.C, [&](int64_t c, auto m) ROTE_LOOP_BODY { store(scale + c, rsqrt(load(g.var + c, m) + eps), m); });
}

void divide(int64_t n, Real by, Real* p) {
  const Vec divisor(by);
  over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(p + i, load(p + i, m) / divisor, m); });
}

}  // namespace

uint32_t batch_norm(const BatchNorm<Real>& g) {
  const Real count = static_cast<Real>(g.N * g.S);
  if (g.training) {
    channel_sums(g, &g.mean, [&](int64_t at, const auto&, auto m) ROTE_LOOP_BODY { return load(g.x + at, m); });
    divide(g.C, count, g.mean);
    channel_sums(g, &g.var, [&](int64_t at, const auto& of, auto m) ROTE_LOOP_BODY {
      const Vec centred = load(g.x + at, m) - of(g.mean);
      return centred * centred;
    });
    divide(g.C, count, g.var);
  }
  Real* const scale = static_cast<Real*>(take_scratch(g.C * static_cast<int64_t>(sizeof(Real))));
  root_scales(g, scale);
  const uint32_t word = over_channels(g, [&](int64_t at, const auto& of, auto m, Amax& amax) ROTE_LOOP_BODY {
    Vec v = (load(g.x + at, m) - of(g.mean)) * of(scale);
    if (g.w && g.b) v = fma(v, of(g.w), of(g.b));
    else if (g.w) v = v * of(g.w);
    else if (g.b) v = v + of(g.b);
    store(g.y + at, v, m);
    see(amax, v, m);
  });
  give_scratch(scale);
  return word;
}

// With h = (x - mean)·rstd: db = Σdy, dw = Σ dy·h, dx = rstd·w·fma(-h, dw/(N·S), dy - db/(N·S)), and rstd·w·dy where the statistics are given.
uint32_t batch_norm_backward(const BatchNormGrad<Real>& grad) {
  const BatchNorm<Real>& g = grad.forward;
  Real* const memory = static_cast<Real*>(take_scratch(4 * g.C * static_cast<int64_t>(sizeof(Real))));
  Real *const rstd = memory, *const scale = memory + g.C;
  Real* const sums[2] = {memory + 2 * g.C, memory + 3 * g.C};  // of dy and dy·h
  root_scales(g, rstd);
  const auto normal = [&](int64_t at, const auto& of, auto m) ROTE_LOOP_BODY { return (load(g.x + at, m) - of(g.mean)) * of(rstd); };
  Amax amax;
  if (grad.dw || grad.db || (grad.dx && g.training)) {
    channel_sums(
        g, sums, [&](int64_t at, const auto&, auto m) ROTE_LOOP_BODY { return load(grad.dy + at, m); },
        [&](int64_t at, const auto& of, auto m) ROTE_LOOP_BODY { return load(grad.dy + at, m) * normal(at, of, m); });
    over_row(g.C, [&](int64_t c, auto m) ROTE_LOOP_BODY {
      const Vec db = load(sums[0] + c, m), dw = load(sums[1] + c, m);
      if (grad.db) store(grad.db + c, db, m);
      if (grad.dw) store(grad.dw + c, dw, m);
      see(amax, db, m);
      see(amax, dw, m);
    });
  }
  uint32_t word = amax.word();
  if (grad.dx) {
    over_row(g.C, [&](int64_t c, auto m) ROTE_LOOP_BODY { store(scale + c, g.w ? load(rstd + c, m) * load(g.w + c, m) : load(rstd + c, m), m); });
    const Real count = static_cast<Real>(g.N * g.S);
    if (g.training) divide(g.C, count, sums[0]), divide(g.C, count, sums[1]);
    const uint32_t input = over_channels(g, [&](int64_t at, const auto& of, auto m, Amax& seen) ROTE_LOOP_BODY {
      Vec v = load(grad.dy + at, m);
      if (g.training) v = fma(-normal(at, of, m), of(sums[1]), v - of(sums[0]));
      v = of(scale) * v;
      store(grad.dx + at, v, m);
      see(seen, v, m);
    });
    word = input > word ? input : word;
  }
  give_scratch(memory);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/cpu/group_norm.cpp — norm of the groups of channels of each sample and its gradients. Statistics as in layer norm (norm.cpp).
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/moments.h"
#include "kernels/scratch.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// A body f(at, of, n) gets elements at, at + 1, … of a group whose channels begin at `first`, and `of`, which gives the values of a [C] array
// beside them.
template <class F>
ROTE_INLINE void over_group(const GroupNorm<Real>& g, int64_t first, const F& f) {
  const int64_t channels = g.C / g.groups;
  if (g.S == 1) {
    over_row(channels, [&](int64_t i, auto m) ROTE_LOOP_BODY { f(i, [&](const Real* p) ROTE_LOOP_BODY { return load(p + first + i, m); }, m); });
    return;
  }
  for (int64_t c = 0; c < channels; ++c)
    over_row(g.S, [&](int64_t i, auto m) ROTE_LOOP_BODY { f(c * g.S + i, [&](const Real* p) ROTE_LOOP_BODY { return Vec(p[first + c]); }, m); });
}

}  // namespace

uint32_t group_norm(const GroupNorm<Real>& g) {
  const int64_t channels = g.C / g.groups, n = channels * g.S;
  return over_rows(g.N * g.groups, n, [&](int64_t r, Amax& amax) {
    const Real* in = g.x + r * n;
    Real* out = g.y + r * n;
    const Moments group = moments(in, n);
    g.mean[r] = group.mean;
    const Vec mu(group.mean), scale = rsqrt(Vec(group.variance + g.eps));
    g.rstd[r] = get(scale, 0);
    over_group(g, r % g.groups * channels, [&](int64_t at, const auto& of, auto m) ROTE_LOOP_BODY {
      Vec v = (load(in + at, m) - mu) * scale;
      if (g.w && g.b) v = fma(v, of(g.w), of(g.b));
      else if (g.w) v = v * of(g.w);
      else if (g.b) v = v + of(g.b);
      store(out + at, v, m);
      see(amax, v, m);
    });
    amax.see(g.mean[r]);
    amax.see(g.rstd[r]);
  });
}

// With h = (x - mean)·rstd, a = Σ dy and b = Σ dy·h of each sample's channel, n elements in a group and sums over its channels:
//   db = Σa and dw = Σb over the samples; dx = rstd·fma(-h, Σ(w·b)/n, dy·w - Σ(w·a)/n)
uint32_t group_norm_backward(const GroupNormGrad<Real>& grad) {
  const GroupNorm<Real>& g = grad.forward;
  const int64_t channels = g.C / g.groups, n = channels * g.S;
  const Real count = static_cast<Real>(n);
  Real* const a = static_cast<Real*>(take_scratch(2 * g.N * g.C * static_cast<int64_t>(sizeof(Real))));
  Real* const b = a + g.N * g.C;
  uint32_t word = over_rows(g.N * g.groups, n, [&](int64_t r, Amax& amax) {
    const int64_t first = r % g.groups * channels;
    const Real *x = g.x + r * n, *dy = grad.dy + r * n;
    const Vec mu(g.mean[r]), scale(g.rstd[r]);
    Real *a_row = a + r * channels, *b_row = b + r * channels;
    const auto normal = [&](int64_t at, auto m) ROTE_LOOP_BODY { return (load(x + at, m) - mu) * scale; };
    for (int64_t c = 0; c < channels; ++c) {
      a_row[c] = lane_sum(g.S, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(dy + c * g.S + i, m); });
      b_row[c] = lane_sum(g.S, [&](int64_t i, auto m) ROTE_LOOP_BODY { return keep(load(dy + c * g.S + i, m) * normal(c * g.S + i, m), m); });
    }
    if (!grad.dx) return;
    const auto mean_of = [&](const Real* sums) ROTE_LOOP_BODY {
      return lane_sum(channels, [&](int64_t c, auto m) ROTE_LOOP_BODY { return g.w ? load(g.w + first + c, m) * load(sums + c, m) : load(sums + c, m); }) / count;
    };
    const Vec mean_g(mean_of(a_row)), mean_gh(mean_of(b_row));
    Real* dx = grad.dx + r * n;
    over_group(g, first, [&](int64_t at, const auto& of, auto m) ROTE_LOOP_BODY {
      Vec v = load(dy + at, m);
      if (g.w) v = v * of(g.w);
      v = scale * fma(-normal(at, m), mean_gh, v - mean_g);
      store(dx + at, v, m);
      see(amax, v, m);
    });
  });
  const auto down = [&](const Real* sums, Real* out) {
    if (!out) return;
    const uint32_t seen = sum_columns(g.N, g.C, grad.leaf, sums, out);
    word = seen > word ? seen : word;
  };
  down(a, grad.db);
  down(b, grad.dw);
  give_scratch(a);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME

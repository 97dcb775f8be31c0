// kernels/cpu/norm.cpp — layer norm and RMS norm over the last axis and their gradients. arithmetic.md 3: two passes, 1/sqrt by a true root
// and division. RMS norm is layer norm with the mean 0: x - 0 is x to the bit.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/moments.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

// mean = Σx/n (0 where none is asked for), var = Σ(x - mean)²/n, rstd = 1/√(var + eps), y = fma((x - mean)·rstd, w, b); without b the
// product alone, without w no product.
uint32_t layer_norm(int64_t rows, int64_t n, Real eps, const Real* x, const Real* w, const Real* b, Real* y, Real* mean, Real* rstd) {
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const Real* in = x + r * n;
    Real* out = y + r * n;
    const Moments row = mean ? moments(in, n) : Moments{Real(0), variance_about(in, n, Real(0))};
    const Vec mu(row.mean), scale = rsqrt(Vec(row.variance + eps));
    rstd[r] = get(scale, 0);
    const auto write = [&](int64_t i, Vec v, auto m) ROTE_LOOP_BODY {
      store(out + i, v, m);
      see(amax, v, m);
    };
    if (w && b) {
      over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { write(i, fma((load(in + i, m) - mu) * scale, load(w + i, m), load(b + i, m)), m); });
    } else if (w) {
      over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { write(i, ((load(in + i, m) - mu) * scale) * load(w + i, m), m); });
    } else if (b) {
      over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { write(i, (load(in + i, m) - mu) * scale + load(b + i, m), m); });
    } else {
      over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { write(i, (load(in + i, m) - mu) * scale, m); });
    }
    if (mean) mean[r] = row.mean;
    amax.see(row.mean);
    amax.see(rstd[r]);
  });
}

namespace {

struct NormSums {  // of 16 columns
  Vec dw, db;
  static ROTE_INLINE NormSums zero() { return {Vec(Real(0)), Vec(Real(0))}; }
  friend ROTE_INLINE NormSums operator+(const NormSums& x, const NormSums& y) { return {x.dw + y.dw, x.db + y.db}; }
};

// With h = (x - mean)·rstd and g = dy·w (dy without w): dx = rstd·fma(-h, Σ(g·h)/n, g - Σg/n), the last term only where there is a mean.
uint32_t input_gradient(int64_t rows, int64_t n, const Real* x, const Real* w, const Real* mean, const Real* rstd, const Real* dy, Real* dx) {
  const Real count = static_cast<Real>(n);
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const int64_t at = r * n;
    const Vec mu(mean ? mean[r] : Real(0)), scale(rstd[r]);
    const auto normal = [&](int64_t i, auto m) ROTE_LOOP_BODY { return (load(x + at + i, m) - mu) * scale; };
    const auto gradient = [&](int64_t i, auto m) ROTE_LOOP_BODY { return w ? load(dy + at + i, m) * load(w + i, m) : load(dy + at + i, m); };
    const Vec mean_g(mean ? lane_sum(n, gradient) / count : Real(0));
    const Vec mean_gh(lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return keep(gradient(i, m) * normal(i, m), m); }) / count);
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = scale * fma(-normal(i, m), mean_gh, gradient(i, m) - mean_g);
      store(dx + at + i, v, m);
      see(amax, v, m);
    });
  });
}

// db = Σ_r dy and dw = Σ_r dy·h, the latter a chain of fma.
uint32_t weight_gradients(int64_t rows, int64_t n, int64_t leaf, const Real* x, const Real* mean, const Real* rstd, const Real* dy, Real* dw,
                          Real* db) {
  return parallel(ceil_div(n, 2 * kLanes), [&](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * 2 * kLanes, n);
    Amax amax;
    for (int64_t c = task * 2 * kLanes; c < end; c += kLanes) {
      const auto sum_block = [&](auto m) ROTE_LOOP_BODY {
        const NormSums sum = column_sum<NormSums>(rows, leaf, [&](NormSums& s, int64_t r) ROTE_LOOP_BODY {
          const Vec g = load(dy + r * n + c, m);
          const Vec h = (load(x + r * n + c, m) - Vec(mean ? mean[r] : Real(0))) * Vec(rstd[r]);
          s.dw = fma(g, h, s.dw);
          s.db += g;
        });
        const auto write = [&](Real* out, Vec v) ROTE_LOOP_BODY {
          if (!out) return;
          store(out + c, v, m);
          see(amax, v, m);
        };
        write(dw, sum.dw + Vec(Real(0)));
        write(db, sum.db + Vec(Real(0)));
      };
      if (end - c >= kLanes) sum_block(Whole{});
      else sum_block(static_cast<int>(end - c));
    }
    return amax.word();
  });
}

}  // namespace

uint32_t layer_norm_backward(int64_t rows, int64_t n, int64_t leaf, const Real* x, const Real* w, const Real* mean, const Real* rstd,
                             const Real* dy, Real* dx, Real* dw, Real* db) {
  const uint32_t input = dx ? input_gradient(rows, n, x, w, mean, rstd, dy, dx) : 0;
  const uint32_t weights = dw || db ? weight_gradients(rows, n, leaf, x, mean, rstd, dy, dw, db) : 0;
  return input > weights ? input : weights;
}

}  // namespace rote::isa::ROTE_ISA_NAME

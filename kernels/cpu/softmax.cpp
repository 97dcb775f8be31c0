// kernels/cpu/softmax.cpp — softmax and log-softmax of rows, and their gradients. arithmetic.md 3: exact max, 64-lane sum, true division.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

const Real kInfinity = static_cast<Real>(__builtin_inff());

ROTE_INLINE Real row_maximum(int64_t n, const Real* x) {
  return lane_maximum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(x + i, m); });
}

ROTE_INLINE void fill(int64_t n, Real value, Real* y, Amax& amax) {
  const Vec v(value);
  over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
    store(y + i, v, m);
    see(amax, v, m);
  });
}

}  // namespace

// p = exp(x - max), y = p/Σp. A row that is -inf throughout (all masked) gives 0; a NaN anywhere makes max, so all, NaN.
uint32_t softmax(int64_t rows, int64_t n, const Real* x, Real* y) {
  if (n == 0) return 0;
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const Real* in = x + r * n;
    Real* out = y + r * n;
    const Real top = row_maximum(n, in);
    if (top == -kInfinity) return fill(n, 0, out, amax);
    const Vec max(top);
    const Vec sum(lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec p = exp(load(in + i, m) - max);
      store(out + i, p, m);
      return keep(p, m);
    }));
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = load(out + i, m) / sum;
      store(out + i, v, m);
      see(amax, v, m);
    });
  });
}

// dx = y·(dy - Σ y·dy)
uint32_t softmax_backward(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx) {
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const int64_t at = r * n;
    const Vec dot(lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(y + at + i, m) * load(dy + at + i, m); }));
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = load(y + at + i, m) * (load(dy + at + i, m) - dot);
      store(dx + at + i, v, m);
      see(amax, v, m);
    });
  });
}

// y = (x - max) - log Σ exp(x - max). A row that is -inf throughout gives -inf, the logarithm of softmax's 0.
uint32_t log_softmax(int64_t rows, int64_t n, const Real* x, Real* y) {
  if (n == 0) return 0;
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const Real* in = x + r * n;
    Real* out = y + r * n;
    const Real top = row_maximum(n, in);
    if (top == -kInfinity) return fill(n, -kInfinity, out, amax);
    const Vec max(top);
    const Vec sum(lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return keep(exp(load(in + i, m) - max), m); }));
    const Vec log_sum = log(sum);
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = (load(in + i, m) - max) - log_sum;
      store(out + i, v, m);
      see(amax, v, m);
    });
  });
}

// dx = dy - exp(y)·Σ dy
uint32_t log_softmax_backward(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx) {
  return over_rows(rows, n, [&](int64_t r, Amax& amax) {
    const int64_t at = r * n;
    const Vec sum(lane_sum(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(dy + at + i, m); }));
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = fma(-exp(load(y + at + i, m)), sum, load(dy + at + i, m));
      store(dx + at + i, v, m);
      see(amax, v, m);
    });
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

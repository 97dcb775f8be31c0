// kernels/simd/math.h — elementary functions over Vec, the same bits on every instruction set. Coefficients and errors: docs/arithmetic.md.
//
// In f32 exp, log, tanh, erf and sigmoid are polynomials; every other function is evaluated lane by lane in fp64 (kernels/math64.h) and
// rounded once. In f64 all of them are the fp64 functions.
#pragma once

#include "kernels/math64.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr bool kSingle = sizeof(Real) == 4;

// c0 + x·(c1 + x·(c2 + …)), each step one fma.
ROTE_INLINE Vec horner(Vec, Real c) { return Vec(c); }
template <class... C>
ROTE_INLINE Vec horner(Vec x, Real c, C... higher) {
  return fma(x, horner(x, static_cast<Real>(higher)...), Vec(c));
}

// Out of line on purpose: sixteen calls are not worth a copy at each use. A device's one call is, or it would go through the pointer.
#ifdef __CUDACC__
#define ROTE_BY_LANES ROTE_INLINE
#else
#define ROTE_BY_LANES [[gnu::noinline]] inline
#endif
ROTE_BY_LANES Vec by_lanes(Vec x, double (*f)(double)) {
  Real lanes[kLanes];
  x.store(lanes);
  for (int i = 0; i < kLanes; ++i) lanes[i] = static_cast<Real>(f(lanes[i]));
  return load(lanes);
}
ROTE_BY_LANES Vec by_lanes(Vec x, Vec y, double (*f)(double, double)) {
  Real lanes[kLanes], others[kLanes];
  x.store(lanes), y.store(others);
  for (int i = 0; i < kLanes; ++i) lanes[i] = static_cast<Real>(f(lanes[i], others[i]));
  return load(lanes);
}
#undef ROTE_BY_LANES

namespace f32 {

constexpr Real kLog2E = 1.44269502f;
constexpr Real kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

// e^x = (1 + y)·2^k with |y| < 0.42, for |x| < 2^20; a NaN gives y = NaN.
struct ExpParts {
  Vec y;
  Int k;
};
ROTE_INLINE ExpParts exp_parts(Vec x) {
  const Int k = to_int(x * Vec(kLog2E));
  const Vec n = to_vec(k);
  const Vec r = fma(n, Vec(-kLn2Low), fma(n, Vec(-kLn2High), x));  // the inner fma is exact
  const Vec q = horner(r, 0x1p-1f, 0x1.555552p-3f, 0x1.5554e4p-5f, 0x1.1115bcp-7f, 0x1.6d517ep-10f, 0x1.9a8894p-13f);
  return {fma(r * r, q, r), k};
}

ROTE_INLINE Vec exp(Vec x) {
  // Below -104 the result is 0 and above 89 infinite; inside k is in [-150, 128].
  const ExpParts e = exp_parts(at_least(at_most(x, Vec(89.0f)), Vec(-104.0f)));
  return scale2(Vec(1.0f) + e.y, e.k);
}

ROTE_INLINE Vec log(Vec x) {
  const Mask subnormal = x < Vec(0x1p-126f);
  const Vec scaled = select(subnormal, x * Vec(0x1p23f), x);
  // x = 2^k·(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  const Int offset = bits(scaled) - Int(0x3F3504F3);
  const Int exponent = sar(offset, 23);
  const Vec f = from_bits(bits(scaled) - (exponent << 23)) - Vec(1.0f);
  const Vec k = to_vec(exponent) - select(subnormal, Vec(23.0f), Vec(0.0f));
  const Vec p = horner(f, 0x1.555546p-2f, -0x1.00000ap-2f, 0x1.99a546p-3f, -0x1.555ae4p-3f, 0x1.232cfap-3f, -0x1.fc4da0p-4f, 0x1.e7a54ep-4f,
                       -0x1.dd6510p-4f, 0x1.11c874p-4f);
  const Vec square = f * f;
  const Vec low = fma(k, Vec(0x1.7f7d1cp-20f), fma(f * square, p, Vec(-0.5f) * square));
  // k·ln2's 16 high bits is exact, and its sum with f is kept in full: high + rest.
  const Vec leading = k * Vec(0x1.62e4p-1f);
  const Vec high = leading + f;
  const Vec rest = f - (high - leading);
  Vec y = high + (rest + low);
  const Vec infinity = from_bits(Int(0x7F800000));
  y = select(x < infinity, y, x);  // infinity and NaN
  y = select(x == Vec(0.0f), -infinity, y);
  return select(x < Vec(0.0f), from_bits(Int(0x7FC00000)), y);
}

ROTE_INLINE Vec tanh(Vec x) {
  const Vec a = abs(x);
  const Vec square = x * x;
  const Vec p = horner(square, -0x1.555554p-2f, 0x1.11107cp-3f, -0x1.b9f21ap-5f, 0x1.63ac98p-6f, -0x1.0c85f2p-7f, 0x1.1abf18p-9f);
  const Vec near = fma(a * square, p, a);
  // 1 - 2/(e^2|x| + 1); from 10 on that is 1.
  const Vec b = at_most(a, Vec(10.0f));
  const ExpParts e = exp_parts(b + b);
  const Vec far = Vec(1.0f) - Vec(2.0f) / (fma(e.y, power2(e.k), power2(e.k)) + Vec(1.0f));
  return copysign(select(a < Vec(0.625f), near, far), x);
}

ROTE_INLINE Vec erf(Vec x) {
  const Vec a = abs(x);
  const Vec square = x * x;
  const Vec p = horner(square, 0x1.06eba8p-3f, -0x1.812742p-2f, 0x1.ce2dfep-4f, -0x1.b80f94p-6f, 0x1.54df44p-8f, -0x1.ab6df0p-11f, 0x1.61d11ap-14f);
  const Vec near = fma(a, p, a);
  // 1 - erfc(|x|), with log erfc as a polynomial; from 4 on that is 1.
  const Vec t = at_most(a, Vec(4.0f)) - Vec(2.0f);
  const Vec q = horner(t, -0x1.575b32p+2f, -0x1.1ac324p+2f, -0x1.d8f618p-1f, -0x1.0ddcf4p-6f, 0x1.d3d6fep-9f, -0x1.798014p-11f, 0x1.34b268p-13f,
                       -0x1.8b02dcp-16f, -0x1.4e58e8p-18f, -0x1.887b62p-20f);
  const ExpParts e = exp_parts(q);
  const Vec scale = power2(e.k);
  const Vec far = (Vec(1.0f) - scale) - e.y * scale;
  return copysign(select(a < Vec(0.875f), near, far), x);
}

// e/(1 + e) with e = e^-|x|, or 1/(1 + e) for x >= 0. e is kept as a sum of two numbers and the quotient corrected once: a plain division
// adds up to two ulps.
ROTE_INLINE Vec sigmoid(Vec x) {
  const Vec a = abs(x);
  const ExpParts e = exp_parts(-at_most(a, Vec(104.0f)));
  const Vec mantissa = Vec(1.0f) + e.y;
  const Vec mantissa_low = e.y - (mantissa - Vec(1.0f));
  const Int floor_k = max(e.k, Int(-60));  // below that 1 + e is 1
  const Vec scale = power2(floor_k);
  const Vec small = mantissa * scale;
  const Vec d = Vec(1.0f) + small;
  const Vec d_low = (small - (d - Vec(1.0f))) + mantissa_low * scale;
  const Mask negative = x < Vec(0.0f);
  const Vec top = select(negative, mantissa, Vec(1.0f));
  const Vec top_low = select(negative, mantissa_low, Vec(0.0f));
  const Vec inverse = Vec(1.0f) / d;
  const Vec quotient = top * inverse;
  const Vec rest = fma(-quotient, d_low, fma(-quotient, d, top) + top_low);
  return scale2(fma(rest, inverse, quotient), select(negative, e.k, Int(0)));
}

}  // namespace f32

ROTE_INLINE Vec exp(Vec x) {
  if constexpr (kSingle) return f32::exp(x);
  else return by_lanes(x, math64::exp);
}
ROTE_INLINE Vec log(Vec x) {
  if constexpr (kSingle) return f32::log(x);
  else return by_lanes(x, math64::log);
}
ROTE_INLINE Vec tanh(Vec x) {
  if constexpr (kSingle) return f32::tanh(x);
  else return by_lanes(x, math64::tanh);
}
ROTE_INLINE Vec erf(Vec x) {
  if constexpr (kSingle) return f32::erf(x);
  else return by_lanes(x, math64::erf);
}
ROTE_INLINE Vec sigmoid(Vec x) {
  if constexpr (kSingle) return f32::sigmoid(x);
  else return by_lanes(x, math64::sigmoid);
}

ROTE_INLINE Vec exp2(Vec x) { return by_lanes(x, math64::exp2); }
ROTE_INLINE Vec expm1(Vec x) { return by_lanes(x, math64::expm1); }
ROTE_INLINE Vec log2(Vec x) { return by_lanes(x, math64::log2); }
ROTE_INLINE Vec log10(Vec x) { return by_lanes(x, math64::log10); }
ROTE_INLINE Vec log1p(Vec x) { return by_lanes(x, math64::log1p); }
ROTE_INLINE Vec sin(Vec x) { return by_lanes(x, math64::sin); }
ROTE_INLINE Vec cos(Vec x) { return by_lanes(x, math64::cos); }
ROTE_INLINE Vec tan(Vec x) { return by_lanes(x, math64::tan); }
ROTE_INLINE Vec asin(Vec x) { return by_lanes(x, math64::asin); }
ROTE_INLINE Vec acos(Vec x) { return by_lanes(x, math64::acos); }
ROTE_INLINE Vec atan(Vec x) { return by_lanes(x, math64::atan); }
ROTE_INLINE Vec sinh(Vec x) { return by_lanes(x, math64::sinh); }
ROTE_INLINE Vec cosh(Vec x) { return by_lanes(x, math64::cosh); }
ROTE_INLINE Vec asinh(Vec x) { return by_lanes(x, math64::asinh); }
ROTE_INLINE Vec acosh(Vec x) { return by_lanes(x, math64::acosh); }
ROTE_INLINE Vec atanh(Vec x) { return by_lanes(x, math64::atanh); }
ROTE_INLINE Vec erfc(Vec x) { return by_lanes(x, math64::erfc); }
ROTE_INLINE Vec erfinv(Vec x) { return by_lanes(x, math64::erfinv); }
ROTE_INLINE Vec pow(Vec x, Vec y) { return by_lanes(x, y, math64::pow); }
ROTE_INLINE Vec atan2(Vec y, Vec x) { return by_lanes(y, x, math64::atan2); }
ROTE_INLINE Vec hypot(Vec x, Vec y) { return by_lanes(x, y, math64::hypot); }
ROTE_INLINE Vec fmod(Vec x, Vec y) { return by_lanes(x, y, math64::fmod); }

// To whole numbers. From 2^mantissa on every number is whole already; NaN stays.
ROTE_INLINE Vec round(Vec x) {
  const Vec whole(static_cast<Real>(Bits(1) << kMantissaBits));
  const Vec a = abs(x);
  return copysign(select(a < whole, (a + whole) - whole, a), x);
}
ROTE_INLINE Vec floor(Vec x) {
  const Vec r = round(x);
  return copysign(select(r > x, r - Vec(Real(1)), r), x);
}
ROTE_INLINE Vec ceil(Vec x) { return -floor(-x); }
ROTE_INLINE Vec trunc(Vec x) { return copysign(floor(abs(x)), x); }

// 1/√x by a true root and a true division; estimates differ between makers of processors.
ROTE_INLINE Vec rsqrt(Vec x) { return Vec(Real(1)) / sqrt(x); }

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/math64.cpp — the fp64 functions of math64.h by +, -, ·, /, sqrt and fma alone. Coefficients by tests/golden/polynomials.py.
#include "kernels/math64.h"

#include <cstdint>
#include <cstring>

namespace rote::math64 {

namespace {

__extension__ typedef unsigned __int128 Word128;

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;  // 42 and 53 bits: k·high is exact
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;

ROTE_HD uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
ROTE_HD double from_bits(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
ROTE_HD bool is_nan(double x) { return x != x; }
ROTE_HD double magnitude(double x) { return __builtin_fabs(x); }
ROTE_HD double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }
ROTE_HD double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

// To the nearest whole number, ties to even; |x| < 2^51.
ROTE_HD double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
ROTE_HD double power2(int k) { return from_bits(static_cast<uint64_t>(k + 1023) << 52); }
// x·2^k rounded once, x in [0.25, 4], |k| <= 1100.
ROTE_HD double scale2(double x, int k) { return x * power2(k / 2) * power2(k - k / 2); }

template <class X>
ROTE_HD X horner(X, double c) {
  return X{} + c;
}
template <class X, class... C>
ROTE_HD X horner(X x, double c, C... higher) {
  return c + x * horner(x, higher...);
}

// A number as the sum of two: what it says to 2^-53, and the rest.
struct Double2 {
  double high, low;
};
ROTE_HD Double2 sum_ordered(double larger, double smaller) {
  const double s = larger + smaller;
  return {s, smaller - (s - larger)};
}
ROTE_HD Double2 product(double a, double b) {
  const double p = a * b;
  return {p, fused(a, b, -p)};
}

// (e^r - 1 - r)/r² for |r| <= ln2/2: Taylor to r^13, whose next term is below 2^-57.
ROTE_HD double exp_tail(double r) {
  return horner(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                1.0 / 479001600, 1.0 / 6227020800.0);
}

// e^(x + low), |low| small beside x.
ROTE_HD double exp_of_sum(double x, double low) {
  if (x > 710.0) return kInfinity;
  if (x < -746.0) return 0.0;
  const double k = nearest(x * kLog2E);
  const double high = x - k * kLn2High;
  const double rest = low - k * kLn2Low;
  const double r = high + rest;
  const double r_low = (high - r) + rest;
  return scale2(1.0 + (r + (r * r * exp_tail(r) + r_low)), static_cast<int>(k));
}

// log(x) = k·ln2 + log(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); x positive and finite.
struct LogParts {
  double k, f;
};
ROTE_HD LogParts log_parts(double x) {
  double k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  const uint64_t bits = bits_of(x);
  const int64_t exponent = static_cast<int64_t>(bits - 0x3FE6A09E667F3BCDu) >> 52;
  return {k + static_cast<double>(exponent), from_bits(bits - (static_cast<uint64_t>(exponent) << 52)) - 1.0};
}

// Σ_{n>=0} z^n·2/(2n+3) up to z^10: log(1+f) = 2s + s·z·this with s = f/(2+f), z = s² <= 0.0295.
ROTE_HD double log_tail(double z) {
  return horner(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23);
}

// k·ln2 + log(1 + f) + low. In log(1+f) = f - f²/2 + s·(f²/2 + z·tail) the large terms are exact or small.
ROTE_HD double log_from_parts(LogParts p, double low) {
  const double s = p.f / (2.0 + p.f), z = s * s, half_square = 0.5 * p.f * p.f;
  const double small = s * (half_square + z * log_tail(z)) + (p.k * kLn2Low + low);
  return p.k * kLn2High - ((half_square - small) - p.f);
}

// log(1 + f) to about 2^-64 of itself: s and z as sums of two, the cubic term too, the rest plain.
ROTE_HD Double2 log_mantissa(double f) {
  const Double2 d = sum_ordered(2.0, f);
  const double s = f / d.high;
  const double s_low = (fused(-s, d.high, f) - s * d.low) / d.high;
  Double2 z = product(s, s);
  z.low += 2.0 * s * s_low;
  Double2 third = product(z.high, 0x1.5555555555555p-2);
  third.low += z.high * 0x1.5555555555555p-56 + z.low * 0x1.5555555555555p-2;
  const double rest = z.high * z.high * horner(z.high, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23);
  Double2 t = sum_ordered(third.high, rest);
  t.low += third.low;
  Double2 st = product(s, t.high);
  st.low += s * t.low + s_low * t.high;
  Double2 sum = sum_ordered(s, st.high);
  sum.low += st.low + s_low;
  sum = sum_ordered(sum.high, sum.low);
  return {2.0 * sum.high, 2.0 * sum.low};
}

// log of a negative number, a zero, an infinity or a NaN; `ordinary` is false for these.
ROTE_HD bool ordinary(double x) { return x > 0.0 && x < kInfinity; }
ROTE_HD double log_special(double x) { return x == 0.0 ? -kInfinity : x == kInfinity || is_nan(x) ? x : kNan; }

// k·unit + log(1+f)·factor, both constants as sums of two; for log2 and log10.
ROTE_HD double log_to_base(double x, Double2 unit, Double2 factor) {
  if (!ordinary(x)) return log_special(x);
  const LogParts p = log_parts(x);
  const Double2 m = log_mantissa(p.f);
  Double2 scaled = product(m.high, factor.high);
  scaled.low += m.high * factor.low + m.low * factor.high;
  if (p.k == 0.0) return scaled.high + scaled.low;
  const Double2 sum = sum_ordered(p.k * unit.high, scaled.high);
  return sum.high + (sum.low + (scaled.low + p.k * unit.low));
}

}  // namespace

ROTE_HD double exp(double x) { return is_nan(x) ? x : exp_of_sum(x, 0.0); }

ROTE_HD double exp2(double x) {
  if (is_nan(x)) return x;
  if (x >= 1024.0) return kInfinity;
  if (x <= -1076.0) return 0.0;
  const double k = nearest(x);
  const Double2 r = product(x - k, 0x1.62e42fefa39efp-1);
  const double low = r.low + (x - k) * 0x1.abc9e3b39803fp-56;
  return scale2(1.0 + (r.high + (r.high * r.high * exp_tail(r.high) + low)), static_cast<int>(k));
}

ROTE_HD double expm1(double x) {
  if (is_nan(x) || x == 0.0) return x;
  if (x > 42.0) return exp(x);
  if (x < -42.0) return -1.0;
  if (magnitude(x) < 0.345) return x + x * x * exp_tail(x);
  const double k = nearest(x * kLog2E);
  const double high = x - k * kLn2High, low = k * kLn2Low;
  const double r = high - low, r_low = (high - r) - low;
  const double y = r + (r * r * exp_tail(r) + r_low), scale = power2(static_cast<int>(k));
  return (scale - 1.0) + scale * y;
}

ROTE_HD double log(double x) { return ordinary(x) ? log_from_parts(log_parts(x), 0.0) : log_special(x); }

ROTE_HD double log2(double x) { return log_to_base(x, {1.0, 0.0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}); }

ROTE_HD double log10(double x) {
  return log_to_base(x, {0x1.34413509f7000p-2, 0x1.3fde623e2566bp-43}, {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
}

ROTE_HD double log1p(double x) {
  if (x == 0.0) return x;
  const double u = 1.0 + x;
  if (!ordinary(u)) return log_special(u);
  if (x > -0.2928 && x < 0.4142) return log_from_parts({0.0, x}, 0.0);
  // log u plus what rounding u lost, relative to it.
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  return log_from_parts(log_parts(u), lost / u);
}

// Exact by definition, as fma and sqrt are, and so the same in every C library.
ROTE_HD double fmod(double x, double y) { return __builtin_fmod(x, y); }

ROTE_HD double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (is_nan(x) || is_nan(y)) return x + y;
  const double a = magnitude(x);
  const bool whole = magnitude(y) >= 0x1p52 || nearest(y) == y;
  const bool odd = whole && magnitude(y) < 0x1p53 && (static_cast<int64_t>(y) & 1) != 0;
  if (magnitude(y) == kInfinity) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  const double sign = odd && with_sign(1.0, x) < 0.0 ? -1.0 : 1.0;
  if (a == 0.0 || a == kInfinity) return sign * ((a == 0.0) == (y > 0.0) ? 0.0 : kInfinity);
  if (x < 0.0 && !whole) return kNan;
  const LogParts p = log_parts(a);
  const Double2 m = log_mantissa(p.f);
  Double2 log_a = p.k == 0.0 ? m : sum_ordered(p.k * kLn2High, m.high);
  if (p.k != 0.0) log_a.low += m.low + p.k * kLn2Low;
  const double high = y * log_a.high;
  if (!(magnitude(high) < 1000.0)) return sign * (high > 0.0 ? kInfinity : 0.0);
  return sign * exp_of_sum(high, fused(y, log_a.high, -high) + y * log_a.low);
}

namespace {

// x = quadrant·π/2 + angle (modulo 2π), |angle| <= π/4; the angle as a sum of two, right to about 2^-70 of itself.
struct Angle {
  int quadrant;
  double high, low;
};

// Payne and Hanek 1983: x = m·2^e; of x·2/π modulo 4 only 192 bits of 2/π matter, those from weight 2^(1-e) on; the first two bits of
// the product (modulo 2^192) are the quadrant, the other 190 the fraction.
ROTE_HD Angle reduce(double x) {
  // The bits of 2/π after the point, in front of them one word of zeros. Local, for a device has no address of a table that the host holds.
  static constexpr uint64_t kTwoOverPi[] = {
      0,
      0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu,
      0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
      0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u,
      0x56033046fc7b6babu, 0xf0cfbc209af4361du,
  };
  const double a = magnitude(x);
  if (a <= 0.25 * kPi) return {0, x, 0.0};
  const uint64_t bits = bits_of(a);
  const uint64_t m = (bits & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
  const int place = static_cast<int>(bits >> 52) - 1075 + 62;  // of the first bit in kTwoOverPi
  const uint64_t* words = kTwoOverPi + place / 64;
  const int shift = place % 64;
  uint64_t window[3];
  for (int i = 0; i < 3; ++i) window[i] = shift == 0 ? words[i] : words[i] << shift | words[i + 1] >> (64 - shift);
  const Word128 low = Word128{window[2]} * m;
  const Word128 middle = Word128{window[1]} * m + static_cast<uint64_t>(low >> 64);
  const uint64_t top = window[0] * m + static_cast<uint64_t>(middle >> 64);
  // Fraction as three words from weight 1/2 on.
  uint64_t f0 = top << 2 | static_cast<uint64_t>(middle) >> 62;
  uint64_t f1 = static_cast<uint64_t>(middle) << 2 | static_cast<uint64_t>(low) >> 62;
  uint64_t f2 = static_cast<uint64_t>(low) << 2;
  int quadrant = static_cast<int>(top >> 62);
  const bool negative = f0 >> 63 != 0;  // at least one half: the next quadrant, from above
  if (negative) {
    ++quadrant;
    f0 = ~f0, f1 = ~f1, f2 = ~f2;  // 1 - fraction, short by 2^-192
  }
  const int zeros = f0 != 0 ? __builtin_clzll(f0) : 64;
  if (zeros == 64) f0 = f1, f1 = f2;
  const int turn = zeros % 64;
  if (turn > 0) f0 = f0 << turn | f1 >> (64 - turn), f1 = f1 << turn | f2 >> (64 - turn);
  // f0:f1 holds the fraction's first 128 bits from its first one on.
  const double scale = power2(-zeros);
  const double high = static_cast<double>(f0 >> 11) * 0x1p-53 * scale;
  const double rest = static_cast<double>((f0 & 0x7FF) << 42 | f1 >> 22) * 0x1p-106 * scale;
  Double2 angle = product(high, 0x1.921fb54442d18p+0);
  angle.low += high * 0x1.1a62633145c07p-54 + rest * 0x1.921fb54442d18p+0;
  angle = sum_ordered(angle.high, angle.low);
  const double sign = negative != (x < 0.0) ? -1.0 : 1.0;
  return {x < 0.0 ? (4 - quadrant) & 3 : quadrant & 3, sign * angle.high, sign * angle.low};
}

ROTE_HD double sin_of(Angle y) {
  const double z = y.high * y.high;
  if (z < 0x1p-54) return y.high;
  const double tail = horner(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0,
                             1.0 / 355687428096000.0);
  return y.high + (y.high * z * tail + y.low * (1.0 - 0.5 * z));
}
ROTE_HD double cos_of(Angle y) {
  const double z = y.high * y.high, half = 0.5 * z, first = 1.0 - half;
  const double tail = horner(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0,
                             -1.0 / 6402373705728000.0);
  return first + (((1.0 - first) - half) + (z * z * tail - y.high * y.low));
}
ROTE_HD bool finite(double x) { return magnitude(x) < kInfinity; }

}  // namespace

ROTE_HD double sin(double x) {
  if (!finite(x)) return kNan;
  const Angle y = reduce(x);
  const double v = y.quadrant & 1 ? cos_of(y) : sin_of(y);
  return y.quadrant & 2 ? -v : v;
}

ROTE_HD double cos(double x) {
  if (!finite(x)) return kNan;
  const Angle y = reduce(x);
  const double v = y.quadrant & 1 ? sin_of(y) : cos_of(y);
  return (y.quadrant + 1) & 2 ? -v : v;
}

ROTE_HD double tan(double x) {
  if (!finite(x)) return kNan;
  const Angle y = reduce(x);
  return y.quadrant & 1 ? -cos_of(y) / sin_of(y) : sin_of(y) / cos_of(y);
}

ROTE_HD double atan(double x) {
  if (is_nan(x)) return x;
  // atan a = atan c + atan((a - c)/(1 + a·c)) for c = 0, 1/2, 1, 3/2, ∞.
  const double a = magnitude(x);
  double t = a;
  Double2 offset{0.0, 0.0};
  if (a >= 2.4375) {
    t = -1.0 / a;
    offset = {0.5 * kPi, 0.5 * kPiLow};
  } else if (a >= 1.1875) {
    t = (a - 1.5) / (1.0 + 1.5 * a);
    offset = {0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56};
  } else if (a >= 0.6875) {
    t = (a - 1.0) / (1.0 + a);
    offset = {0.25 * kPi, 0.25 * kPiLow};
  } else if (a >= 0.4375) {
    t = (2.0 * a - 1.0) / (2.0 + a);
    offset = {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56};
  }
  const double z = t * t;
  const double tail = horner(z, -0x1.5555555555552p-2, 0x1.999999999902ep-3, -0x1.2492492447d5cp-3, 0x1.c71c71a231e76p-4, -0x1.745d11e70aa44p-4,
                             0x1.3b133199c2ba5p-4, -0x1.110921f3dc4a9p-4, 0x1.e1345e75489b6p-5, -0x1.aa04d72c733fep-5, 0x1.6b3e67667b724p-5,
                             -0x1.05a430fb17725p-5, 0x1.c14f445d234c8p-7);
  return with_sign(offset.high + (t + (t * z * tail + offset.low)), x);
}

ROTE_HD double atan2(double y, double x) {
  if (is_nan(x) || is_nan(y)) return x + y;
  const double a = magnitude(x), b = magnitude(y);
  const bool left = with_sign(1.0, x) < 0.0;
  double angle;  // of (|x|, |y|)
  if (b == 0.0) angle = 0.0;
  else if (a == 0.0) angle = 0.5 * kPi;
  else if (a == kInfinity) angle = b == kInfinity ? 0.25 * kPi : 0.0;
  else angle = atan(b / a);
  return with_sign(left ? kPi - (angle - kPiLow) : angle, y);
}

// The larger of the two is brought near 1, so that no square overflows and none that counts vanishes.
ROTE_HD double hypot(double x, double y) {
  const double a = magnitude(x), b = magnitude(y);
  if (a == kInfinity || b == kInfinity) return kInfinity;
  const double larger = a > b ? a : b, other = a > b ? b : a;
  const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p600 : 1.0;
  const double c = larger * scale, d = other * scale;
  return __builtin_sqrt(fused(c, c, d * d)) / scale;
}

ROTE_HD double asin(double x) {
  if (!(magnitude(x) <= 1.0)) return kNan;
  if (magnitude(x) < 0x1p-27) return x;
  return atan2(x, __builtin_sqrt(fused(-x, x, 1.0)));
}

ROTE_HD double acos(double x) {
  if (!(magnitude(x) <= 1.0)) return kNan;
  return 2.0 * atan2(__builtin_sqrt(1.0 - x), __builtin_sqrt(1.0 + x));
}

ROTE_HD double sinh(double x) {
  const double a = magnitude(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 709.0) {
    const double root = exp(0.5 * a);
    return with_sign(0.5 * root * root, x);
  }
  const double e = expm1(a);
  return with_sign(0.5 * (a < 1.0 ? 2.0 * e - e * e / (e + 1.0) : e + e / (e + 1.0)), x);
}

ROTE_HD double cosh(double x) {
  const double a = magnitude(x);
  if (is_nan(x)) return x;
  if (a > 709.0) {
    const double root = exp(0.5 * a);
    return 0.5 * root * root;
  }
  if (a < 0.345) {
    const double e = expm1(a), w = 1.0 + e;
    return 1.0 + e * e / (w + w);
  }
  const double e = exp(a);
  return 0.5 * e + 0.5 / e;
}

ROTE_HD double tanh(double x) {
  const double a = magnitude(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 22.0) return with_sign(1.0, x);
  if (a >= 1.0) return with_sign(1.0 - 2.0 / (expm1(2.0 * a) + 2.0), x);
  const double e = expm1(-2.0 * a);
  return with_sign(-e / (e + 2.0), x);
}

namespace {

ROTE_HD double log_of_twice(double x) { return log(x) + 0x1.62e42fefa39efp-1; }

}  // namespace

ROTE_HD double asinh(double x) {
  const double a = magnitude(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 0x1p28) return with_sign(log_of_twice(a), x);
  const double square = a * a;
  return with_sign(log1p(a + square / (1.0 + __builtin_sqrt(square + 1.0))), x);
}

ROTE_HD double acosh(double x) {
  if (!(x >= 1.0)) return kNan;
  if (x > 0x1p28) return log_of_twice(x);
  const double above = x - 1.0;
  return log1p(above + __builtin_sqrt(2.0 * above + above * above));
}

ROTE_HD double atanh(double x) {
  const double a = magnitude(x);
  if (!(a <= 1.0)) return kNan;
  if (a < 0x1p-28) return x;
  return with_sign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

ROTE_HD double sigmoid(double x) {
  if (x >= 0.0) return 1.0 / (1.0 + exp(-x));
  const double e = exp(x);
  return e / (1.0 + e);
}

namespace {

// (erf x - x)/x for |x| <= 1/2
ROTE_HD double erf_tail(double x) {
  return horner(x * x, 0x1.06eba8214db69p-3, -0x1.812746b037a23p-2, 0x1.ce2f21a0471ccp-4, -0x1.b82ce314c8db9p-6, 0x1.565bcdad08a0ep-8,
                -0x1.c02de6cf495f1p-11, 0x1.f9ace4b12dec2p-14, -0x1.f5ea6b65e7d3dp-17, 0x1.ca8b663e1d826p-20, -0x1.bb6b2a92130f9p-23);
}

// erfc a for a >= 1/2: e^(-a²)/(1 + 2a) times a polynomial in (a - 2.5)/(a + 2.5), a way that Schonfelder 1978 took.
ROTE_HD double erfc_far(double a) {
  if (a > 27.5) return 0.0;
  const double t = (a - 2.5) / (a + 2.5);
  const double p = horner(t, 0x1.43cc6f6c9672cp+0, -0x1.f52c5d7e22302p-4, -0x1.959ac16f85615p-4, 0x1.42d379989b5acp-3, -0x1.a5c0c8a407015p-4,
                          0x1.0c6092a5a61cdp-5, 0x1.e894898059743p-11, -0x1.1f2f1328f7365p-8, 0x1.01e11b495520bp-11, 0x1.4b6a4b2ea2772p-11,
                          -0x1.731b876926e4ep-14, -0x1.dc25d09a0b5eep-14, 0x1.a4662760f9049p-18, 0x1.7cd99f347fb83p-16, 0x1.5ee90ab5a1dbdp-19,
                          -0x1.1b522dc93ee94p-18, -0x1.acfe226c7c5d9p-20, 0x1.215f552d3dca6p-21, 0x1.2853f588cf822p-21, 0x1.8866e933cded1p-27,
                          -0x1.2c5e966f00e38p-23, -0x1.3ebaffc375c36p-26, 0x1.838365193840bp-26);
  const Double2 square = product(a, a);
  return exp_of_sum(-square.high, -square.low) * (p / (1.0 + 2.0 * a));
}

// Wichura 1988, algorithm AS 241 (PPND16): the quantile of p = 1/2 + q. Where |q| <= 0.425:
template <class X>
ROTE_HD X central_quantile(X q) {
  const X r = 0.180625 - q * q;
  return q *
         horner(r, 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4, 4.5921953931549871457e+4,
                6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3) /
         horner(r, 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
                3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3);
}

// Anywhere, with tail = min(p, 1 - p).
ROTE_HD double quantile(double q, double tail) {
  if (magnitude(q) <= 0.425) return central_quantile(q);
  const double r = __builtin_sqrt(-log(tail));
  double z;
  if (r <= 5.0) {
    z = horner(r - 1.6, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
               1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4) /
        horner(r - 1.6, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
               1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9);
  } else {
    z = horner(r - 5.0, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
               2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7) /
        horner(r - 5.0, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
               1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15);
  }
  return with_sign(z, q);
}

}  // namespace

ROTE_HD double erf(double x) {
  const double a = magnitude(x);
  if (is_nan(x)) return x;
  if (a <= 0.5) return x + x * erf_tail(x);
  return with_sign(1.0 - erfc_far(a), x);
}

ROTE_HD double erfc(double x) {
  if (is_nan(x)) return x;
  if (magnitude(x) <= 0.25) return 1.0 - (x + x * erf_tail(x));
  if (magnitude(x) <= 0.5) return x > 0.0 ? 0.5 - ((x - 0.5) + x * erf_tail(x)) : 1.5 - ((x + 0.5) + x * erf_tail(x));
  return x > 0.0 ? erfc_far(x) : 2.0 - erfc_far(-x);
}

ROTE_HD double erfinv(double x) {
  if (!(magnitude(x) <= 1.0)) return kNan;
  if (magnitude(x) == 1.0) return x * kInfinity;
  return quantile(0.5 * x, 0.5 * (1.0 - magnitude(x))) * 0x1.6a09e667f3bcdp-1;
}

ROTE_HD double normal_quantile(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return kNan;
  if (p == 0.0 || p == 1.0) return p == 0.0 ? -kInfinity : kInfinity;
  return quantile(p - 0.5, p < 0.5 ? p : 1.0 - p);
}

#ifndef __CUDACC__  // a device has no registers of two doubles
void normal_quantiles(const uint32_t* words, int n, double* out) {
  // Two doubles of a register: the same operations, so the same bits, as on one.
  typedef double Pair __attribute__((vector_size(16)));
  // Six of seven lie in the middle, so all are first taken for such, two at a time.
  for (int i = 0; i < n; i += 2) {
    const auto q = [&](int at) { return at < n ? (words[at] + 0.5) * 0x1p-32 - 0.5 : 0.0; };
    const Pair z = central_quantile(Pair{q(i), q(i + 1)});
    out[i] = z[0];
    if (i + 1 < n) out[i + 1] = z[1];
  }
  for (int i = 0; i < n; ++i) {
    const double p = (words[i] + 0.5) * 0x1p-32, q = p - 0.5;
    if (magnitude(q) > 0.425) out[i] = quantile(q, q < 0.0 ? p : 1.0 - p);
  }
}
#endif

}  // namespace rote::math64

// autograd/scalar.h — one element of a formula as a number: Scalar in f64, Dual with a derivative beside it. What a formula may use of V.
#pragma once

#include <cmath>

#include "kernels/math64.h"

namespace rote {

struct Scalar {
  double v;
  constexpr Scalar(double value = 0) : v(value) {}
};
constexpr Scalar operator+(Scalar a, Scalar b) { return a.v + b.v; }
constexpr Scalar operator-(Scalar a, Scalar b) { return a.v - b.v; }
constexpr Scalar operator*(Scalar a, Scalar b) { return a.v * b.v; }
constexpr Scalar operator/(Scalar a, Scalar b) { return a.v / b.v; }
constexpr Scalar operator-(Scalar a) { return -a.v; }
constexpr bool operator==(Scalar a, Scalar b) { return a.v == b.v; }
constexpr bool operator!=(Scalar a, Scalar b) { return a.v != b.v; }
constexpr bool operator<(Scalar a, Scalar b) { return a.v < b.v; }
constexpr bool operator>(Scalar a, Scalar b) { return a.v > b.v; }
constexpr bool operator<=(Scalar a, Scalar b) { return a.v <= b.v; }
constexpr bool operator>=(Scalar a, Scalar b) { return a.v >= b.v; }

constexpr Scalar select(bool c, Scalar a, Scalar b) { return c ? a : b; }
constexpr bool isnan(Scalar a) { return a.v != a.v; }
inline Scalar abs(Scalar a) { return std::fabs(a.v); }
inline Scalar copysign(Scalar a, Scalar sign) { return std::copysign(a.v, sign.v); }
// NaN wins and +0 > -0 (arithmetic.md 5).
inline Scalar maximum(Scalar a, Scalar b) { return isnan(a) || a > b || (a == b && !std::signbit(a.v)) ? a : b; }
inline Scalar minimum(Scalar a, Scalar b) { return isnan(a) || a < b || (a == b && std::signbit(a.v)) ? a : b; }
inline Scalar fma(Scalar a, Scalar b, Scalar c) { return std::fma(a.v, b.v, c.v); }
inline Scalar sqrt(Scalar a) { return std::sqrt(a.v); }
inline Scalar rsqrt(Scalar a) { return 1 / std::sqrt(a.v); }
inline Scalar floor(Scalar a) { return std::floor(a.v); }
inline Scalar ceil(Scalar a) { return std::ceil(a.v); }
inline Scalar trunc(Scalar a) { return std::trunc(a.v); }
inline Scalar round(Scalar a) { return std::nearbyint(a.v); }
inline Scalar exp(Scalar a) { return math64::exp(a.v); }
inline Scalar exp2(Scalar a) { return math64::exp2(a.v); }
inline Scalar expm1(Scalar a) { return math64::expm1(a.v); }
inline Scalar log(Scalar a) { return math64::log(a.v); }
inline Scalar log2(Scalar a) { return math64::log2(a.v); }
inline Scalar log10(Scalar a) { return math64::log10(a.v); }
inline Scalar log1p(Scalar a) { return math64::log1p(a.v); }
inline Scalar sin(Scalar a) { return math64::sin(a.v); }
inline Scalar cos(Scalar a) { return math64::cos(a.v); }
inline Scalar tan(Scalar a) { return math64::tan(a.v); }
inline Scalar asin(Scalar a) { return math64::asin(a.v); }
inline Scalar acos(Scalar a) { return math64::acos(a.v); }
inline Scalar atan(Scalar a) { return math64::atan(a.v); }
inline Scalar sinh(Scalar a) { return math64::sinh(a.v); }
inline Scalar cosh(Scalar a) { return math64::cosh(a.v); }
inline Scalar tanh(Scalar a) { return math64::tanh(a.v); }
inline Scalar asinh(Scalar a) { return math64::asinh(a.v); }
inline Scalar acosh(Scalar a) { return math64::acosh(a.v); }
inline Scalar atanh(Scalar a) { return math64::atanh(a.v); }
inline Scalar sigmoid(Scalar a) { return math64::sigmoid(a.v); }
inline Scalar erf(Scalar a) { return math64::erf(a.v); }
inline Scalar erfc(Scalar a) { return math64::erfc(a.v); }
inline Scalar erfinv(Scalar a) { return math64::erfinv(a.v); }
inline Scalar pow(Scalar a, Scalar b) { return math64::pow(a.v, b.v); }
inline Scalar atan2(Scalar a, Scalar b) { return math64::atan2(a.v, b.v); }
inline Scalar hypot(Scalar a, Scalar b) { return math64::hypot(a.v, b.v); }
inline Scalar fmod(Scalar a, Scalar b) { return math64::fmod(a.v, b.v); }

// v + d·ε with ε² = 0: a formula over it gives its value and its derivative along d.
struct Dual {
  Scalar v, d;
  constexpr Dual(double value = 0) : v(value), d(0) {}
  constexpr Dual(Scalar value, Scalar slope) : v(value), d(slope) {}
};

// f(x) with the slope f'(x): what does not move stays still even where the slope is infinite.
constexpr Scalar along(Scalar slope, Scalar d) { return d == Scalar(0) ? Scalar(0) : slope * d; }
constexpr Dual chain(Dual x, Scalar y, Scalar slope) { return {y, along(slope, x.d)}; }

constexpr Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
constexpr Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
constexpr Dual operator*(Dual a, Dual b) { return {a.v * b.v, along(b.v, a.d) + along(a.v, b.d)}; }
constexpr Dual operator/(Dual a, Dual b) { return {a.v / b.v, along(Scalar(1) / b.v, a.d) - along(a.v / b.v / b.v, b.d)}; }
constexpr Dual operator-(Dual a) { return {-a.v, -a.d}; }
constexpr bool operator==(Dual a, Dual b) { return a.v == b.v; }
constexpr bool operator!=(Dual a, Dual b) { return a.v != b.v; }
constexpr bool operator<(Dual a, Dual b) { return a.v < b.v; }
constexpr bool operator>(Dual a, Dual b) { return a.v > b.v; }
constexpr bool operator<=(Dual a, Dual b) { return a.v <= b.v; }
constexpr bool operator>=(Dual a, Dual b) { return a.v >= b.v; }

constexpr Dual select(bool c, Dual a, Dual b) { return c ? a : b; }
constexpr bool isnan(Dual a) { return isnan(a.v); }
inline Dual abs(Dual a) { return {abs(a.v), select(a.v < Scalar(0), -a.d, a.d)}; }
inline Dual copysign(Dual a, Dual sign) { return {copysign(a.v, sign.v), select(std::signbit(a.v.v) == std::signbit(sign.v.v), a.d, -a.d)}; }
inline Dual maximum(Dual a, Dual b) { return {maximum(a.v, b.v), select(a.v < b.v || isnan(b.v), b.d, a.d)}; }
inline Dual minimum(Dual a, Dual b) { return {minimum(a.v, b.v), select(a.v > b.v || isnan(b.v), b.d, a.d)}; }
inline Dual fma(Dual a, Dual b, Dual c) { return {fma(a.v, b.v, c.v), along(b.v, a.d) + along(a.v, b.d) + c.d}; }
inline Dual floor(Dual a) { return {floor(a.v), 0}; }
inline Dual ceil(Dual a) { return {ceil(a.v), 0}; }
inline Dual trunc(Dual a) { return {trunc(a.v), 0}; }
inline Dual round(Dual a) { return {round(a.v), 0}; }

inline constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402, kTwoOverRootPi = 1.12837916709551257390;

inline Dual sqrt(Dual a) { return chain(a, sqrt(a.v), Scalar(0.5) / sqrt(a.v)); }
inline Dual rsqrt(Dual a) { return chain(a, rsqrt(a.v), Scalar(-0.5) * rsqrt(a.v) / a.v); }
inline Dual exp(Dual a) { return chain(a, exp(a.v), exp(a.v)); }
inline Dual exp2(Dual a) { return chain(a, exp2(a.v), exp2(a.v) * kLn2); }
inline Dual expm1(Dual a) { return chain(a, expm1(a.v), exp(a.v)); }
inline Dual log(Dual a) { return chain(a, log(a.v), Scalar(1) / a.v); }
inline Dual log2(Dual a) { return chain(a, log2(a.v), Scalar(1) / (a.v * kLn2)); }
inline Dual log10(Dual a) { return chain(a, log10(a.v), Scalar(1) / (a.v * kLn10)); }
inline Dual log1p(Dual a) { return chain(a, log1p(a.v), Scalar(1) / (a.v + 1)); }
inline Dual sin(Dual a) { return chain(a, sin(a.v), cos(a.v)); }
inline Dual cos(Dual a) { return chain(a, cos(a.v), -sin(a.v)); }
inline Dual tan(Dual a) { return chain(a, tan(a.v), Scalar(1) + tan(a.v) * tan(a.v)); }
inline Dual asin(Dual a) { return chain(a, asin(a.v), rsqrt(Scalar(1) - a.v * a.v)); }
inline Dual acos(Dual a) { return chain(a, acos(a.v), -rsqrt(Scalar(1) - a.v * a.v)); }
inline Dual atan(Dual a) { return chain(a, atan(a.v), Scalar(1) / (Scalar(1) + a.v * a.v)); }
inline Dual sinh(Dual a) { return chain(a, sinh(a.v), cosh(a.v)); }
inline Dual cosh(Dual a) { return chain(a, cosh(a.v), sinh(a.v)); }
inline Dual tanh(Dual a) { return chain(a, tanh(a.v), Scalar(1) - tanh(a.v) * tanh(a.v)); }
inline Dual asinh(Dual a) { return chain(a, asinh(a.v), rsqrt(a.v * a.v + 1)); }
inline Dual acosh(Dual a) { return chain(a, acosh(a.v), rsqrt(a.v * a.v - 1)); }
inline Dual atanh(Dual a) { return chain(a, atanh(a.v), Scalar(1) / (Scalar(1) - a.v * a.v)); }
inline Dual sigmoid(Dual a) { return chain(a, sigmoid(a.v), sigmoid(a.v) * sigmoid(-a.v)); }
inline Dual erf(Dual a) { return chain(a, erf(a.v), Scalar(kTwoOverRootPi) * exp(-(a.v * a.v))); }
inline Dual erfc(Dual a) { return chain(a, erfc(a.v), Scalar(-kTwoOverRootPi) * exp(-(a.v * a.v))); }
inline Dual erfinv(Dual a) { return chain(a, erfinv(a.v), exp(erfinv(a.v) * erfinv(a.v)) / kTwoOverRootPi); }
inline Dual pow(Dual a, Dual b) {
  const Scalar y = pow(a.v, b.v);
  const Scalar slope = select(b.v == Scalar(0), 0, b.v * pow(a.v, b.v - 1));
  return {y, along(slope, a.d) + along(select(a.v == Scalar(0) && b.v >= Scalar(0), 0, y * log(a.v)), b.d)};
}
inline Dual atan2(Dual a, Dual b) {
  const Scalar square = a.v * a.v + b.v * b.v;
  return {atan2(a.v, b.v), along(b.v / square, a.d) - along(a.v / square, b.d)};
}

inline Dual hypot(Dual a, Dual b) {
  const Scalar y = hypot(a.v, b.v);
  return {y, along(a.v / y, a.d) + along(b.v / y, b.d)};
}
inline Dual fmod(Dual a, Dual b) { return {fmod(a.v, b.v), a.d - along(trunc(a.v / b.v), b.d)}; }

}  // namespace rote

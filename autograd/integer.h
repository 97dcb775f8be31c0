// autograd/integer.h — Integer, one element of a formula that is exact on integers: i64 with wrap-around. What such a formula may use of V.
#pragma once

#include <cstdint>

namespace rote {

struct Integer {
  int64_t v;
  constexpr Integer(int64_t value = 0) : v(value) {}
  static constexpr Integer wrap(uint64_t bits) { return static_cast<int64_t>(bits); }
};
constexpr uint64_t bits(Integer x) { return static_cast<uint64_t>(x.v); }
constexpr Integer operator+(Integer a, Integer b) { return Integer::wrap(bits(a) + bits(b)); }
constexpr Integer operator-(Integer a, Integer b) { return Integer::wrap(bits(a) - bits(b)); }
constexpr Integer operator*(Integer a, Integer b) { return Integer::wrap(bits(a) * bits(b)); }
constexpr Integer operator-(Integer a) { return Integer::wrap(-bits(a)); }
// Toward zero; by 0 it is 0, which the functions that divide refuse before.
constexpr Integer operator/(Integer a, Integer b) { return b.v == 0 ? Integer(0) : b.v == -1 ? -a : Integer(a.v / b.v); }
constexpr Integer fmod(Integer a, Integer b) { return b.v == 0 || b.v == -1 ? Integer(0) : Integer(a.v % b.v); }
constexpr bool operator==(Integer a, Integer b) { return a.v == b.v; }
constexpr bool operator!=(Integer a, Integer b) { return a.v != b.v; }
constexpr bool operator<(Integer a, Integer b) { return a.v < b.v; }
constexpr bool operator>(Integer a, Integer b) { return a.v > b.v; }
constexpr bool operator<=(Integer a, Integer b) { return a.v <= b.v; }
constexpr bool operator>=(Integer a, Integer b) { return a.v >= b.v; }
constexpr Integer select(bool c, Integer a, Integer b) { return c ? a : b; }
constexpr Integer maximum(Integer a, Integer b) { return a < b ? b : a; }
constexpr Integer minimum(Integer a, Integer b) { return b < a ? b : a; }
constexpr Integer abs(Integer a) { return a.v < 0 ? -a : a; }
constexpr Integer floor(Integer a) { return a; }
constexpr Integer ceil(Integer a) { return a; }
constexpr Integer trunc(Integer a) { return a; }
constexpr Integer round(Integer a) { return a; }
// A negative power of anything but 1 and -1 is 0.
constexpr Integer pow(Integer base, Integer exponent) {
  if (exponent.v < 0) {
    if (base.v == 1) return 1;
    if (base.v == -1) return exponent.v % 2 == 0 ? 1 : -1;
    return 0;
  }
  Integer power = 1;
  for (uint64_t left = bits(exponent); left != 0; left >>= 1, base = base * base)
    if (left & 1) power = power * base;
  return power;
}

constexpr Integer operator&(Integer a, Integer b) { return a.v & b.v; }
constexpr Integer operator|(Integer a, Integer b) { return a.v | b.v; }
constexpr Integer operator^(Integer a, Integer b) { return a.v ^ b.v; }
// In i64, narrower dtypes included: what leaves them is cut off when the result is stored, and the sign fills from the left.
constexpr Integer shift_left(Integer a, Integer by) { return by.v < 0 || by.v > 63 ? Integer(0) : Integer::wrap(bits(a) << by.v); }
constexpr Integer shift_right(Integer a, Integer by) { return a.v >> (by.v < 0 || by.v > 63 ? 63 : by.v); }
constexpr Integer gcd(Integer a, Integer b) {
  while (b.v != 0) {
    const Integer rest = fmod(a, b);
    a = b;
    b = rest;
  }
  return abs(a);
}

}  // namespace rote

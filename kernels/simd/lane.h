// kernels/simd/lane.h — one float lane: what a thread of a device holds, compiled by nvcc, and by any compiler for the host. No intrinsics but
// the device's fma and square root, which are those of IEEE 754 as the host's are.
#pragma once

namespace rote::isa::ROTE_ISA_NAME {

using Real = float;
using Bits = int32_t;
constexpr Bits kSignBit = INT32_MIN;
constexpr Bits kExponentBias = 127;
constexpr int kMantissaBits = 23;

struct Mask {
  bool v;
  friend ROTE_INLINE Mask operator&(Mask a, Mask b) { return {a.v && b.v}; }
  friend ROTE_INLINE Mask operator|(Mask a, Mask b) { return {a.v || b.v}; }
  friend ROTE_INLINE Mask operator~(Mask a) { return {!a.v}; }
  friend ROTE_INLINE bool any(Mask a) { return a.v; }
  friend ROTE_INLINE bool all(Mask a) { return a.v; }
};

// Arithmetic wraps around, as that of the vector registers does.
struct Int {
  using Mask = isa::ROTE_ISA_NAME::Mask;
  static constexpr int lanes = 1;
  Bits v;

  Int() = default;
  ROTE_INLINE constexpr Int(Bits x) : v(x) {}
  static ROTE_INLINE Int wrap(uint32_t x) { return static_cast<Bits>(x); }
  ROTE_INLINE uint32_t word() const { return static_cast<uint32_t>(v); }
  static ROTE_INLINE Int load(const Bits* p) { return *p; }
  ROTE_INLINE void store(Bits* p) const { *p = v; }
  friend ROTE_INLINE Int operator+(Int a, Int b) { return wrap(a.word() + b.word()); }
  friend ROTE_INLINE Int operator-(Int a, Int b) { return wrap(a.word() - b.word()); }
  friend ROTE_INLINE Int operator&(Int a, Int b) { return a.v & b.v; }
  friend ROTE_INLINE Int operator|(Int a, Int b) { return a.v | b.v; }
  friend ROTE_INLINE Int operator^(Int a, Int b) { return a.v ^ b.v; }
  friend ROTE_INLINE Int operator<<(Int a, int n) { return wrap(a.word() << n); }
  friend ROTE_INLINE Int shr(Int a, int n) { return wrap(a.word() >> n); }
  friend ROTE_INLINE Int sar(Int a, int n) { return a.v >> n; }
  friend ROTE_INLINE Mask operator==(Int a, Int b) { return {a.v == b.v}; }
  friend ROTE_INLINE Mask operator<(Int a, Int b) { return {a.v < b.v}; }
  friend ROTE_INLINE Int select(Mask m, Int a, Int b) { return m.v ? a : b; }
  friend ROTE_INLINE Int max(Int a, Int b) { return a.v < b.v ? b : a; }
};

struct Vec {
  using Mask = isa::ROTE_ISA_NAME::Mask;
  using Int = isa::ROTE_ISA_NAME::Int;
  static constexpr int lanes = 1;
  Real v;

  Vec() = default;
  ROTE_INLINE constexpr Vec(Real x) : v(x) {}
  static ROTE_INLINE Vec load(const Real* p) { return *p; }
  static ROTE_INLINE Vec load(const Real* p, int n) { return n > 0 ? *p : Real(0); }
  ROTE_INLINE void store(Real* p) const { *p = v; }
  ROTE_INLINE void store(Real* p, int n) const {
    if (n > 0) *p = v;
  }
  friend ROTE_INLINE Vec operator+(Vec a, Vec b) { return a.v + b.v; }
  friend ROTE_INLINE Vec operator-(Vec a, Vec b) { return a.v - b.v; }
  friend ROTE_INLINE Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  friend ROTE_INLINE Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  friend ROTE_INLINE Vec operator-(Vec a) { return from_bits(bits(a) ^ Int(kSignBit)); }
  ROTE_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  ROTE_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  ROTE_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }
#ifdef __CUDA_ARCH__
  friend ROTE_INLINE Vec fma(Vec a, Vec b, Vec c) { return __fmaf_rn(a.v, b.v, c.v); }
  friend ROTE_INLINE Vec sqrt(Vec a) { return __fsqrt_rn(a.v); }
#else
  friend ROTE_INLINE Vec fma(Vec a, Vec b, Vec c) { return __builtin_fmaf(a.v, b.v, c.v); }
  friend ROTE_INLINE Vec sqrt(Vec a) { return __builtin_sqrtf(a.v); }
#endif
  friend ROTE_INLINE Vec abs(Vec a) { return from_bits(bits(a) & Int(Bits(~kSignBit))); }
  friend ROTE_INLINE Vec copysign(Vec a, Vec s) { return from_bits(bits(abs(a)) | (bits(s) & Int(kSignBit))); }
  friend ROTE_INLINE Mask operator<(Vec a, Vec b) { return {a.v < b.v}; }
  friend ROTE_INLINE Mask operator<=(Vec a, Vec b) { return {a.v <= b.v}; }
  friend ROTE_INLINE Mask operator>(Vec a, Vec b) { return b < a; }
  friend ROTE_INLINE Mask operator>=(Vec a, Vec b) { return b <= a; }
  friend ROTE_INLINE Mask operator==(Vec a, Vec b) { return {a.v == b.v}; }
  friend ROTE_INLINE Mask operator!=(Vec a, Vec b) { return {a.v != b.v}; }
  friend ROTE_INLINE Mask isnan(Vec a) { return {a.v != a.v}; }
  friend ROTE_INLINE Vec select(Mask m, Vec a, Vec b) { return m.v ? a : b; }
  friend ROTE_INLINE Vec at_most(Vec a, Vec limit) { return select(a > limit, limit, a); }
  friend ROTE_INLINE Vec at_least(Vec a, Vec limit) { return select(a < limit, limit, a); }
  // As in part.h: equal zeros are joined by their bits, a NaN in a stays.
  friend ROTE_INLINE Vec maximum(Vec a, Vec b) { return a.v == b.v ? from_bits(bits(a) & bits(b)) : b.v < a.v || a.v != a.v ? a : b; }
  friend ROTE_INLINE Vec minimum(Vec a, Vec b) { return a.v == b.v ? from_bits(bits(a) | bits(b)) : a.v < b.v || a.v != a.v ? a : b; }
  friend ROTE_INLINE Int bits(Vec a) { return __builtin_bit_cast(Bits, a.v); }
  static ROTE_INLINE Vec from_bits(Int a) { return __builtin_bit_cast(Real, a.v); }
  // Adding 1.5·2^mantissa leaves the number rounded to even in the low bits.
  friend ROTE_INLINE Int to_int(Vec a) {
    const Vec magic(0x1.8p23f);
    return bits(a + magic) - bits(magic);
  }
  friend ROTE_INLINE Real fold(Vec a) { return a.v; }
  friend ROTE_INLINE Real fold_maximum(Vec a) { return a.v; }
};

ROTE_INLINE Vec from_bits(Int a) { return Vec::from_bits(a); }
ROTE_INLINE Vec to_vec(Int a) { return static_cast<Real>(a.v); }
ROTE_INLINE Vec scale2_by_halves(Vec v, Int k);
ROTE_INLINE Vec scale2(Vec v, Int k) { return scale2_by_halves(v, k); }

}  // namespace rote::isa::ROTE_ISA_NAME

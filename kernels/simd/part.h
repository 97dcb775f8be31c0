// kernels/simd/part.h — one 16-byte register as the compilers' own vector type: what scalar, neon and f64 share. No intrinsics.
//
// The including header defines before: Real, Bits (the integer of the same size), Floats, Ints and UInts (16-byte vectors), kSignBit,
// kExponentBias, kMantissaBits, and the functions part_fma, part_sqrt, part_mul_wide; registers of four lanes also have transpose4 (simd/philox.h).
#pragma once

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kPartLanes = static_cast<int>(16 / sizeof(Real));

struct PartMask {
  Ints v;  // each lane all ones or all zeros
  friend ROTE_INLINE PartMask operator&(PartMask a, PartMask b) { return {a.v & b.v}; }
  friend ROTE_INLINE PartMask operator|(PartMask a, PartMask b) { return {a.v | b.v}; }
  friend ROTE_INLINE PartMask operator~(PartMask a) { return {~a.v}; }
  friend ROTE_INLINE bool any(PartMask a) {
    Bits found = 0;
    for (int i = 0; i < kPartLanes; ++i) found |= a.v[i];
    return found != 0;
  }
  friend ROTE_INLINE bool all(PartMask a) { return !any(~a); }
};

struct PartInt {
  using Mask = PartMask;
  static constexpr int lanes = kPartLanes;
  Ints v;

  ROTE_INLINE PartInt() = default;
  ROTE_INLINE PartInt(Ints v) : v(v) {}
  ROTE_INLINE PartInt(Bits x) : v(Ints{} + x) {}
  static ROTE_INLINE PartInt load(const Bits* p) {
    PartInt r;
    __builtin_memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  ROTE_INLINE void store(Bits* p) const { __builtin_memcpy(p, &v, sizeof v); }

  friend ROTE_INLINE PartInt operator+(PartInt a, PartInt b) { return Ints(UInts(a.v) + UInts(b.v)); }
  friend ROTE_INLINE PartInt operator-(PartInt a, PartInt b) { return Ints(UInts(a.v) - UInts(b.v)); }
  friend ROTE_INLINE PartInt operator&(PartInt a, PartInt b) { return a.v & b.v; }
  friend ROTE_INLINE PartInt operator|(PartInt a, PartInt b) { return a.v | b.v; }
  friend ROTE_INLINE PartInt operator^(PartInt a, PartInt b) { return a.v ^ b.v; }
  friend ROTE_INLINE PartInt operator<<(PartInt a, int n) { return Ints(UInts(a.v) << n); }
  friend ROTE_INLINE PartInt shr(PartInt a, int n) { return Ints(UInts(a.v) >> n); }
  friend ROTE_INLINE PartInt sar(PartInt a, int n) { return a.v >> n; }
  friend ROTE_INLINE PartMask operator==(PartInt a, PartInt b) { return {Ints(a.v == b.v)}; }
  friend ROTE_INLINE PartMask operator<(PartInt a, PartInt b) { return {Ints(a.v < b.v)}; }
  friend ROTE_INLINE PartInt select(PartMask m, PartInt a, PartInt b) { return (m.v & a.v) | (~m.v & b.v); }
  friend ROTE_INLINE PartInt max(PartInt a, PartInt b) { return select(a < b, b, a); }
  friend ROTE_INLINE void mul_wide(PartInt a, uint32_t factor, PartInt& high, PartInt& low) { part_mul_wide(a.v, factor, high.v, low.v); }
  static ROTE_INLINE PartInt load_half_words(const uint16_t* p) {
    PartInt r(Bits(0));
    for (int i = 0; i < kPartLanes; ++i) r.v[i] = p[i];
    return r;
  }
  ROTE_INLINE void store_half_words(uint16_t* p) const {
    for (int i = 0; i < kPartLanes; ++i) p[i] = static_cast<uint16_t>(v[i]);
  }
};

struct Part {
  using Mask = PartMask;
  using Int = PartInt;
  static constexpr int lanes = kPartLanes;
  Floats v;

  ROTE_INLINE Part() = default;
  ROTE_INLINE Part(Floats v) : v(v) {}
  ROTE_INLINE Part(Real x) : v(x - Floats{}) {}  // x - 0: keeps the sign of a zero
  static ROTE_INLINE Part load(const Real* p) {
    Part r;
    __builtin_memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  static ROTE_INLINE Part load(const Real* p, int n) {
    if (n >= lanes) return load(p);
    Part r(Floats{});
    for (int i = 0; i < lanes - 1; ++i)
      if (i < n) r.v[i] = p[i];
    return r;
  }
  ROTE_INLINE void store(Real* p) const { __builtin_memcpy(p, &v, sizeof v); }
  ROTE_INLINE void store(Real* p, int n) const {
    if (n >= lanes) return store(p);
    for (int i = 0; i < lanes - 1; ++i)
      if (i < n) p[i] = v[i];
  }

  friend ROTE_INLINE Part operator+(Part a, Part b) { return a.v + b.v; }
  friend ROTE_INLINE Part operator-(Part a, Part b) { return a.v - b.v; }
  friend ROTE_INLINE Part operator*(Part a, Part b) { return a.v * b.v; }
  friend ROTE_INLINE Part operator/(Part a, Part b) { return a.v / b.v; }
  friend ROTE_INLINE Part operator-(Part a) { return from_bits(bits(a) ^ PartInt(kSignBit)); }
  friend ROTE_INLINE Part fma(Part a, Part b, Part c) { return part_fma(a.v, b.v, c.v); }
  friend ROTE_INLINE Part sqrt(Part a) { return part_sqrt(a.v); }
  friend ROTE_INLINE Part abs(Part a) { return from_bits(bits(a) & PartInt(Bits(~kSignBit))); }
  friend ROTE_INLINE Part copysign(Part a, Part s) { return from_bits(bits(abs(a)) | (bits(s) & PartInt(kSignBit))); }
  friend ROTE_INLINE PartMask operator<(Part a, Part b) { return {Ints(a.v < b.v)}; }
  friend ROTE_INLINE PartMask operator<=(Part a, Part b) { return {Ints(a.v <= b.v)}; }
  friend ROTE_INLINE PartMask operator==(Part a, Part b) { return {Ints(a.v == b.v)}; }
  friend ROTE_INLINE Part select(PartMask m, Part a, Part b) { return from_bits(select(m, bits(a), bits(b))); }
  friend ROTE_INLINE Part at_most(Part a, Part limit) { return select(limit < a, limit, a); }
  friend ROTE_INLINE Part at_least(Part a, Part limit) { return select(a < limit, limit, a); }
  // Equal numbers have equal bits, but for zeros: there the sign is cleared (maximum) or set (minimum) unless both have it.
  friend ROTE_INLINE Part maximum(Part a, Part b) {
    const Part larger = select((b < a) | ~(a == a), a, b);
    return select(a == b, from_bits(bits(a) & bits(b)), larger);
  }
  friend ROTE_INLINE Part minimum(Part a, Part b) {
    const Part smaller = select((a < b) | ~(a == a), a, b);
    return select(a == b, from_bits(bits(a) | bits(b)), smaller);
  }
  friend ROTE_INLINE PartInt bits(Part a) { return Ints(a.v); }
  static ROTE_INLINE Part from_bits(PartInt a) { return Floats(a.v); }
  static ROTE_INLINE Part from_int(PartInt a) { return __builtin_convertvector(a.v, Floats); }
  // Adding 1.5·2^mantissa leaves the number rounded to even in the low bits.
  friend ROTE_INLINE PartInt to_int(Part a) {
    const Part magic(static_cast<Real>(Bits(3) << (kMantissaBits - 1)));
    return bits(a + magic) - bits(magic);
  }
  friend ROTE_INLINE Real fold(Part a) {
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) a.v[i] = a.v[i] + a.v[i + half];
    return a.v[0];
  }
  friend ROTE_INLINE Real fold_maximum(Part a) {
    Part best(a.v[0]);
    for (int i = 1; i < lanes; ++i) best = maximum(best, Part(a.v[i]));
    return best.v[0];
  }
};

}  // namespace rote::isa::ROTE_ISA_NAME

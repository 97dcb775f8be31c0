// kernels/simd/pair.h — a vector made of two halves: 16 lanes out of registers that hold fewer. No intrinsics, no instruction set.
//
// PairVec<P>, PairMask<M>, PairInt<I> apply each function to lo and hi. P, M, I are registers (or pairs again) with the same functions.
// Operands are taken by reference: where functions stay out of line (ROTE_SMALL), copies of 128 bytes a call made half of the code.
#pragma once

namespace rote::isa::ROTE_ISA_NAME {

template <class M>
struct PairMask {
  M lo, hi;
  friend ROTE_INLINE PairMask operator&(const PairMask& a, const PairMask& b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend ROTE_INLINE PairMask operator|(const PairMask& a, const PairMask& b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend ROTE_INLINE PairMask operator~(const PairMask& a) { return {~a.lo, ~a.hi}; }
  friend ROTE_INLINE bool any(const PairMask& a) { return any(a.lo | a.hi); }
  friend ROTE_INLINE bool all(const PairMask& a) { return all(a.lo & a.hi); }
};

template <class I>
struct PairInt {
  using Mask = PairMask<typename I::Mask>;
  static constexpr int lanes = 2 * I::lanes;
  I lo, hi;

  ROTE_INLINE PairInt() = default;
  ROTE_INLINE PairInt(Bits x) : lo(x), hi(x) {}
  ROTE_INLINE PairInt(I lo, I hi) : lo(lo), hi(hi) {}
  static ROTE_INLINE PairInt load(const Bits* p) { return {I::load(p), I::load(p + I::lanes)}; }
  ROTE_INLINE void store(Bits* p) const { lo.store(p), hi.store(p + I::lanes); }

  friend ROTE_INLINE PairInt operator+(const PairInt& a, const PairInt& b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend ROTE_INLINE PairInt operator-(const PairInt& a, const PairInt& b) { return {a.lo - b.lo, a.hi - b.hi}; }
  friend ROTE_INLINE PairInt operator&(const PairInt& a, const PairInt& b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend ROTE_INLINE PairInt operator|(const PairInt& a, const PairInt& b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend ROTE_INLINE PairInt operator^(const PairInt& a, const PairInt& b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend ROTE_INLINE PairInt operator<<(const PairInt& a, int n) { return {a.lo << n, a.hi << n}; }
  friend ROTE_INLINE PairInt shr(const PairInt& a, int n) { return {shr(a.lo, n), shr(a.hi, n)}; }
  friend ROTE_INLINE PairInt sar(const PairInt& a, int n) { return {sar(a.lo, n), sar(a.hi, n)}; }
  friend ROTE_INLINE PairInt max(const PairInt& a, const PairInt& b) { return {max(a.lo, b.lo), max(a.hi, b.hi)}; }
  friend ROTE_INLINE Mask operator==(const PairInt& a, const PairInt& b) { return {a.lo == b.lo, a.hi == b.hi}; }
  friend ROTE_INLINE Mask operator<(const PairInt& a, const PairInt& b) { return {a.lo < b.lo, a.hi < b.hi}; }
  friend ROTE_INLINE PairInt select(const Mask& m, const PairInt& a, const PairInt& b) { return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)}; }

  // High and low 32-bit words of a·factor, both taken as unsigned 32-bit numbers.
  friend ROTE_INLINE void mul_wide(const PairInt& a, uint32_t factor, PairInt& high, PairInt& low) {
    mul_wide(a.lo, factor, high.lo, low.lo);
    mul_wide(a.hi, factor, high.hi, low.hi);
  }
  // In every group of four lanes: lane l of word k becomes lane k of word l.
  friend ROTE_INLINE void transpose4(PairInt& a, PairInt& b, PairInt& c, PairInt& d) {
    transpose4(a.lo, b.lo, c.lo, d.lo);
    transpose4(a.hi, b.hi, c.hi, d.hi);
  }
  static ROTE_INLINE PairInt load_half_words(const uint16_t* p) { return {I::load_half_words(p), I::load_half_words(p + I::lanes)}; }
  ROTE_INLINE void store_half_words(uint16_t* p) const { lo.store_half_words(p), hi.store_half_words(p + I::lanes); }
};

template <class P>
struct PairVec {
  using Mask = PairMask<typename P::Mask>;
  using Int = PairInt<typename P::Int>;
  static constexpr int lanes = 2 * P::lanes;
  P lo, hi;

  ROTE_INLINE PairVec() = default;
  ROTE_INLINE PairVec(Real x) : lo(x), hi(x) {}
  ROTE_INLINE PairVec(P lo, P hi) : lo(lo), hi(hi) {}
  static ROTE_INLINE PairVec load(const Real* p) { return {P::load(p), P::load(p + P::lanes)}; }
  static ROTE_INLINE PairVec load(const Real* p, int n) { return {P::load(p, n), P::load(p + P::lanes, n - P::lanes)}; }
  ROTE_INLINE void store(Real* p) const { lo.store(p), hi.store(p + P::lanes); }
  ROTE_INLINE void store(Real* p, int n) const { lo.store(p, n), hi.store(p + P::lanes, n - P::lanes); }

  friend ROTE_INLINE PairVec operator+(const PairVec& a, const PairVec& b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend ROTE_INLINE PairVec operator-(const PairVec& a, const PairVec& b) { return {a.lo - b.lo, a.hi - b.hi}; }
  friend ROTE_INLINE PairVec operator*(const PairVec& a, const PairVec& b) { return {a.lo * b.lo, a.hi * b.hi}; }
  friend ROTE_INLINE PairVec operator/(const PairVec& a, const PairVec& b) { return {a.lo / b.lo, a.hi / b.hi}; }
  friend ROTE_INLINE PairVec operator-(const PairVec& a) { return {-a.lo, -a.hi}; }
  ROTE_INLINE PairVec& operator+=(const PairVec& b) { return *this = *this + b; }
  ROTE_INLINE PairVec& operator-=(const PairVec& b) { return *this = *this - b; }
  ROTE_INLINE PairVec& operator*=(const PairVec& b) { return *this = *this * b; }
  friend ROTE_INLINE PairVec fma(const PairVec& a, const PairVec& b, const PairVec& c) { return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)}; }
  friend ROTE_INLINE PairVec sqrt(const PairVec& a) { return {sqrt(a.lo), sqrt(a.hi)}; }
  friend ROTE_INLINE PairVec abs(const PairVec& a) { return {abs(a.lo), abs(a.hi)}; }
  friend ROTE_INLINE PairVec copysign(const PairVec& a, const PairVec& s) { return {copysign(a.lo, s.lo), copysign(a.hi, s.hi)}; }
  friend ROTE_INLINE PairVec at_most(const PairVec& a, const PairVec& limit) { return {at_most(a.lo, limit.lo), at_most(a.hi, limit.hi)}; }
  friend ROTE_INLINE PairVec at_least(const PairVec& a, const PairVec& limit) { return {at_least(a.lo, limit.lo), at_least(a.hi, limit.hi)}; }
  friend ROTE_INLINE PairVec maximum(const PairVec& a, const PairVec& b) { return {maximum(a.lo, b.lo), maximum(a.hi, b.hi)}; }
  friend ROTE_INLINE PairVec minimum(const PairVec& a, const PairVec& b) { return {minimum(a.lo, b.lo), minimum(a.hi, b.hi)}; }
  friend ROTE_INLINE Mask operator<(const PairVec& a, const PairVec& b) { return {a.lo < b.lo, a.hi < b.hi}; }
  friend ROTE_INLINE Mask operator<=(const PairVec& a, const PairVec& b) { return {a.lo <= b.lo, a.hi <= b.hi}; }
  friend ROTE_INLINE Mask operator>(const PairVec& a, const PairVec& b) { return b < a; }
  friend ROTE_INLINE Mask operator>=(const PairVec& a, const PairVec& b) { return b <= a; }
  friend ROTE_INLINE Mask operator==(const PairVec& a, const PairVec& b) { return {a.lo == b.lo, a.hi == b.hi}; }
  friend ROTE_INLINE Mask operator!=(const PairVec& a, const PairVec& b) { return ~(a == b); }
  friend ROTE_INLINE Mask isnan(const PairVec& a) { return ~(a == a); }
  friend ROTE_INLINE PairVec select(const Mask& m, const PairVec& a, const PairVec& b) { return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)}; }
  friend ROTE_INLINE Int bits(const PairVec& a) { return {bits(a.lo), bits(a.hi)}; }
  friend ROTE_INLINE Int to_int(const PairVec& a) { return {to_int(a.lo), to_int(a.hi)}; }
  static ROTE_INLINE PairVec from_bits(const Int& a) { return {P::from_bits(a.lo), P::from_bits(a.hi)}; }
  static ROTE_INLINE PairVec from_int(const Int& a) { return {P::from_int(a.lo), P::from_int(a.hi)}; }
  friend ROTE_INLINE Real fold(const PairVec& a) { return fold(a.lo + a.hi); }
  friend ROTE_INLINE Real fold_maximum(const PairVec& a) { return fold_maximum(maximum(a.lo, a.hi)); }
};

}  // namespace rote::isa::ROTE_ISA_NAME

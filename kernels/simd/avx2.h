// kernels/simd/avx2.h — 16 float lanes as two AVX2 registers; also needs FMA. Intrinsics live here and in its two sisters only.
#pragma once

#include <immintrin.h>

namespace rote::isa::ROTE_ISA_NAME {

using Real = float;
using Bits = int32_t;
constexpr Bits kSignBit = INT32_MIN;
constexpr Bits kExponentBias = 127;
constexpr int kMantissaBits = 23;

struct HalfMask {
  __m256 v;
  friend ROTE_INLINE HalfMask operator&(HalfMask a, HalfMask b) { return {_mm256_and_ps(a.v, b.v)}; }
  friend ROTE_INLINE HalfMask operator|(HalfMask a, HalfMask b) { return {_mm256_or_ps(a.v, b.v)}; }
  friend ROTE_INLINE HalfMask operator~(HalfMask a) { return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))}; }
  friend ROTE_INLINE bool any(HalfMask a) { return _mm256_movemask_ps(a.v) != 0; }
  friend ROTE_INLINE bool all(HalfMask a) { return _mm256_movemask_ps(a.v) == 0xFF; }
};

struct HalfInt {
  using Mask = HalfMask;
  static constexpr int lanes = 8;
  __m256i v;

  ROTE_INLINE HalfInt() = default;
  ROTE_INLINE HalfInt(__m256i v) : v(v) {}
  ROTE_INLINE HalfInt(Bits x) : v(_mm256_set1_epi32(x)) {}
  static ROTE_INLINE HalfInt load(const Bits* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  ROTE_INLINE void store(Bits* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  friend ROTE_INLINE HalfInt operator+(HalfInt a, HalfInt b) { return _mm256_add_epi32(a.v, b.v); }
  friend ROTE_INLINE HalfInt operator-(HalfInt a, HalfInt b) { return _mm256_sub_epi32(a.v, b.v); }
  friend ROTE_INLINE HalfInt operator&(HalfInt a, HalfInt b) { return _mm256_and_si256(a.v, b.v); }
  friend ROTE_INLINE HalfInt operator|(HalfInt a, HalfInt b) { return _mm256_or_si256(a.v, b.v); }
  friend ROTE_INLINE HalfInt operator^(HalfInt a, HalfInt b) { return _mm256_xor_si256(a.v, b.v); }
  friend ROTE_INLINE HalfInt operator<<(HalfInt a, int n) { return _mm256_slli_epi32(a.v, n); }
  friend ROTE_INLINE HalfInt shr(HalfInt a, int n) { return _mm256_srli_epi32(a.v, n); }
  friend ROTE_INLINE HalfInt sar(HalfInt a, int n) { return _mm256_srai_epi32(a.v, n); }
  friend ROTE_INLINE HalfInt max(HalfInt a, HalfInt b) { return _mm256_max_epi32(a.v, b.v); }
  friend ROTE_INLINE HalfMask operator==(HalfInt a, HalfInt b) { return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))}; }
  friend ROTE_INLINE HalfMask operator<(HalfInt a, HalfInt b) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.v, a.v))}; }
  friend ROTE_INLINE HalfInt select(HalfMask m, HalfInt a, HalfInt b) { return _mm256_blendv_epi8(b.v, a.v, _mm256_castps_si256(m.v)); }
  friend ROTE_INLINE void mul_wide(HalfInt a, uint32_t factor, HalfInt& high, HalfInt& low) {
    const __m256i f = _mm256_set1_epi32(static_cast<int>(factor));
    const __m256i even = _mm256_mul_epu32(a.v, f), odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), f);
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
  }
  friend ROTE_INLINE void transpose4(HalfInt& a, HalfInt& b, HalfInt& c, HalfInt& d) {
    const __m256i ab_low = _mm256_unpacklo_epi32(a.v, b.v), ab_high = _mm256_unpackhi_epi32(a.v, b.v);
    const __m256i cd_low = _mm256_unpacklo_epi32(c.v, d.v), cd_high = _mm256_unpackhi_epi32(c.v, d.v);
    a = _mm256_unpacklo_epi64(ab_low, cd_low), b = _mm256_unpackhi_epi64(ab_low, cd_low);
    c = _mm256_unpacklo_epi64(ab_high, cd_high), d = _mm256_unpackhi_epi64(ab_high, cd_high);
  }
  static ROTE_INLINE HalfInt load_half_words(const uint16_t* p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  ROTE_INLINE void store_half_words(uint16_t* p) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
  }
};

// The lanes below n as a mask for masked loads and stores; any n.
ROTE_INLINE __m256i lanes_below(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }

struct Half {
  using Mask = HalfMask;
  using Int = HalfInt;
  static constexpr int lanes = 8;
  __m256 v;

  ROTE_INLINE Half() = default;
  ROTE_INLINE Half(__m256 v) : v(v) {}
  ROTE_INLINE Half(Real x) : v(_mm256_set1_ps(x)) {}
  static ROTE_INLINE Half load(const Real* p) { return _mm256_loadu_ps(p); }
  static ROTE_INLINE Half load(const Real* p, int n) { return _mm256_maskload_ps(p, lanes_below(n)); }
  ROTE_INLINE void store(Real* p) const { _mm256_storeu_ps(p, v); }
  ROTE_INLINE void store(Real* p, int n) const {
    if (n >= lanes) return store(p);
    _mm256_maskstore_ps(p, lanes_below(n), v);
  }
  friend ROTE_INLINE Half operator+(Half a, Half b) { return _mm256_add_ps(a.v, b.v); }
  friend ROTE_INLINE Half operator-(Half a, Half b) { return _mm256_sub_ps(a.v, b.v); }
  friend ROTE_INLINE Half operator*(Half a, Half b) { return _mm256_mul_ps(a.v, b.v); }
  friend ROTE_INLINE Half operator/(Half a, Half b) { return _mm256_div_ps(a.v, b.v); }
  friend ROTE_INLINE Half operator-(Half a) { return _mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f)); }
  friend ROTE_INLINE Half fma(Half a, Half b, Half c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
  friend ROTE_INLINE Half sqrt(Half a) { return _mm256_sqrt_ps(a.v); }
  friend ROTE_INLINE Half abs(Half a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v); }
  friend ROTE_INLINE Half copysign(Half a, Half s) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a.v), _mm256_and_ps(sign, s.v));
  }
  friend ROTE_INLINE HalfMask operator<(Half a, Half b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
  friend ROTE_INLINE HalfMask operator<=(Half a, Half b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
  friend ROTE_INLINE HalfMask operator==(Half a, Half b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
  friend ROTE_INLINE Half at_most(Half a, Half limit) { return _mm256_min_ps(limit.v, a.v); }  // the instructions return the second operand for any NaN
  friend ROTE_INLINE Half at_least(Half a, Half limit) { return _mm256_max_ps(limit.v, a.v); }
  friend ROTE_INLINE Half select(HalfMask m, Half a, Half b) { return _mm256_blendv_ps(b.v, a.v, m.v); }
  // The instructions return the second operand for equal zeros and for any NaN: zeros are joined by their bits, a NaN in a is put back.
  friend ROTE_INLINE Half maximum(Half a, Half b) {
    const Half joined = select(a == b, Half(_mm256_and_ps(a.v, b.v)), Half(_mm256_max_ps(a.v, b.v)));
    return select({_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)}, a, joined);
  }
  friend ROTE_INLINE Half minimum(Half a, Half b) {
    const Half joined = select(a == b, Half(_mm256_or_ps(a.v, b.v)), Half(_mm256_min_ps(a.v, b.v)));
    return select({_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)}, a, joined);
  }
  friend ROTE_INLINE HalfInt bits(Half a) { return _mm256_castps_si256(a.v); }
  friend ROTE_INLINE HalfInt to_int(Half a) { return _mm256_cvtps_epi32(a.v); }
  static ROTE_INLINE Half from_bits(HalfInt a) { return _mm256_castsi256_ps(a.v); }
  static ROTE_INLINE Half from_int(HalfInt a) { return _mm256_cvtepi32_ps(a.v); }
  friend ROTE_INLINE Real fold(Half a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  friend ROTE_INLINE Real fold_maximum(Half a) {
    a = maximum(a, Half(_mm256_permute2f128_ps(a.v, a.v, 1)));
    a = maximum(a, Half(_mm256_permute_ps(a.v, 0x4E)));
    a = maximum(a, Half(_mm256_permute_ps(a.v, 0xB1)));
    return _mm256_cvtss_f32(a.v);
  }
};

}  // namespace rote::isa::ROTE_ISA_NAME

#include "kernels/simd/pair.h"

namespace rote::isa::ROTE_ISA_NAME {

using Vec = PairVec<Half>;
using Mask = Vec::Mask;
using Int = Vec::Int;

ROTE_INLINE Vec from_bits(Int a) { return Vec::from_bits(a); }
// f16 by the instructions. From it, exactly; to it, to nearest even under any control word, where what becomes of a NaN is not used.
ROTE_INLINE Half load_half_f16(const uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
ROTE_INLINE Vec load_f16(const uint16_t* p) { return {load_half_f16(p), load_half_f16(p + Half::lanes)}; }
ROTE_INLINE __m128i half_words(Half a) { return _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT); }
ROTE_INLINE Int nearest_f16(const Vec& a) { return {HalfInt(_mm256_cvtepu16_epi32(half_words(a.lo))), HalfInt(_mm256_cvtepu16_epi32(half_words(a.hi)))}; }
ROTE_INLINE Vec rounded_to_f16(const Vec& a) { return {Half(_mm256_cvtph_ps(half_words(a.lo))), Half(_mm256_cvtph_ps(half_words(a.hi)))}; }
ROTE_INLINE Vec to_vec(Int a) { return Vec::from_int(a); }
ROTE_INLINE Vec scale2_by_halves(Vec v, Int k);
ROTE_INLINE Vec scale2(Vec v, Int k) { return scale2_by_halves(v, k); }

}  // namespace rote::isa::ROTE_ISA_NAME

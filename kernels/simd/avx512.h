// kernels/simd/avx512.h — 16 float lanes as one AVX-512 register (F, BW, DQ, VL). Intrinsics live here and in its two sisters only.
#pragma once

// GCC 12 writes "any register" as a variable initialised with itself in its own header and then warns of it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace rote::isa::ROTE_ISA_NAME {

using Real = float;
using Bits = int32_t;
constexpr Bits kSignBit = INT32_MIN;
constexpr Bits kExponentBias = 127;
constexpr int kMantissaBits = 23;

struct Mask {
  __mmask16 v;
  friend ROTE_INLINE Mask operator&(Mask a, Mask b) { return {_kand_mask16(a.v, b.v)}; }
  friend ROTE_INLINE Mask operator|(Mask a, Mask b) { return {_kor_mask16(a.v, b.v)}; }
  friend ROTE_INLINE Mask operator~(Mask a) { return {_knot_mask16(a.v)}; }
  friend ROTE_INLINE bool any(Mask a) { return a.v != 0; }
  friend ROTE_INLINE bool all(Mask a) { return a.v == 0xFFFF; }
};

struct Int {
  using Mask = isa::ROTE_ISA_NAME::Mask;
  static constexpr int lanes = 16;
  __m512i v;

  ROTE_INLINE Int() = default;
  ROTE_INLINE Int(__m512i v) : v(v) {}
  ROTE_INLINE Int(Bits x) : v(_mm512_set1_epi32(x)) {}
  static ROTE_INLINE Int load(const Bits* p) { return _mm512_loadu_si512(p); }
  ROTE_INLINE void store(Bits* p) const { _mm512_storeu_si512(p, v); }
  friend ROTE_INLINE Int operator+(Int a, Int b) { return _mm512_add_epi32(a.v, b.v); }
  friend ROTE_INLINE Int operator-(Int a, Int b) { return _mm512_sub_epi32(a.v, b.v); }
  friend ROTE_INLINE Int operator&(Int a, Int b) { return _mm512_and_si512(a.v, b.v); }
  friend ROTE_INLINE Int operator|(Int a, Int b) { return _mm512_or_si512(a.v, b.v); }
  friend ROTE_INLINE Int operator^(Int a, Int b) { return _mm512_xor_si512(a.v, b.v); }
  friend ROTE_INLINE Int operator<<(Int a, int n) { return _mm512_slli_epi32(a.v, static_cast<unsigned>(n)); }
  friend ROTE_INLINE Int shr(Int a, int n) { return _mm512_srli_epi32(a.v, static_cast<unsigned>(n)); }
  friend ROTE_INLINE Int sar(Int a, int n) { return _mm512_srai_epi32(a.v, static_cast<unsigned>(n)); }
  friend ROTE_INLINE Int max(Int a, Int b) { return _mm512_max_epi32(a.v, b.v); }
  friend ROTE_INLINE Mask operator==(Int a, Int b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
  friend ROTE_INLINE Mask operator<(Int a, Int b) { return {_mm512_cmplt_epi32_mask(a.v, b.v)}; }
  friend ROTE_INLINE Int select(Mask m, Int a, Int b) { return _mm512_mask_blend_epi32(m.v, b.v, a.v); }
  friend ROTE_INLINE void mul_wide(Int a, uint32_t factor, Int& high, Int& low) {
    const __m512i f = _mm512_set1_epi32(static_cast<int>(factor));
    const __m512i even = _mm512_mul_epu32(a.v, f), odd = _mm512_mul_epu32(_mm512_srli_epi64(a.v, 32), f);
    high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    low = _mm512_mullo_epi32(a.v, f);
  }
  friend ROTE_INLINE void transpose4(Int& a, Int& b, Int& c, Int& d) {
    const __m512i ab_low = _mm512_unpacklo_epi32(a.v, b.v), ab_high = _mm512_unpackhi_epi32(a.v, b.v);
    const __m512i cd_low = _mm512_unpacklo_epi32(c.v, d.v), cd_high = _mm512_unpackhi_epi32(c.v, d.v);
    a = _mm512_unpacklo_epi64(ab_low, cd_low), b = _mm512_unpackhi_epi64(ab_low, cd_low);
    c = _mm512_unpacklo_epi64(ab_high, cd_high), d = _mm512_unpackhi_epi64(ab_high, cd_high);
  }
  static ROTE_INLINE Int load_half_words(const uint16_t* p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  ROTE_INLINE void store_half_words(uint16_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(v)); }
};

ROTE_INLINE __mmask16 lanes_below(int n) { return static_cast<__mmask16>(n >= 16 ? 0xFFFFu : (1u << n) - 1u); }

struct Vec {
  using Mask = isa::ROTE_ISA_NAME::Mask;
  using Int = isa::ROTE_ISA_NAME::Int;
  static constexpr int lanes = 16;
  __m512 v;

  ROTE_INLINE Vec() = default;
  ROTE_INLINE Vec(__m512 v) : v(v) {}
  ROTE_INLINE Vec(Real x) : v(_mm512_set1_ps(x)) {}
  static ROTE_INLINE Vec load(const Real* p) { return _mm512_loadu_ps(p); }
  static ROTE_INLINE Vec load(const Real* p, int n) { return _mm512_maskz_loadu_ps(lanes_below(n), p); }
  ROTE_INLINE void store(Real* p) const { _mm512_storeu_ps(p, v); }
  ROTE_INLINE void store(Real* p, int n) const {
    if (n >= lanes) return store(p);
    _mm512_mask_storeu_ps(p, lanes_below(n), v);
  }
  friend ROTE_INLINE Vec operator+(Vec a, Vec b) { return _mm512_add_ps(a.v, b.v); }
  friend ROTE_INLINE Vec operator-(Vec a, Vec b) { return _mm512_sub_ps(a.v, b.v); }
  friend ROTE_INLINE Vec operator*(Vec a, Vec b) { return _mm512_mul_ps(a.v, b.v); }
  friend ROTE_INLINE Vec operator/(Vec a, Vec b) { return _mm512_div_ps(a.v, b.v); }
  friend ROTE_INLINE Vec operator-(Vec a) { return _mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f)); }
  ROTE_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  ROTE_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  ROTE_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }
  friend ROTE_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
  friend ROTE_INLINE Vec sqrt(Vec a) { return _mm512_sqrt_ps(a.v); }
  friend ROTE_INLINE Vec abs(Vec a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v); }
  friend ROTE_INLINE Vec copysign(Vec a, Vec s) {
    const __m512i sign = _mm512_set1_epi32(kSignBit);  // 0xCA: sign ? s : a
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(s.v), _mm512_castps_si512(a.v), 0xCA));
  }
  friend ROTE_INLINE Mask operator<(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
  friend ROTE_INLINE Mask operator<=(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
  friend ROTE_INLINE Mask operator>(Vec a, Vec b) { return b < a; }
  friend ROTE_INLINE Mask operator>=(Vec a, Vec b) { return b <= a; }
  friend ROTE_INLINE Mask operator==(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
  friend ROTE_INLINE Mask operator!=(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
  friend ROTE_INLINE Mask isnan(Vec a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
  friend ROTE_INLINE Vec at_most(Vec a, Vec limit) { return _mm512_min_ps(limit.v, a.v); }  // the instructions return the second operand for any NaN
  friend ROTE_INLINE Vec at_least(Vec a, Vec limit) { return _mm512_max_ps(limit.v, a.v); }
  friend ROTE_INLINE Vec select(Mask m, Vec a, Vec b) { return _mm512_mask_blend_ps(m.v, b.v, a.v); }
  // The instructions return the second operand for equal zeros and for any NaN: zeros are joined by their bits, a NaN in a is put back.
  friend ROTE_INLINE Vec maximum(Vec a, Vec b) {
    const __m512 joined = _mm512_mask_and_ps(_mm512_max_ps(a.v, b.v), (a == b).v, a.v, b.v);
    return _mm512_mask_mov_ps(joined, isnan(a).v, a.v);
  }
  friend ROTE_INLINE Vec minimum(Vec a, Vec b) {
    const __m512 joined = _mm512_mask_or_ps(_mm512_min_ps(a.v, b.v), (a == b).v, a.v, b.v);
    return _mm512_mask_mov_ps(joined, isnan(a).v, a.v);
  }
  friend ROTE_INLINE Int bits(Vec a) { return _mm512_castps_si512(a.v); }
  friend ROTE_INLINE Int to_int(Vec a) { return _mm512_cvtps_epi32(a.v); }
  friend ROTE_INLINE Real fold(Vec a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  friend ROTE_INLINE Real fold_maximum(Vec a) {
    a = maximum(a, Vec(_mm512_shuffle_f32x4(a.v, a.v, 0x4E)));
    a = maximum(a, Vec(_mm512_shuffle_f32x4(a.v, a.v, 0xB1)));
    a = maximum(a, Vec(_mm512_permute_ps(a.v, 0x4E)));
    a = maximum(a, Vec(_mm512_permute_ps(a.v, 0xB1)));
    return _mm512_cvtss_f32(a.v);
  }
};

// f16 by the instructions. From it, exactly; to it, to nearest even under any control word, where what becomes of a NaN is not used.
ROTE_INLINE Vec load_f16(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
ROTE_INLINE Int nearest_f16(Vec a) { return _mm512_cvtepu16_epi32(_mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT)); }
ROTE_INLINE Vec rounded_to_f16(Vec a) { return _mm512_cvtph_ps(_mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT)); }

ROTE_INLINE Vec from_bits(Int a) { return _mm512_castsi512_ps(a.v); }
ROTE_INLINE Vec to_vec(Int a) { return _mm512_cvtepi32_ps(a.v); }
// The instruction rounds v·2^k once, as the two products of the other instruction sets do.
ROTE_INLINE Vec scale2(Vec v, Int k) { return _mm512_scalef_ps(v.v, to_vec(k).v); }

}  // namespace rote::isa::ROTE_ISA_NAME

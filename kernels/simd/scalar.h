// kernels/simd/scalar.h — 16 float lanes in four baseline registers: SSE2 on x86-64. Intrinsics live here and in its sisters only.
//
// Baseline x86-64 has no fused multiply-add, so it is made from doubles: the product of two floats is exact in a double, TwoSum gives
// the sum with the addend and its error, and rounding that sum to odd keeps what the last conversion to float needs to round right
// (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums"; 53 >= 24 + 2 bits). The conversions are intrinsics
// because GCC 12 folds the plain ones, double to float to double, into nothing once it has vectorised them.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace rote::isa::ROTE_ISA_NAME {

using Real = float;
using Bits = int32_t;
typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef uint32_t UInts __attribute__((vector_size(16)));
constexpr Bits kSignBit = INT32_MIN;
constexpr Bits kExponentBias = 127;
constexpr int kMantissaBits = 23;

#ifdef __SSE2__

using Wide = __m128d;
typedef int64_t WideInts __attribute__((vector_size(16)));

ROTE_INLINE Wide sum_rounded_to_odd(Wide p, Wide c) {
  const Wide s = p + c;
  const Wide c_part = s - p;
  const Wide error = (p - (s - c_part)) + (c - c_part);
  // s is the nearest double. Where it is inexact and even, the odd neighbour on the side of the error takes its place: one step away
  // from zero if error and s have the same sign, else one towards it. Comparisons with a NaN error (s is not finite) are false.
  const WideInts positive = WideInts(error > 0.0), negative = WideInts(error < 0.0);
  const WideInts step = (negative ^ WideInts(s < 0.0)) | 1;
  const WideInts even = (WideInts(s) & 1) - 1;
  return Wide(WideInts(s) + (step & (positive | negative) & even));
}

// Out of line: some forty instructions, at hundreds of places.
[[gnu::noinline]] inline Floats part_fma(Floats a, Floats b, Floats c) {
  const Wide low = sum_rounded_to_odd(_mm_cvtps_pd(a) * _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  const Wide high = sum_rounded_to_odd(_mm_cvtps_pd(_mm_movehl_ps(a, a)) * _mm_cvtps_pd(_mm_movehl_ps(b, b)), _mm_cvtps_pd(_mm_movehl_ps(c, c)));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

ROTE_INLINE Floats part_sqrt(Floats a) { return _mm_sqrt_ps(a); }

ROTE_INLINE void part_mul_wide(Ints a, uint32_t factor, Ints& high, Ints& low) {
  const __m128i x = __m128i(a), f = _mm_set1_epi32(static_cast<int>(factor));
  const __m128i even = _mm_mul_epu32(x, f), odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), f);
  // Words 0 and 2 of each product are low halves, 1 and 3 high halves.
  low = Ints(_mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08), _mm_shuffle_epi32(odd, 0x08)));
  high = Ints(_mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x0D), _mm_shuffle_epi32(odd, 0x0D)));
}

#else  // other machines have the instruction in their baseline

ROTE_INLINE Floats part_fma(Floats a, Floats b, Floats c) {
  return Floats{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]), __builtin_fmaf(a[2], b[2], c[2]), __builtin_fmaf(a[3], b[3], c[3])};
}

ROTE_INLINE Floats part_sqrt(Floats a) {
  return Floats{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3])};
}

ROTE_INLINE void part_mul_wide(Ints a, uint32_t factor, Ints& high, Ints& low) {
  const UInts x = UInts(a);
  const uint64_t p0 = uint64_t{x[0]} * factor, p1 = uint64_t{x[1]} * factor, p2 = uint64_t{x[2]} * factor, p3 = uint64_t{x[3]} * factor;
  high = Ints(UInts{uint32_t(p0 >> 32), uint32_t(p1 >> 32), uint32_t(p2 >> 32), uint32_t(p3 >> 32)});
  low = Ints(UInts{uint32_t(p0), uint32_t(p1), uint32_t(p2), uint32_t(p3)});
}

#endif

}  // namespace rote::isa::ROTE_ISA_NAME

#include "kernels/simd/pair.h"
#include "kernels/simd/part.h"

namespace rote::isa::ROTE_ISA_NAME {

ROTE_INLINE void transpose4(PartInt& a, PartInt& b, PartInt& c, PartInt& d) {
  const Ints ab_low = __builtin_shufflevector(a.v, b.v, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a.v, b.v, 2, 6, 3, 7);
  const Ints cd_low = __builtin_shufflevector(c.v, d.v, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c.v, d.v, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

using Vec = PairVec<PairVec<Part>>;
using Mask = Vec::Mask;
using Int = Vec::Int;

ROTE_INLINE Vec from_bits(Int a) { return Vec::from_bits(a); }
ROTE_INLINE Vec to_vec(Int a) { return Vec::from_int(a); }
ROTE_INLINE Vec scale2_by_halves(Vec v, Int k);
ROTE_INLINE Vec scale2(Vec v, Int k) { return scale2_by_halves(v, k); }

}  // namespace rote::isa::ROTE_ISA_NAME

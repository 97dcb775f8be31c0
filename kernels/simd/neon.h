// kernels/simd/neon.h — 16 float lanes as four NEON registers of ARMv8.0 aarch64. Intrinsics live here and in its two sisters only.
#pragma once

#include <arm_neon.h>

namespace rote::isa::ROTE_ISA_NAME {

using Real = float;
using Bits = int32_t;
typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef uint32_t UInts __attribute__((vector_size(16)));
constexpr Bits kSignBit = INT32_MIN;
constexpr Bits kExponentBias = 127;
constexpr int kMantissaBits = 23;

ROTE_INLINE Floats part_fma(Floats a, Floats b, Floats c) { return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
ROTE_INLINE Floats part_sqrt(Floats a) { return (Floats)vsqrtq_f32((float32x4_t)a); }

ROTE_INLINE void part_mul_wide(Ints a, uint32_t factor, Ints& high, Ints& low) {
  const uint32x4_t x = (uint32x4_t)a;
  const uint32x2_t f = vdup_n_u32(factor);
  const uint32x4_t first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x), f));
  const uint32x4_t second = vreinterpretq_u32_u64(vmull_u32(vget_high_u32(x), f));
  low = (Ints)vuzp1q_u32(first, second);
  high = (Ints)vuzp2q_u32(first, second);
}

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

// kernels/simd/f64.h — 16 double lanes as one more instruction set, for gradcheck and f64 tensors; baseline on every machine. No intrinsics.
#pragma once

#define ROTE_F64  // sources that are for f32 alone ask for it

namespace rote::isa::ROTE_ISA_NAME {

using Real = double;
using Bits = int64_t;
typedef double Floats __attribute__((vector_size(16)));
typedef int64_t Ints __attribute__((vector_size(16)));
typedef uint64_t UInts __attribute__((vector_size(16)));
constexpr Bits kSignBit = INT64_MIN;
constexpr Bits kExponentBias = 1023;
constexpr int kMantissaBits = 52;

// The library's fma is rounded once by definition, in hardware or not. Out of line: its two calls stand at hundreds of places.
[[gnu::noinline]] inline Floats part_fma(Floats a, Floats b, Floats c) {
  return Floats{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

ROTE_INLINE Floats part_sqrt(Floats a) { return Floats{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }

ROTE_INLINE void part_mul_wide(Ints a, uint32_t factor, Ints& high, Ints& low) {
  const uint64_t p0 = uint64_t{uint32_t(a[0])} * factor, p1 = uint64_t{uint32_t(a[1])} * factor;
  high = Ints(UInts{p0 >> 32, p1 >> 32});
  low = Ints(UInts{uint32_t(p0), uint32_t(p1)});
}

}  // namespace rote::isa::ROTE_ISA_NAME

#include "kernels/simd/pair.h"
#include "kernels/simd/part.h"

namespace rote::isa::ROTE_ISA_NAME {

using Vec = PairVec<PairVec<PairVec<Part>>>;
using Mask = Vec::Mask;
using Int = Vec::Int;

ROTE_INLINE Vec from_bits(Int a) { return Vec::from_bits(a); }
ROTE_INLINE Vec to_vec(Int a) { return Vec::from_int(a); }
ROTE_INLINE Vec scale2_by_halves(Vec v, Int k);
ROTE_INLINE Vec scale2(Vec v, Int k) { return scale2_by_halves(v, k); }

}  // namespace rote::isa::ROTE_ISA_NAME

// kernels/simd/vec.h — Vec: 16 lanes of Real on every machine, with the same result bits on each. No elementary functions (math.h).
//
// A per-ISA source is compiled once per instruction set with -DROTE_ISA_NAME=<scalar|avx2|avx512|neon|f64>; all its code lies in
// namespace rote::isa::ROTE_ISA_NAME. The header of that name gives the types below; the functions on them are found by argument:
//   Real          float; double in f64
//   Vec           16 Reals. Vec(Real) broadcasts and is implicit. + - * / unary -, += -= *=, < <= > >= == != (-> Mask)
//                 fma(a, b, c) = a·b + c rounded once; sqrt, abs, copysign(magnitude, sign), maximum, minimum (arithmetic.md 5), isnan
//                 at_most(a, limit), at_least(a, limit): the limit where a is beyond it, else a (so a NaN in a stays)
//                 bits(v) -> Int, to_int(v) -> Int (nearest even, |v| <= 2^21), scale2(v, k) = v·2^k rounded once (see scale2_by_halves)
//                 fold(v): lanes i += i+8, then +4, +2, +1; the result is lane 0. fold_maximum(v) alike with maximum. get(v, lane)
//   Mask          16 flags. & | ~, any, all, select(mask, if_true, if_false) for Vec and Int (one of the two must have that type)
//   Int           16 int32; int64 in f64. Int(Bits) broadcasts. + - & | ^, << (by int), shr (logical), sar (arithmetic), == <, max
//                 from_bits(i) -> Vec, to_vec(i) -> Vec
//                 Int::load_half_words, store_half_words: from and to 16 words of 16 bits; a lane to be stored is below 65536
//                 With F16C: load_f16(p) -> Vec, 16 f16 numbers; nearest_f16(v) -> Int, the 16 bits of v in f16; rounded_to_f16(v) -> Vec; of a NaN anything
//   For Philox:   mul_wide, transpose4 (simd/philox.h says how they are used)
// `lane` is the same with one lane in place of 16: a thread of a device. Loops over Vec, elementary functions and formulas compile on it
// as they stand; what counts on 16 lanes (Philox, the sums and tiles of kernels/cpu) does not.
#pragma once

#include <stdint.h>

#include "kernels/host_device.h"

#ifndef ROTE_ISA_NAME
#error "kernels/simd/vec.h: compile with -DROTE_ISA_NAME=<instruction set>; only per-ISA sources include this header."
#endif

// Everything that a per-ISA source takes from a header is inlined by force: an out-of-line copy would be a weak symbol, and the linker
// could hand the one built with wide instructions to a machine without them.
// Baseline builds (scalar, f64) have no wide instructions to leak and stay small instead: ROTE_SMALL lets the compiler choose.
#if defined(__CUDACC__)
#define ROTE_INLINE ROTE_HD __attribute__((always_inline))
#elif defined(ROTE_SMALL)
#define ROTE_INLINE inline
#else
#define ROTE_INLINE __attribute__((always_inline)) inline
#endif

// A lambda's body that is inlined by force, as everything in a loop over Vec must be.
#define ROTE_LOOP_BODY __attribute__((always_inline))

#define ROTE_SIMD_TEXT(text) #text
#define ROTE_SIMD_HEADER(path) ROTE_SIMD_TEXT(path)
#include ROTE_SIMD_HEADER(kernels/simd/ROTE_ISA_NAME.h)
#undef ROTE_SIMD_HEADER
#undef ROTE_SIMD_TEXT

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kLanes = Vec::lanes;
static_assert((kLanes == 16 || kLanes == 1) && sizeof(Vec) == kLanes * sizeof(Real));

ROTE_INLINE Vec load(const Real* p) { return Vec::load(p); }
// The first n lanes from memory, the others +0; memory past n is not touched. n >= 0; 16 and more load all.
ROTE_INLINE Vec load(const Real* p, int n) { return Vec::load(p, n); }
ROTE_INLINE void store(Real* p, Vec v) { v.store(p); }
ROTE_INLINE void store(Real* p, Vec v, int n) { v.store(p, n); }
// One lane, for the rare loop over lanes.
ROTE_INLINE Real get(Vec v, int lane) {
  Real all[kLanes];
  v.store(all);
  return all[lane];
}

// Lane numbers 0 … 15, and the mask of the lanes below n.
alignas(64) constexpr Bits kLaneNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
ROTE_INLINE Int iota() {
  if constexpr (kLanes == 1) return Int(Bits(0));  // a device has no address of the table
  else return Int::load(kLaneNumbers);
}
ROTE_INLINE Mask first(int n) { return iota() < Int(static_cast<Bits>(n)); }

// v·2^k rounded once, for k whose half is a normal exponent (|k| <= 250 in f32) and v in [0.25, 4): the first product is then exact.
ROTE_INLINE Vec scale2_by_halves(Vec v, Int k) {
  const Int half = sar(k, 1);
  const Int rest = k - half;
  const Int bias(kExponentBias);
  return (v * from_bits((half + bias) << kMantissaBits)) * from_bits((rest + bias) << kMantissaBits);
}
// 2^k for a normal exponent k.
ROTE_INLINE Vec power2(Int k) { return from_bits((k + Int(kExponentBias)) << kMantissaBits); }

// The largest (bits & 0x7FFFFFFF) of the values seen, as f32: finite < infinity < NaN (arithmetic.md 9).
struct Amax {
#ifdef ROTE_WITHOUT_STATUS  // a build that bench/status.py compares with
  ROTE_INLINE void see(Vec) {}
  ROTE_INLINE void see(Vec, int) {}
#else
  ROTE_INLINE void see(Vec v) { largest = max(largest, bits(abs(v))); }
  ROTE_INLINE void see(Vec v, int n) { see(select(first(n), v, Vec(Real(0)))); }
#endif
  ROTE_INLINE void see(Real v) { see(Vec(v)); }
  ROTE_INLINE uint32_t word() const {
    Bits all[kLanes];
    largest.store(all);
    Bits top = 0;
    for (int i = 0; i < kLanes; ++i) top = all[i] > top ? all[i] : top;
    Real value;
    __builtin_memcpy(&value, &top, sizeof value);
    const float narrow = static_cast<float>(value);
    uint32_t word;
    __builtin_memcpy(&word, &narrow, sizeof word);
    return word & 0x7FFFFFFFu;
  }
  Int largest = Int(Bits(0));
};

}  // namespace rote::isa::ROTE_ISA_NAME

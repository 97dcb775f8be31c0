// kernels/simd/sixteen.h — the two 16-bit floats to f32 and back on 16 lanes, as kernels/dtype.h defines them, and how a kernel reads and writes them
// where they lie. In f64 there are none.
#pragma once

#include "kernels/elements.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

#ifndef ROTE_F64

constexpr Bits kInfinityBits = 0x7F800000, kMagnitudeBits = 0x7FFFFFFF;

struct Bf16 {
  static ROTE_INLINE Vec load(const uint16_t* p) { return from_bits(Int::load_half_words(p) << 16); }
  static ROTE_INLINE Int narrowed(Vec v) {
    const Int u = bits(v);
    const Int nearest_even = shr(u + Int(0x7FFF) + (shr(u, 16) & Int(1)), 16);
    return select(isnan(v), Int(0x7FC0), nearest_even);
  }
  static ROTE_INLINE Vec rounded(Vec v) {  // there and back
    const Int u = bits(v);
    const Int nearest_even = (u + Int(0x7FFF) + (shr(u, 16) & Int(1))) & Int(static_cast<Bits>(0xFFFF0000u));
    return from_bits(select(isnan(v), Int(0x7FC00000), nearest_even));
  }
};

struct F16 {
#ifdef __F16C__
  static ROTE_INLINE Vec load(const uint16_t* p) { return load_f16(p); }
  static ROTE_INLINE Int narrowed(Vec v) { return select(isnan(v), Int(0x7E00), nearest_f16(v)); }
  static ROTE_INLINE Vec rounded(Vec v) { return select(isnan(v), from_bits(Int(0x7FC00000)), rounded_to_f16(v)); }
#else
  // Exponent and fraction at f32's places; the product moves the bias by 112 and makes subnormal halves normal, exactly.
  static ROTE_INLINE Vec widened(Int x) {
    const Int magnitude = x & Int(0x7FFF);
    const Vec finite = from_bits(magnitude << 13) * Vec(0x1p112f);
    const Vec other = from_bits((magnitude << 13) | Int(kInfinityBits));
    return from_bits(bits(select(magnitude < Int(0x7C00), finite, other + other)) | ((x & Int(0x8000)) << 16));  // the sum makes a NaN quiet
  }
  static ROTE_INLINE Vec load(const uint16_t* p) { return widened(Int::load_half_words(p)); }
  // Below 2^-14 the addend's ulp is 2^-24, the step of subnormal halves: the sum rounds once, to even.
  static ROTE_INLINE Int narrowed(Vec v) {
    const Int u = bits(v), a = u & Int(kMagnitudeBits);
    const Int normal = shr(a - Int(112 << 23) + Int(0xFFF) + (shr(a, 13) & Int(1)), 13);
    const Int subnormal = bits(from_bits(a) + Vec(0.5f)) - Int(0x3F000000);
    const Int finite = select(a < Int(0x38800000), subnormal, normal);
    const Int rounded = select(a < Int(0x477FF000), finite, Int(0x7C00)) | (shr(u, 16) & Int(0x8000));
    return select(Int(kInfinityBits) < a, Int(0x7E00), rounded);
  }
  static ROTE_INLINE Vec rounded(Vec v) { return widened(narrowed(v)); }
#endif
};

#endif

// Sources: 16 elements, or the first n and zeros, as Reals. Targets: the same way back.
struct Plain {
  using Element = Real;
  static ROTE_INLINE Vec load(const Real* p) { return Vec::load(p); }
  static ROTE_INLINE Vec load(const Real* p, int n) { return Vec::load(p, n); }
  static ROTE_INLINE void store(Real* p, Vec v, int n) { v.store(p, n); }
};

#ifndef ROTE_F64

template <class Format>
struct Sixteen {
  using Element = uint16_t;
  static ROTE_INLINE Vec load(const uint16_t* p) { return Format::load(p); }
  static ROTE_INLINE Vec load(const uint16_t* p, int n) {
    if (n >= kLanes) return load(p);
    uint16_t words[kLanes] = {};
    for (int i = 0; i < n; ++i) words[i] = p[i];
    return load(words);
  }
  static ROTE_INLINE void store(uint16_t* p, Vec v, int n) {
    if (n >= kLanes) return Format::narrowed(v).store_half_words(p);
    uint16_t words[kLanes];
    Format::narrowed(v).store_half_words(words);
    for (int i = 0; i < n; ++i) p[i] = words[i];
  }
};

template <class Format>
struct Rounded {
  using Element = Real;
  static ROTE_INLINE Vec load(const Real* p) { return Format::rounded(Vec::load(p)); }
  static ROTE_INLINE Vec load(const Real* p, int n) { return Format::rounded(Vec::load(p, n)); }
};

#endif

// f(Plain{}) or f of the source and target for 16 bits.
template <class F>
ROTE_INLINE auto with_format([[maybe_unused]] Stored stored, const F& f) {
#ifndef ROTE_F64
  if (stored == Stored::bf16) return f(Sixteen<Bf16>{});
  if (stored == Stored::f16) return f(Sixteen<F16>{});
#endif
  return f(Plain{});
}

// The same for all sources.
template <class F>
ROTE_INLINE auto with_source(Stored stored, const F& f) {
#ifndef ROTE_F64
  if (stored == Stored::rounded_to_bf16) return f(Rounded<Bf16>{});
  if (stored == Stored::rounded_to_f16) return f(Rounded<F16>{});
#endif
  return with_format(stored, f);
}

}  // namespace rote::isa::ROTE_ISA_NAME

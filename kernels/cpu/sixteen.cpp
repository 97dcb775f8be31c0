// kernels/cpu/sixteen.cpp — the two 16-bit floats to f32 and back, as kernels/dtype.h defines it, 16 elements at a time. No f64.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"

#ifndef ROTE_F64

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr Bits kInfinity = 0x7F800000, kMagnitude = 0x7FFFFFFF;
constexpr int64_t kTask = 1 << 16;

struct Bf16 {
  static ROTE_INLINE Vec widened(Int x) { return from_bits(x << 16); }
  static ROTE_INLINE Int narrowed(Vec v) {
    const Int u = bits(v);
    const Int nearest_even = shr(u + Int(0x7FFF) + (shr(u, 16) & Int(1)), 16);
    return select(Int(kInfinity) < (u & Int(kMagnitude)), Int(0x7FC0), nearest_even);
  }
};

struct F16 {
  // Exponent and fraction at f32's places; the product moves the bias by 112 and makes subnormal halves normal, exactly.
  static ROTE_INLINE Vec widened(Int x) {
    const Int magnitude = x & Int(0x7FFF);
    const Int finite = bits(from_bits(magnitude << 13) * Vec(0x1p112f));
    return from_bits(select(magnitude < Int(0x7C00), finite, (magnitude << 13) | Int(kInfinity)) | ((x & Int(0x8000)) << 16));
  }
  // Below 2^-14 the addend's ulp is 2^-24, the step of subnormal halves: the sum rounds once, to even.
  static ROTE_INLINE Int narrowed(Vec v) {
    const Int u = bits(v), a = u & Int(kMagnitude);
    const Int normal = shr(a - Int(112 << 23) + Int(0xFFF) + (shr(a, 13) & Int(1)), 13);
    const Int subnormal = bits(from_bits(a) + Vec(0.5f)) - Int(0x3F000000);
    const Int finite = select(a < Int(0x38800000), subnormal, normal);
    const Int rounded = select(a < Int(0x477FF000), finite, Int(0x7C00)) | (shr(u, 16) & Int(0x8000));
    return select(Int(kInfinity) < a, Int(0x7E00), rounded);
  }
};

template <class Format>
void widen(int64_t n, const uint16_t* x, Real* y) {
  parallel(ceil_div(n, kTask), [=](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTask, n);
    int64_t i = task * kTask;
    for (; i + kLanes <= end; i += kLanes) store(y + i, Format::widened(Int::load_half_words(x + i)));
    if (i == end) return 0;
    uint16_t rest[kLanes] = {};
    __builtin_memcpy(rest, x + i, static_cast<size_t>(end - i) * sizeof *x);
    store(y + i, Format::widened(Int::load_half_words(rest)), static_cast<int>(end - i));
    return 0;
  });
}

template <class Format>
void narrow(int64_t n, const Real* x, uint16_t* y) {
  parallel(ceil_div(n, kTask), [=](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTask, n);
    int64_t i = task * kTask;
    for (; i + kLanes <= end; i += kLanes) Format::narrowed(load(x + i)).store_half_words(y + i);
    if (i == end) return 0;
    uint16_t rest[kLanes];
    Format::narrowed(load(x + i, static_cast<int>(end - i))).store_half_words(rest);
    __builtin_memcpy(y + i, rest, static_cast<size_t>(end - i) * sizeof *y);
    return 0;
  });
}

}  // namespace

}  // namespace rote::isa::ROTE_ISA_NAME

namespace rote {

namespace here = isa::ROTE_ISA_NAME;

template <>
constinit const SixteenTable<float> RareTable<here::Tag, SixteenTable<float>>::table = {
    here::widen<here::Bf16>, here::widen<here::F16>, here::narrow<here::Bf16>, here::narrow<here::F16>};

}  // namespace rote

#endif

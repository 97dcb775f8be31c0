// kernels/cpu/sixteen.cpp — the two 16-bit floats to f32 and back, as kernels/dtype.h defines it, 16 elements at a time. No f64.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/simd/philox.h"
#include "kernels/simd/sixteen.h"

#ifndef ROTE_F64

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr int64_t kTask = 1 << 16;

template <class Format>
void widen(int64_t n, const uint16_t* x, Real* y) {
  parallel(ceil_div(n, kTask), [=](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTask, n);
    int64_t i = task * kTask;
    for (; i + kLanes <= end; i += kLanes) store(y + i, Format::load(x + i));
    if (i == end) return 0;
    uint16_t rest[kLanes] = {};
    __builtin_memcpy(rest, x + i, static_cast<size_t>(end - i) * sizeof *x);
    store(y + i, Format::load(rest), static_cast<int>(end - i));
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

constexpr int64_t kChanceUnit = 2 * kBlockWords;  // elements that 16 blocks serve

ROTE_INLINE Int narrowed_by_chance(Vec v, const uint16_t* half_words) {
  constexpr Bits kTopBits = 0x7F7F0000;  // from here on a neighbour is infinite
  const Int u = bits(v);
  return select((u & Int(kMagnitudeBits)) < Int(kTopBits), shr(u + Int::load_half_words(half_words), 16), Bf16::narrowed(v));
}

void narrow_by_chance(const Chance& chance, int64_t first, int64_t n, const Real* x, uint16_t* y) {
  parallel(ceil_div(n, kTask), [=](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTask, n);
    for (int64_t begin = task * kTask; begin < end; begin += kChanceUnit) {
      alignas(64) uint32_t words[kBlockWords];
      const Int blocks = block_lanes() + Int(static_cast<Bits>(static_cast<uint32_t>((first + begin) / 8)));
      philox16(chance.seed, blocks, chance.step, chance.op, words);
      uint16_t half_words[kChanceUnit], rounded[kChanceUnit];
      __builtin_memcpy(half_words, words, sizeof words);
      const int64_t count = least(kChanceUnit, end - begin);
      over_row(count, [&](int64_t i, auto m) ROTE_LOOP_BODY { narrowed_by_chance(load(x + begin + i, m), half_words + i).store_half_words(rounded + i); });
      __builtin_memcpy(y + begin, rounded, static_cast<size_t>(count) * sizeof *y);
    }
    return 0;
  });
}

}  // namespace

}  // namespace rote::isa::ROTE_ISA_NAME

namespace rote {

namespace here = isa::ROTE_ISA_NAME;

template <>
constinit const SixteenTable<float> RareTable<here::Tag, SixteenTable<float>>::table = {
    here::widen<here::Bf16>, here::widen<here::F16>, here::narrow<here::Bf16>, here::narrow<here::F16>, here::narrow_by_chance};

}  // namespace rote

#endif

// kernels/cpu/sixteen.cpp — the two 16-bit floats to f32 and back, as kernels/dtype.h defines it, 16 elements at a time. No f64.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
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

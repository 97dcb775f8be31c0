// kernels/cpu/random.cpp — dropout and random fills from Philox words. No state: seed, op and sample come with the call (arithmetic.md 7).
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/math64.h"
#include "kernels/simd/philox.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr int64_t kDropoutUnit = 2 * kBlockWords;  // elements that 16 blocks serve: one half word each
constexpr int64_t kTaskUnits = 64;

ROTE_INLINE Int blocks_from(int64_t block) { return block_lanes() + Int(static_cast<Bits>(static_cast<uint32_t>(block))); }

// y[i] from the word of element i by convert(words, values), 16 blocks at a time, in tasks of 64 of these.
template <class F>
uint32_t fill(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y, const F& convert) {
  constexpr int64_t kTask = kTaskUnits * kBlockWords;
  return parallel(ceil_div(n, kTask), [&](int64_t task) -> uint32_t {
    const int64_t end = least((task + 1) * kTask, n);
    Amax amax;
    for (int64_t begin = task * kTask; begin < end; begin += kBlockWords) {
      uint32_t words[kBlockWords];
      philox16(seed, blocks_from(begin / 4), sample, op, words);
      Real values[kBlockWords];
      convert(words, values);
      over_row(least(end - begin, kBlockWords), [&](int64_t i, auto m) ROTE_LOOP_BODY {
        const Vec v = load(values + i, m);
        store(y + begin + i, v, m);
        see(amax, v, m);
      });
    }
    return amax.word();
  });
}

}  // namespace

uint32_t dropout(const Dropout& dropout, int64_t samples, int64_t per_sample, const Real* x, Real* y) {
  const int64_t tasks = ceil_div(per_sample, kTaskUnits * kDropoutUnit);
  return parallel(samples * tasks, [&](int64_t task) -> uint32_t {
    const int64_t s = task / tasks, first_unit = task % tasks * kTaskUnits * kDropoutUnit;
    const int64_t end = least(first_unit + kTaskUnits * kDropoutUnit, per_sample);
    const Real* in = x + s * per_sample;
    Real* out = y + s * per_sample;
    Amax amax;
    for (int64_t begin = first_unit; begin < end; begin += kDropoutUnit) {
      alignas(64) uint32_t words[kBlockWords] = {};
      if (dropout.threshold > 0)
        philox16(dropout.seed, blocks_from(begin / 8), dropout.first_sample + static_cast<uint64_t>(s), dropout.op, words);
      uint16_t half_words[kDropoutUnit];
      __builtin_memcpy(half_words, words, sizeof words);
      over_row(least(end - begin, kDropoutUnit), [&](int64_t i, auto m) ROTE_LOOP_BODY {
        const Vec v = drop(load(in + begin + i, m), half_words + i, dropout.threshold, static_cast<Real>(dropout.scale));
        store(out + begin + i, v, m);
        see(amax, v, m);
      });
    }
    return amax.word();
  });
}

uint32_t uniform(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y) {
  return fill(seed, op, sample, n, y, [](const uint32_t* words, Real* values) {
    for (int i = 0; i < kBlockWords; ++i) values[i] = static_cast<Real>(static_cast<int32_t>(words[i] >> 8)) * static_cast<Real>(0x1p-24);
  });
}

uint32_t normal(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y) {
  return fill(seed, op, sample, n, y, [](const uint32_t* words, Real* values) {
    double exact[kBlockWords];
    math64::normal_quantiles(words, kBlockWords, exact);
    for (int i = 0; i < kBlockWords; ++i) values[i] = static_cast<Real>(exact[i]);
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME

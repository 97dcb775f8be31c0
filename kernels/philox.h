// kernels/philox.h — Philox4x32-10: 16 random bytes as a function of a key and a counter. Holds no state; who counts is arithmetic.md 7.
// Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3". The form for 16 blocks at once: simd/philox.h.
#pragma once

#include <cstdint>

namespace rote {

struct PhiloxBlock {
  uint32_t word[4];
};

constexpr uint32_t kPhiloxFactor0 = 0xD2511F53u, kPhiloxFactor1 = 0xCD9E8D57u;
constexpr uint32_t kPhiloxStep0 = 0x9E3779B9u, kPhiloxStep1 = 0xBB67AE85u;
constexpr int kPhiloxRounds = 10;

// The four words of block (counter) under key = seed, low half first.
__attribute__((always_inline)) inline PhiloxBlock philox(uint64_t seed, PhiloxBlock counter) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t a = uint64_t{kPhiloxFactor0} * counter.word[0];
    const uint64_t b = uint64_t{kPhiloxFactor1} * counter.word[2];
    counter = {{static_cast<uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(b),
                static_cast<uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += kPhiloxStep0;
    key1 += kPhiloxStep1;
  }
  return counter;
}

// The counter of block `block` of a consumed sample in op `op` (arithmetic.md 7).
__attribute__((always_inline)) inline PhiloxBlock philox_counter(uint64_t block, uint64_t sample, uint32_t op) {
  return {{static_cast<uint32_t>(block), static_cast<uint32_t>(sample), op, static_cast<uint32_t>(sample >> 32)}};
}

}  // namespace rote

// kernels/simd/philox.h — Philox for 16 blocks at once, and dropout's comparison of their half words. The function itself: kernels/philox.h.
//
// A lane computes one block, so word k of 16 blocks lies in one Int and has to be transposed before blocks follow each other in memory.
// Registers transpose 4x4 inside groups of four lanes only. Block 4q + g is therefore given to lane 4g + q (block_lanes): then the four
// transposed Ints are blocks 0-3, 4-7, 8-11 and 12-15, in order.
#pragma once

#include "kernels/philox.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kBlockWords = 16 * 4;  // words of 16 blocks; as uint16: 128 half words, in element order (low half first: little endian)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

alignas(64) constexpr Bits kBlockLanes[kLanes] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

// The number, 0 … 15, of the block that each lane computes.
ROTE_INLINE Int block_lanes() { return Int::load(sizeof(Real) == 4 ? kBlockLanes : kLaneNumbers); }

template <class I>
ROTE_INLINE void store_blocks(uint32_t* words, I a, I b, I c, I d) {
  if constexpr (sizeof(Bits) == 4) {
    transpose4(a, b, c, d);
    Bits* out = reinterpret_cast<Bits*>(words);
    a.store(out), b.store(out + 16), c.store(out + 32), d.store(out + 48);
  } else {
    Bits rows[4][kLanes];
    a.store(rows[0]), b.store(rows[1]), c.store(rows[2]), d.store(rows[3]);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int k = 0; k < 4; ++k) words[4 * lane + k] = static_cast<uint32_t>(rows[k][lane]);
  }
}

// Ten rounds of Philox (kernels/philox.h) on 16 counters at once, one a lane; words[w] is word w of each lane's block.
ROTE_INLINE void philox_lanes(uint64_t seed, Int block, uint64_t sample, uint32_t op, Int (&words)[4]) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  Int c0 = block, c1(static_cast<Bits>(static_cast<uint32_t>(sample))), c2(static_cast<Bits>(op)),
      c3(static_cast<Bits>(static_cast<uint32_t>(sample >> 32)));
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Int high0, low0, high1, low1;
    mul_wide(c0, kPhiloxFactor0, high0, low0);
    mul_wide(c2, kPhiloxFactor1, high1, low1);
    c0 = high1 ^ c1 ^ Int(static_cast<Bits>(key0));
    c2 = high0 ^ c3 ^ Int(static_cast<Bits>(key1));
    c1 = low1, c3 = low0;
    key0 += kPhiloxStep0, key1 += kPhiloxStep1;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

// words[4·j … 4·j+3] = block j of 16. `block`: low counter word of each lane's block, made from block_lanes(); `sample` as in philox_counter.
ROTE_INLINE void philox16(uint64_t seed, Int block, uint64_t sample, uint32_t op, uint32_t* words) {
  Int by_word[4];
  philox_lanes(seed, block, sample, op, by_word);
  store_blocks(words, by_word[0], by_word[1], by_word[2], by_word[3]);
}

// x·scale where the half word reaches the threshold, else +0: 16 elements by their 16 half words.
ROTE_INLINE Vec drop(Vec x, const uint16_t* half_words, uint32_t threshold, Real scale) {
  const Mask dropped = Int::load_half_words(half_words) < Int(static_cast<Bits>(threshold));
  return select(dropped, Vec(Real(0)), x * Vec(scale));
}

}  // namespace rote::isa::ROTE_ISA_NAME

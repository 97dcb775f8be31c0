// kernels/fingerprint.h — a fast 64-bit fingerprint of raw memory, to compare runs with: equal bits give equal values everywhere. It is not
// cryptographic: who wants to can make two inputs alike (tensor/hash.h has the hash for that). Tensors: tensor/fingerprint.h.
#pragma once

#include <cstdint>

#include "kernels/dtype.h"

namespace rote {

// Takes one word in. A bijection of h for each word and of the word for each h, so that one word that differs always shows. Two products: after one
// alone, a change of a word's highest bit would be a change of one bit, which another word could undo.
constexpr uint64_t fingerprint_mix(uint64_t h, uint64_t word) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;
  h = (h ^ word) * kOdd;
  return (h ^ h >> 32) * kOdd;
}

inline constexpr int64_t kFingerprintChunk = 65536;  // bytes: the unit of work, whatever the number of threads

// Of `bytes` bytes of elements of the dtype, at most one chunk, each NaN taken as the canonical one. Lane l of 8 starts at l + 1 and takes the
// little-endian words l, l + 8, … of the bytes, which zeros fill up to a multiple of 64; then the lanes are taken in, in order, from 0 on.
uint64_t fingerprint_chunk(DType dtype, const void* data, int64_t bytes);

}  // namespace rote

#include "kernels/fingerprint.h"

#include <cstddef>
#include <cstring>
#include <vector>

namespace rote {

namespace {

constexpr int64_t kLanes = 8, kGroup = kLanes * 8;

// The bits of a floating dtype: all but the sign, infinity, and the one NaN; zeros for integers, of which none exceeds its magnitude.
struct NanBits {
  uint64_t magnitude = 0, infinity = 0, canonical = 0;
};

NanBits nan_bits(DType dtype) {
  switch (dtype) {
    case DType::f64: return {0x7FFFFFFFFFFFFFFFu, 0x7FF0000000000000u, 0x7FF8000000000000u};
    case DType::f32: return {0x7FFFFFFFu, 0x7F800000u, 0x7FC00000u};
    case DType::f16: return {0x7FFFu, 0x7C00u, 0x7E00u};
    case DType::bf16: return {0x7FFFu, 0x7F80u, 0x7FC0u};
    default: return {};
  }
}

uint64_t word_at(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The same element in all places of a word.
uint64_t spread(uint64_t element, int64_t size) {
  uint64_t word = 0;
  for (int64_t at = 0; at < 64; at += 8 * size) word |= element << at;
  return word;
}

struct Lanes {
  uint64_t h[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint64_t nans = 0;  // the sign bit of a place where there was a NaN

  // n bytes, a multiple of kGroup. A magnitude above infinity carries into the sign's place when all that lies above infinity is added.
  void add(const unsigned char* p, int64_t n, uint64_t magnitude, uint64_t above) {
    uint64_t lane[kLanes], found = nans;
    std::memcpy(lane, h, sizeof lane);
    for (int64_t at = 0; at < n; at += kGroup)
      for (int64_t l = 0; l < kLanes; ++l) {
        const uint64_t word = word_at(p + at + 8 * l);
        found |= (word & magnitude) + above;
        lane[l] = fingerprint_mix(lane[l], word);
      }
    std::memcpy(h, lane, sizeof lane);
    nans = found;
  }
};

uint64_t folded(const Lanes& lanes) {
  uint64_t h = 0;
  for (const uint64_t lane : lanes.h) h = fingerprint_mix(h, lane);
  return h;
}

Lanes lanes_of(const unsigned char* p, int64_t bytes, uint64_t magnitude, uint64_t above) {
  Lanes lanes;
  const int64_t whole = bytes / kGroup * kGroup;
  lanes.add(p, whole, magnitude, above);
  if (whole < bytes) {
    unsigned char rest[kGroup] = {};
    std::memcpy(rest, p + whole, static_cast<size_t>(bytes - whole));
    lanes.add(rest, kGroup, magnitude, above);
  }
  return lanes;
}

}  // namespace

uint64_t fingerprint_chunk(DType dtype, const void* data, int64_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  const NanBits nan = nan_bits(dtype);
  const int64_t size = size_of(dtype);
  const uint64_t magnitude = spread(nan.magnitude, size), above = spread(nan.magnitude - nan.infinity, size);
  const Lanes lanes = lanes_of(p, bytes, magnitude, above);
  if ((lanes.nans & ~magnitude) == 0 || nan.magnitude == 0) return folded(lanes);
  std::vector<unsigned char> clean(p, p + bytes);
  for (int64_t at = 0; at < bytes; at += size) {
    uint64_t element = 0;
    std::memcpy(&element, clean.data() + at, static_cast<size_t>(size));
    if ((element & nan.magnitude) > nan.infinity) std::memcpy(clean.data() + at, &nan.canonical, static_cast<size_t>(size));
  }
  return folded(lanes_of(clean.data(), bytes, magnitude, above));
}

}  // namespace rote

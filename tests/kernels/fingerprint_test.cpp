// tests/kernels/fingerprint_test.cpp — every bit counts, whatever its place; a NaN is like any other of its dtype.
#include "kernels/fingerprint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

using namespace rote;

TEST_CASE("fingerprint: the mixing step is a bijection, and the value of docs/reproducibility.md") {
  CHECK(fingerprint_mix(0, 0) == 0);
  CHECK(fingerprint_mix(0, 1) == 0xAB169EB805B8C71Cu);
  CHECK(fingerprint_mix(5, 7) == fingerprint_mix(7, 5));  // one of the two changed: another value; both exchanged: the same
  CHECK(fingerprint_mix(5, 7) != fingerprint_mix(5, 6));
}

TEST_CASE("fingerprint: each of the bits of a chunk changes it, in whole groups and in the rest") {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{200}}) {
    std::vector<unsigned char> data(bytes, 7);
    std::set<uint64_t> seen = {fingerprint_chunk(DType::u8, data.data(), static_cast<int64_t>(bytes))};
    for (size_t bit = 0; bit < 8 * bytes; ++bit) {
      data[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
      seen.insert(fingerprint_chunk(DType::u8, data.data(), static_cast<int64_t>(bytes)));
      data[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    }
    CAPTURE(bytes);
    CHECK(seen.size() == 8 * bytes + 1);
  }
}

TEST_CASE("fingerprint: no two signs turned cancel, nor do all of them, nor any two high bits") {
  const std::vector<float> data(200, 1.0f);
  const auto of = [](const std::vector<float>& x) { return fingerprint_chunk(DType::f32, x.data(), static_cast<int64_t>(4 * x.size())); };
  std::set<uint64_t> seen = {of(data)};
  size_t expected = 1;
  for (size_t i = 0; i < data.size(); ++i)
    for (size_t j = i; j < data.size(); ++j, ++expected) {
      std::vector<float> turned = data;
      turned[i] = -turned[i], turned[j] = i == j ? turned[j] : -turned[j];
      seen.insert(of(turned));
    }
  CHECK(seen.size() == expected);
  CHECK(seen.count(of(std::vector<float>(200, -1.0f))) == 0);
  // Of words, in one lane: both bits changed in all ways.
  std::set<uint64_t> pairs;
  for (int high = 0; high < 64; ++high)
    for (int low = 0; low < 64; ++low) {
      uint64_t words[32] = {};
      words[3] = uint64_t{1} << high, words[11] = uint64_t{1} << low;
      pairs.insert(fingerprint_chunk(DType::i64, words, sizeof words));
    }
  CHECK(pairs.size() == 64 * 64);
}

TEST_CASE("fingerprint: NaNs of all payloads and signs are one, and an infinity is none") {
  const auto of = [](DType t, uint64_t pattern, int at) {
    std::vector<unsigned char> data(100 * static_cast<size_t>(size_of(t)));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i % 60);
    std::memcpy(data.data() + at * size_of(t), &pattern, static_cast<size_t>(size_of(t)));
    return fingerprint_chunk(t, data.data(), static_cast<int64_t>(data.size()));
  };
  struct Case {
    DType t;
    uint64_t canonical, others[3], infinity;
  };
  const Case cases[] = {{DType::f32, 0x7FC00000u, {0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu}, 0x7F800000u},
                        {DType::f16, 0x7E00u, {0xFE00u, 0x7C01u, 0xFFFFu}, 0x7C00u},
                        {DType::bf16, 0x7FC0u, {0xFFC0u, 0x7F81u, 0xFFFFu}, 0x7F80u},
                        {DType::f64, 0x7FF8000000000000u, {0xFFF8000000000000u, 0x7FF0000000000001u, ~uint64_t{0}}, 0x7FF0000000000000u}};
  for (const Case& c : cases)
    for (const int at : {0, 1, 98, 99}) {
      CAPTURE(name(c.t));
      CAPTURE(at);
      for (const uint64_t other : c.others) CHECK(of(c.t, other, at) == of(c.t, c.canonical, at));
      CHECK(of(c.t, c.infinity, at) != of(c.t, c.canonical, at));
      const uint64_t sign = uint64_t{1} << (8 * size_of(c.t) - 1);
      CHECK(of(c.t, c.infinity | sign, at) != of(c.t, c.infinity, at));
    }
  CHECK(of(DType::i32, 0x7FC00000u, 3) != of(DType::i32, 0x7FC00001u, 3));
}

// tests/kernels/random_test.cpp — Philox against its known answers, and the words that dropout, uniform and normal take for each element.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "kernels/math64.h"
#include "kernels/philox.h"
#include "tests/kernels/spec.h"

using namespace rote::testing;
using rote::Dropout;
using rote::philox;
using rote::philox_counter;
using rote::PhiloxBlock;

TEST_CASE("philox: known answers of its authors' Random123") {
  const struct {
    uint64_t seed;
    PhiloxBlock counter, words;
  } cases[] = {
      {0, {{0, 0, 0, 0}}, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}}},
      {~uint64_t{0}, {{~0u, ~0u, ~0u, ~0u}}, {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}}},
      {0x299f31d0a4093822u, {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, {{0xd16cfe09u, 0x94fdcceb, 0x5001e420u, 0x24126ea1u}}},
  };
  for (const auto& c : cases) {
    const PhiloxBlock got = philox(c.seed, c.counter);
    for (int i = 0; i < 4; ++i) CHECK(got.word[i] == c.words.word[i]);
  }
}

TEST_CASE("uniform, normal: element i comes from word i%4 of block i/4, the same bits on each instruction set") {
  const uint64_t seed = 0x123456789ABCDEF0u, sample = 0x500000003u;
  const uint32_t op = 77;
  for (int64_t n : {0, 1, 3, 4, 63, 64, 65, 5000, 20001}) {
    std::vector<float> uniform(static_cast<size_t>(n)), normal(static_cast<size_t>(n));
    std::vector<double> wide(static_cast<size_t>(n)), got_wide(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t word = philox(seed, philox_counter(static_cast<uint64_t>(i / 4), sample, op)).word[i % 4];
      uniform[i] = static_cast<float>(word >> 8) * 0x1p-24f;
      wide[i] = rote::math64::normal_quantile((word + 0.5) * 0x1p-32);
      normal[i] = static_cast<float>(wide[i]);
    }
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(static_cast<size_t>(n));
      CAPTURE(std::string(table.isa));
      CHECK(table.uniform(seed, op, sample, n, y.data()) == amax_word(uniform));
      CHECK(same_bits(y, uniform));
      CHECK(table.normal(seed, op, sample, n, y.data()) == amax_word(normal));
      CHECK(same_bits(y, normal));
    });
    rote::kernels<double>().normal(seed, op, sample, n, got_wide.data());
    CHECK(got_wide == wide);
  }
}

TEST_CASE("normal: a million draws have the moments of a standard normal") {
  const int64_t n = 1 << 20;
  std::vector<float> z(n);
  rote::kernels<float>().normal(1, 2, 3, n, z.data());
  double moments[4] = {};
  for (float v : z) {
    double power = 1;
    for (double& m : moments) m += (power *= v) / n;
  }
  // Five standard errors: sqrt(1, 2, 15, 96) / 2^10 times 5.
  CHECK(std::fabs(moments[0]) < 0.005);
  CHECK(std::fabs(moments[1] - 1) < 0.007);
  CHECK(std::fabs(moments[2]) < 0.02);
  CHECK(std::fabs(moments[3] - 3) < 0.05);
}

TEST_CASE("dropout: half word e%8 of block e/8 decides element e, whatever the batch, chunk or instruction set") {
  Dropout d;
  d.seed = 42, d.first_sample = 0xFFFFFFFEu, d.op = 9, d.threshold = 6554, d.scale = 65536.0f / (65536 - 6554);
  const struct {
    int64_t samples, per_sample;
  } shapes[] = {{1, 1}, {3, 7}, {2, 8}, {4, 128}, {3, 129}, {2, 20000}};
  for (const auto& shape : shapes) {
    const std::vector<float> x = random_values(shape.samples * shape.per_sample, 51);
    std::vector<float> expected(x.size());
    for (int64_t s = 0; s < shape.samples; ++s) {
      for (int64_t e = 0; e < shape.per_sample; ++e) {
        const PhiloxBlock block = philox(d.seed, philox_counter(static_cast<uint64_t>(e / 8), d.first_sample + static_cast<uint64_t>(s), d.op));
        const uint32_t word = block.word[e % 8 / 2], half = e % 2 == 0 ? word & 0xFFFF : word >> 16;
        expected[s * shape.per_sample + e] = half < d.threshold ? 0.0f : x[s * shape.per_sample + e] * d.scale;
      }
    }
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(x.size());
      CAPTURE(std::string(table.isa));
      CAPTURE(shape.per_sample);
      CHECK(table.dropout(d, shape.samples, shape.per_sample, x.data(), y.data()) == amax_word(expected));
      CHECK(same_bits(y, expected));
      y = x;
      table.dropout(d, shape.samples, shape.per_sample, y.data(), y.data());
      CHECK(same_bits(y, expected));
    });
    const rote::KernelTable<double>& wide = rote::kernels<double>();
    std::vector<double> in(x.begin(), x.end()), out(x.size());
    wide.dropout(d, shape.samples, shape.per_sample, in.data(), out.data());
    for (size_t i = 0; i < out.size(); ++i) CHECK((out[i] == 0) == (expected[i] == 0));
  }
}

TEST_CASE("dropout: a threshold of 0 keeps every element") {
  const std::vector<float> x = random_values(300, 52);
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> y(300);
    table.dropout(Dropout{}, 3, 100, x.data(), y.data());
    CHECK(same_bits(y, x));
  });
}

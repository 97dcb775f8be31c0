// tests/kernels/sixteen_test.cpp — 16-bit floats to f32 and back on each instruction set: the conversions of kernels/dtype.h, to the bit.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/philox.h"
#include "tests/kernels/isas.h"

using namespace rote;
using namespace rote::testing;

namespace {

std::vector<const SixteenTable<float>*> sixteen_tables() {
  std::vector<const SixteenTable<float>*> all;
  for (const KernelTable<float>* table : all_tables()) all.push_back(rare_kernel_table<SixteenTable>(table->isa));
  return all;
}

// Every 4099th pattern, and those beside each place where rounding changes.
std::vector<float> samples() {
  std::vector<float> x;
  for (uint64_t u = 0; u < uint64_t{1} << 32; u += 4099) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(u)));
  for (uint32_t h = 0; h < 65536; ++h)
    for (const float middle : {to_float(Half{static_cast<uint16_t>(h)}), to_float(BFloat16{static_cast<uint16_t>(h)})})
      for (const int32_t step : {-1, 0, 1, 0x7FFF, 0x8000, 0x8001, 0x0FFF, 0x1000, 0x1001}) x.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(middle) + static_cast<uint32_t>(step)));
  return x;
}

}  // namespace

TEST_CASE("16-bit floats: all of them widen as dtype.h says, on each instruction set") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const SixteenTable<float>* table : sixteen_tables()) {
    std::vector<float> bf16(all.size()), f16(all.size());
    table->from_bf16(65536, all.data(), bf16.data());
    table->from_f16(65536, all.data(), f16.data());
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      wrong += std::bit_cast<uint32_t>(bf16[i]) != std::bit_cast<uint32_t>(to_float(BFloat16{all[i]}));
      wrong += std::bit_cast<uint32_t>(f16[i]) != std::bit_cast<uint32_t>(to_float(Half{all[i]}));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("16-bit floats: f32 is narrowed to the nearest even, on each instruction set") {
  const std::vector<float> x = samples();
  for (const SixteenTable<float>* table : sixteen_tables()) {
    std::vector<uint16_t> bf16(x.size()), f16(x.size());
    table->to_bf16(static_cast<int64_t>(x.size()), x.data(), bf16.data());
    table->to_f16(static_cast<int64_t>(x.size()), x.data(), f16.data());
    int64_t wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) wrong += (bf16[i] != to_bfloat16(x[i]).bits) + (f16[i] != to_half(x[i]).bits);
    CHECK(wrong == 0);
  }
}

TEST_CASE("16-bit floats: rounding by chance adds the half word of the element and cuts, on each instruction set and from any block on") {
  std::vector<float> x = samples();
  x.resize(128 * 4096 + 77);
  const int64_t first = int64_t{1} << 33;
  const Chance chance{.seed = 0x123456789ABCDEF0u, .step = 0x500000003u, .op = 77};
  std::vector<uint16_t> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    const uint64_t e = static_cast<uint64_t>(first) + i;
    const uint32_t word = philox(chance.seed, philox_counter(e / 8, chance.step, chance.op)).word[e % 8 / 2];
    const uint32_t u = std::bit_cast<uint32_t>(x[i]), half_word = e % 2 == 0 ? word & 0xFFFFu : word >> 16;
    expected.push_back((u & 0x7FFFFFFFu) < 0x7F7F0000u ? static_cast<uint16_t>((u + half_word) >> 16) : to_bfloat16(x[i]).bits);
  }
  const auto check = [&](const SixteenTable<float>& table, int64_t from) {
    std::vector<uint16_t> y(x.size() + 1, 0xABCD);
    table.to_bf16_by_chance(chance, first + from, static_cast<int64_t>(x.size()) - from, x.data() + from, y.data() + from);
    int64_t wrong = 0;
    for (size_t i = static_cast<size_t>(from); i < x.size(); ++i) wrong += y[i] != expected[i];
    CHECK(wrong == 0);
    CHECK(y.back() == 0xABCD);
  };
  for (const SixteenTable<float>* table : sixteen_tables())
    for (const int64_t from : {0, 128, 2048 * 5}) check(*table, from);
}

TEST_CASE("16-bit floats: a number rounded by chance is one of its two neighbours, and itself in the mean") {
  const SixteenTable<float>& table = *rare_kernel_table<SixteenTable>("scalar");
  constexpr int kDraws = 1 << 16;
  for (const float x : {1.0f, 1.001f, -1.0039f, 3e-39f, 65504.5f, -2.99e38f, 0.0f}) {
    CAPTURE(x);
    const uint32_t u = std::bit_cast<uint32_t>(x) & 0xFFFF0000u;
    const double lower = to_float(BFloat16{static_cast<uint16_t>(u >> 16)}), upper = u == std::bit_cast<uint32_t>(x) ? lower : to_float(BFloat16{static_cast<uint16_t>((u >> 16) + 1)});
    const std::vector<float> many(kDraws, x);
    std::vector<uint16_t> y(kDraws);
    table.to_bf16_by_chance({.seed = 9, .step = 4, .op = 2}, 0, kDraws, many.data(), y.data());
    double sum = 0;
    int elsewhere = 0;
    for (const uint16_t bits : y) {
      const double value = to_float(BFloat16{bits});
      elsewhere += value != lower && value != upper;
      sum += value - lower;
    }
    CHECK(elsewhere == 0);
    // Five standard errors of a coin thrown that often, which has at most half of the gap.
    CHECK(std::abs(sum / kDraws - (static_cast<double>(x) - lower)) <= 5 * 0.5 / 256 * std::abs(upper - lower));
  }
}

TEST_CASE("16-bit floats: any number of elements, and no neighbour is touched") {
  for (const SixteenTable<float>* table : sixteen_tables())
    for (int64_t n = 0; n < 40; ++n) {
      std::vector<float> x(64, 1.5f), y(64, -2.0f);
      std::vector<uint16_t> h(64, 0xABCD);
      table->to_f16(n, x.data(), h.data());
      table->from_f16(n, h.data(), y.data());
      for (int64_t i = 0; i < 64; ++i) {
        CHECK(h[static_cast<size_t>(i)] == (i < n ? to_half(1.5f).bits : 0xABCD));
        CHECK(y[static_cast<size_t>(i)] == (i < n ? 1.5f : -2.0f));
      }
    }
}

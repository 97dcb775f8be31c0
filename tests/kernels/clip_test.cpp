// tests/kernels/clip_test.cpp — sums of squares per block for the clip norm: fp64, 64 lanes, blocks of 4096.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/kernels/spec.h"

using namespace rote::testing;

TEST_CASE("square_blocks: 64 fp64 lanes a block of 4096, on each instruction set") {
  for (int64_t n : {0, 1, 63, 64, 65, 1000, 4096, 4097, 300001}) {
    const std::vector<float> x = random_values(n, 61, 1e30f);  // squares overflow in f32, not here
    const int64_t count = (n + 4095) / 4096;
    std::vector<double> expected(static_cast<size_t>(count));
    for (int64_t b = 0; b < count; ++b) {
      const int64_t begin = b * 4096;
      expected[b] = spec_lane_sum(std::min<int64_t>(n - begin, 4096), [&](int64_t i) { return static_cast<double>(x[begin + i]) * x[begin + i]; });
    }
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<double> blocks(static_cast<size_t>(count), 99.0);
      table.square_blocks(n, x.data(), blocks.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(n);
      CHECK(blocks == expected);
    });
  }
}

TEST_CASE("square_blocks: an infinity or NaN shows in its block alone") {
  std::vector<float> x(3 * 4096, 1.0f);
  x[5] = std::nanf("");
  x[4096 + 77] = -INFINITY;
  each_table([&](const rote::KernelTable<float>& table) {
    double blocks[3];
    table.square_blocks(static_cast<int64_t>(x.size()), x.data(), blocks);
    CHECK(std::isnan(blocks[0]));
    CHECK(blocks[1] == INFINITY);
    CHECK(blocks[2] == 4096.0);
  });
}

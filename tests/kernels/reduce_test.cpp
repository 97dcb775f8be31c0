// tests/kernels/reduce_test.cpp — sums and maxima: the order of every addition, bit for bit, for each instruction set and thread count.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/spec.h"

namespace {

using namespace rote::testing;
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("sum_rows: 64 lanes, leaves of 4096 and the tree, in exactly this order") {
  const struct {
    int64_t rows, n;
  } shapes[] = {{3, 0}, {5, 1}, {7, 15}, {2, 16}, {2, 17}, {3, 63}, {3, 64}, {4, 65}, {9, 384}, {2, 1000}, {2, 4096}, {2, 4097}, {1, 3 * 4096 + 77}, {1, 23 * 4096 + 5}, {20, 40000}};
  for (const auto& shape : shapes) {
    const std::vector<float> x = random_values(shape.rows * shape.n, 1);
    std::vector<float> expected(static_cast<size_t>(shape.rows));
    for (int64_t r = 0; r < shape.rows; ++r) expected[r] = spec_lane_sum(shape.n, [&](int64_t i) { return x[r * shape.n + i]; });
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(expected.size(), 99.0f);
      const uint32_t word = table.sum_rows(shape.rows, shape.n, x.data(), y.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(shape.n);
      CHECK(same_bits(y, expected));
      CHECK(word == amax_word(y));
    });
  }
}

TEST_CASE("sum_rows: no result is -0") {
  const std::vector<float> x(70, -0.0f);
  each_table([&](const rote::KernelTable<float>& table) {
    float y = 99;
    table.sum_rows(1, 70, x.data(), &y);
    CHECK(std::bit_cast<uint32_t>(y) == 0u);
  });
}

TEST_CASE("sum_columns: one chain a leaf, cut every 1024 rows, then the trees") {
  const struct {
    int64_t rows, columns, leaf;
  } shapes[] = {{0, 5, 0}, {1, 1, 0}, {6, 3, 1}, {13, 64, 2}, {64, 65, 8}, {70, 384, 32}, {2500, 20, 0}, {2500, 70, 1250}, {4099, 17, 1}, {100, 130, 48}};
  for (const auto& shape : shapes) {
    const std::vector<float> x = random_values(shape.rows * shape.columns, 2);
    std::vector<float> expected(static_cast<size_t>(shape.columns));
    for (int64_t c = 0; c < shape.columns; ++c)
      expected[c] = spec_column_sum(shape.rows, shape.leaf, [&](float sum, int64_t r) { return sum + x[r * shape.columns + c]; });
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(expected.size(), 99.0f);
      const uint32_t word = table.sum_columns(shape.rows, shape.columns, shape.leaf, x.data(), y.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(shape.rows);
      CHECK(same_bits(y, expected));
      CHECK(word == amax_word(y));
    });
  }
}

TEST_CASE("sum_columns: halves of a batch, added, give the bits of the whole") {
  const int64_t leaf = 16, rows = 8 * leaf, columns = 48;
  const std::vector<float> x = random_values(rows * columns, 3);
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> whole(columns), first(columns), second(columns);
    table.sum_columns(rows, columns, leaf, x.data(), whole.data());
    table.sum_columns(rows / 2, columns, leaf, x.data(), first.data());
    table.sum_columns(rows / 2, columns, leaf, x.data() + rows / 2 * columns, second.data());
    for (int64_t c = 0; c < columns; ++c) CHECK(same_bits(whole[c], first[c] + second[c]));
  });
}

TEST_CASE("max_rows: the largest of each row; NaN wins, +0 is above -0") {
  for (int64_t n : {1, 2, 16, 31, 32, 33, 100, 385}) {
    std::vector<float> x = random_values(4 * n, 4);
    for (int64_t i = 0; i < n; ++i) x[n + i] = -0.0f, x[2 * n + i] = -kInf;
    x[2 * n - 1] = 0.0f;
    x[3 * n + n / 2] = std::nanf("");
    float top = -kInf;
    for (int64_t i = 0; i < n; ++i) top = std::max(top, x[i]);
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(4, 99.0f);
      const uint32_t word = table.max_rows(4, n, x.data(), y.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(n);
      CHECK(y[0] == top);
      CHECK(std::bit_cast<uint32_t>(y[1]) == 0u);
      CHECK(y[2] == -kInf);
      CHECK(std::isnan(y[3]));
      CHECK(word > 0x7F800000u);
    });
  }
}

TEST_CASE("sum_rows, sum_columns: the f64 table follows the same order") {
  const int64_t rows = 5, n = 4500;
  std::vector<double> x(rows * n), y(rows);
  for (int64_t i = 0; i < rows * n; ++i) x[i] = std::sin(static_cast<double>(i) * 1.7);
  rote::kernels<double>().sum_rows(rows, n, x.data(), y.data());
  for (int64_t r = 0; r < rows; ++r) CHECK(y[r] == spec_lane_sum(n, [&](int64_t i) { return x[r * n + i]; }));
}

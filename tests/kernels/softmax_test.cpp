// tests/kernels/softmax_test.cpp — softmax and log-softmax: exact formula and order, masked rows, NaN, gradients against differences.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

namespace {

using namespace rote::testing;
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> spec_softmax(int64_t n, const float* x) {
  float max = -kInf;
  for (int64_t i = 0; i < n; ++i) max = std::max(max, x[i]);
  std::vector<float> p(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) p[i] = call("exp", x[i] - max);
  const float sum = spec_lane_sum(n, [&](int64_t i) { return p[i]; });
  for (float& v : p) v /= sum;
  return p;
}

}  // namespace

TEST_CASE("softmax: exact max, exp, 64-lane sum, true division, on each instruction set") {
  for (int64_t n : {1, 2, 15, 16, 63, 64, 100, 513, 4100}) {
    const int64_t rows = 3;
    const std::vector<float> x = random_values(rows * n, 11, 9);
    std::vector<float> expected;
    for (int64_t r = 0; r < rows; ++r) {
      const std::vector<float> row = spec_softmax(n, x.data() + r * n);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(x.size());
      const uint32_t word = table.softmax(rows, n, x.data(), y.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(n);
      CHECK(same_bits(y, expected));
      CHECK(word == amax_word(y));
      std::vector<float> logs(x.size());
      table.log_softmax(rows, n, x.data(), logs.data());
      // Two roundings of numbers up to 18: their difference from the truth is 2 ulps of 16.
      for (size_t i = 0; i < x.size(); ++i) CHECK(near(logs[i], std::log(static_cast<double>(y[i])), 0, 4e-6));
    });
  }
}

TEST_CASE("softmax: a row masked throughout gives 0, a masked element weight 0, NaN and +inf show in the whole row") {
  const int64_t n = 20;
  std::vector<float> x = random_values(4 * n, 12);
  for (int64_t i = 0; i < n; ++i) x[i] = -kInf;
  x[n + 3] = -kInf;
  x[2 * n + 19] = std::nanf("");
  x[3 * n] = kInf;
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> y(x.size()), logs(x.size());
    const uint32_t word = table.softmax(4, n, x.data(), y.data());
    table.log_softmax(4, n, x.data(), logs.data());
    for (int64_t i = 0; i < n; ++i) {
      CHECK(same_bits(y[i], 0.0f));
      CHECK(logs[i] == -kInf);
      CHECK(std::isnan(y[2 * n + i]));
      CHECK(std::isnan(y[3 * n + i]));
    }
    CHECK(same_bits(y[n + 3], 0.0f));
    CHECK(logs[n + 3] == -kInf);
    CHECK(word > 0x7F800000u);
  });
}

TEST_CASE("softmax: gradients follow their formula bit for bit") {
  const int64_t rows = 3, n = 77;
  const std::vector<float> x = random_values(rows * n, 13, 3), dy = random_values(rows * n, 14);
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> y(x.size()), logs(x.size()), dx(x.size()), dlogs(x.size());
    table.softmax(rows, n, x.data(), y.data());
    table.log_softmax(rows, n, x.data(), logs.data());
    const uint32_t word = table.softmax_backward(rows, n, y.data(), dy.data(), dx.data());
    table.log_softmax_backward(rows, n, logs.data(), dy.data(), dlogs.data());
    CHECK(word == amax_word(dx));
    for (int64_t r = 0; r < rows; ++r) {
      const float dot = spec_lane_sum(n, [&](int64_t i) { return y[r * n + i] * dy[r * n + i]; });
      const float sum = spec_lane_sum(n, [&](int64_t i) { return dy[r * n + i]; });
      for (int64_t i = r * n; i < (r + 1) * n; ++i) {
        CHECK(same_bits(dx[i], y[i] * (dy[i] - dot)));
        CHECK(same_bits(dlogs[i], std::fma(-call("exp", logs[i]), sum, dy[i])));
      }
    }
  });
}

TEST_CASE("softmax: f64 gradients agree with differences") {
  const int64_t n = 9;
  const rote::KernelTable<double>& table = rote::kernels<double>();
  std::vector<double> x(n), dy(n), y(n), dx(n), dlogs(n), logs(n), moved(n);
  for (int64_t i = 0; i < n; ++i) x[i] = std::sin(i * 1.3) * 2, dy[i] = std::cos(i * 2.1);
  table.softmax(1, n, x.data(), y.data());
  table.log_softmax(1, n, x.data(), logs.data());
  table.softmax_backward(1, n, y.data(), dy.data(), dx.data());
  table.log_softmax_backward(1, n, logs.data(), dy.data(), dlogs.data());
  for (int64_t k = 0; k < n; ++k) {
    double slopes[2] = {0, 0};
    for (double side : {1.0, -1.0}) {
      std::vector<double> at = x;
      at[k] += side * 1e-5;
      table.softmax(1, n, at.data(), moved.data());
      for (int64_t i = 0; i < n; ++i) slopes[0] += side * dy[i] * moved[i] / 2e-5;
      table.log_softmax(1, n, at.data(), moved.data());
      for (int64_t i = 0; i < n; ++i) slopes[1] += side * dy[i] * moved[i] / 2e-5;
    }
    // Central differences: error of order step² = 1e-10 and eps/step = 1e-11.
    CHECK(near(dx[k], slopes[0], 1e-7, 1e-9));
    CHECK(near(dlogs[k], slopes[1], 1e-7, 1e-9));
  }
}

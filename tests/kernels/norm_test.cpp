// tests/kernels/norm_test.cpp — layer norm and its gradients: formula and order bit for bit, and f64 against differences.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

namespace {

using namespace rote::testing;

struct Norm {
  int64_t rows, n;
  std::vector<float> x, w, b, dy;
  float eps = 1e-5f;
  Norm(int64_t rows, int64_t n) : rows(rows), n(n), x(random_values(rows * n, 21, 3)), w(random_values(n, 22)), b(random_values(n, 23)), dy(random_values(rows * n, 24)) {}
};

struct Statistics {
  float mean, rstd;
};
Statistics statistics(const Norm& k, int64_t r) {
  const float* x = k.x.data() + r * k.n;
  const float mean = spec_lane_sum(k.n, [&](int64_t i) { return x[i]; }) / static_cast<float>(k.n);
  const float variance = spec_lane_sum(k.n, [&](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / static_cast<float>(k.n);
  return {mean, 1.0f / std::sqrt(variance + k.eps)};
}

}  // namespace

TEST_CASE("layer_norm: two passes, true root and division, one fma, on each instruction set") {
  for (int64_t n : {1, 7, 16, 64, 100, 384, 4097}) {
    const Norm k(5, n);
    std::vector<float> expected(k.x.size()), plain(k.x.size()), mean(5), rstd(5);
    for (int64_t r = 0; r < k.rows; ++r) {
      const Statistics s = statistics(k, r);
      mean[r] = s.mean, rstd[r] = s.rstd;
      for (int64_t i = 0; i < n; ++i) {
        plain[r * n + i] = (k.x[r * n + i] - s.mean) * s.rstd;
        expected[r * n + i] = std::fma(plain[r * n + i], k.w[i], k.b[i]);
      }
    }
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(k.x.size()), m(5), s(5);
      const uint32_t word = table.layer_norm(5, n, k.eps, k.x.data(), k.w.data(), k.b.data(), y.data(), m.data(), s.data());
      CAPTURE(std::string(table.isa));
      CAPTURE(n);
      CHECK(same_bits(y, expected));
      CHECK(same_bits(m, mean));
      CHECK(same_bits(s, rstd));
      CHECK(word == std::max({amax_word(y), amax_word(m), amax_word(s)}));
      table.layer_norm(5, n, k.eps, k.x.data(), nullptr, nullptr, y.data(), m.data(), s.data());
      CHECK(same_bits(y, plain));
      table.layer_norm(5, n, k.eps, k.x.data(), k.w.data(), nullptr, y.data(), m.data(), s.data());
      for (size_t i = 0; i < y.size(); ++i) CHECK(same_bits(y[i], plain[i] * k.w[i % n]));
      table.layer_norm(5, n, k.eps, k.x.data(), nullptr, k.b.data(), y.data(), m.data(), s.data());
      for (size_t i = 0; i < y.size(); ++i) CHECK(same_bits(y[i], plain[i] + k.b[i % n]));
    });
  }
}

TEST_CASE("layer_norm: gradients have their formula's bits; weights by leaves and trees") {
  for (int64_t leaf : {0, 1, 4}) {
    for (int64_t n : {5, 40, 384}) {
      const Norm k(11, n);
      std::vector<float> h(k.x.size()), mean(11), rstd(11), dx(k.x.size()), dw(n), db(n);
      for (int64_t r = 0; r < k.rows; ++r) {
        const Statistics s = statistics(k, r);
        mean[r] = s.mean, rstd[r] = s.rstd;
        const int64_t at = r * n;
        for (int64_t i = 0; i < n; ++i) h[at + i] = (k.x[at + i] - s.mean) * s.rstd;
        const float count = static_cast<float>(n);
        const float mean_g = spec_lane_sum(n, [&](int64_t i) { return k.dy[at + i] * k.w[i]; }) / count;
        const float mean_gh = spec_lane_sum(n, [&](int64_t i) { return k.dy[at + i] * k.w[i] * h[at + i]; }) / count;
        for (int64_t i = 0; i < n; ++i) dx[at + i] = s.rstd * std::fma(-h[at + i], mean_gh, k.dy[at + i] * k.w[i] - mean_g);
      }
      for (int64_t c = 0; c < n; ++c) {
        dw[c] = spec_column_sum(11, leaf, [&](float sum, int64_t r) { return std::fma(k.dy[r * n + c], h[r * n + c], sum); });
        db[c] = spec_column_sum(11, leaf, [&](float sum, int64_t r) { return sum + k.dy[r * n + c]; });
      }
      each_table([&](const rote::KernelTable<float>& table) {
        std::vector<float> gx(k.x.size()), gw(n), gb(n);
        const uint32_t word = table.layer_norm_backward(11, n, leaf, k.x.data(), k.w.data(), mean.data(), rstd.data(), k.dy.data(), gx.data(), gw.data(), gb.data());
        CAPTURE(std::string(table.isa));
        CAPTURE(n);
        CHECK(same_bits(gx, dx));
        CHECK(same_bits(gw, dw));
        CHECK(same_bits(gb, db));
        CHECK(word == std::max({amax_word(gx), amax_word(gw), amax_word(gb)}));
        std::fill(gw.begin(), gw.end(), 99.0f);
        table.layer_norm_backward(11, n, leaf, k.x.data(), nullptr, mean.data(), rstd.data(), k.dy.data(), nullptr, nullptr, gb.data());
        CHECK(same_bits(gb, db));
        CHECK(gw[0] == 99.0f);
      });
    }
  }
}

TEST_CASE("layer_norm: without a mean it is RMS norm, bit for bit") {
  for (int64_t n : {1, 40, 384}) {
    const Norm k(11, n);
    std::vector<float> expected(k.x.size()), h(k.x.size()), rstd(11), dx(k.x.size()), dw(n);
    for (int64_t r = 0; r < k.rows; ++r) {
      const int64_t at = r * n;
      const float count = static_cast<float>(n);
      rstd[r] = 1.0f / std::sqrt(spec_lane_sum(n, [&](int64_t i) { return k.x[at + i] * k.x[at + i]; }) / count + k.eps);
      for (int64_t i = 0; i < n; ++i) {
        h[at + i] = k.x[at + i] * rstd[r];
        expected[at + i] = h[at + i] * k.w[i];
      }
      const float mean_gh = spec_lane_sum(n, [&](int64_t i) { return k.dy[at + i] * k.w[i] * h[at + i]; }) / count;
      for (int64_t i = 0; i < n; ++i) dx[at + i] = rstd[r] * std::fma(-h[at + i], mean_gh, k.dy[at + i] * k.w[i]);
    }
    for (int64_t c = 0; c < n; ++c) dw[c] = spec_column_sum(11, 4, [&](float sum, int64_t r) { return std::fma(k.dy[r * n + c], h[r * n + c], sum); });
    each_table([&](const rote::KernelTable<float>& table) {
      std::vector<float> y(k.x.size()), s(11), gx(k.x.size()), gw(n);
      CAPTURE(std::string(table.isa));
      CAPTURE(n);
      const uint32_t word = table.layer_norm(11, n, k.eps, k.x.data(), k.w.data(), nullptr, y.data(), nullptr, s.data());
      CHECK(same_bits(y, expected));
      CHECK(same_bits(s, rstd));
      CHECK(word == std::max(amax_word(y), amax_word(s)));
      table.layer_norm_backward(11, n, 4, k.x.data(), k.w.data(), nullptr, rstd.data(), k.dy.data(), gx.data(), gw.data(), nullptr);
      CHECK(same_bits(gx, dx));
      CHECK(same_bits(gw, dw));
    });
  }
}

TEST_CASE("layer_norm: f64 gradients agree with differences") {
  const int64_t rows = 3, n = 6;
  const rote::KernelTable<double>& table = rote::kernels<double>();
  std::vector<double> x(rows * n), w(n), b(n), dy(rows * n), y(rows * n), mean(rows), rstd(rows), dx(rows * n), dw(n), db(n);
  for (int64_t i = 0; i < rows * n; ++i) x[i] = std::sin(i * 1.9) * 2, dy[i] = std::cos(i * 0.7);
  for (int64_t i = 0; i < n; ++i) w[i] = 1 + 0.1 * i, b[i] = 0.3 * i;
  const auto loss = [&] {
    table.layer_norm(rows, n, 1e-5, x.data(), w.data(), b.data(), y.data(), mean.data(), rstd.data());
    double sum = 0;
    for (int64_t i = 0; i < rows * n; ++i) sum += y[i] * dy[i];
    return sum;
  };
  const auto slope = [&](double& v) {
    const double at = v;
    v = at + 1e-5;
    const double above = loss();
    v = at - 1e-5;
    const double below = loss();
    v = at;
    return (above - below) / 2e-5;
  };
  loss();
  table.layer_norm_backward(rows, n, 0, x.data(), w.data(), mean.data(), rstd.data(), dy.data(), dx.data(), dw.data(), db.data());
  // Central differences: error of order step² = 1e-10 and eps·|loss|/step = 1e-10.
  for (int64_t i = 0; i < rows * n; ++i) CHECK(near(dx[i], slope(x[i]), 1e-7, 1e-8));
  for (int64_t i = 0; i < n; ++i) CHECK(near(dw[i], slope(w[i]), 1e-7, 1e-8));
  for (int64_t i = 0; i < n; ++i) CHECK(near(db[i], slope(b[i]), 1e-7, 1e-8));
}

// tests/kernels/batch_norm_test.cpp — norms of channels and of their groups: formula, order of the sums, gradients, bit for bit. Derivatives: ops_test.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/kernels/spec.h"

using namespace rote::testing;

TEST_CASE("batch_norm: samples are summed by lanes, then by leaves and trees, on each instruction set") {
  struct Case {
    int64_t N, C, S, leaf;
    bool training;
  };
  for (const Case& k : {Case{7, 5, 1, 0, true}, Case{40, 37, 1, 4, true}, Case{6, 3, 70, 1, true}, Case{5, 20, 9, 0, true}, Case{6, 3, 70, 1, false}, Case{9, 33, 1, 0, false}}) {
    const int64_t size = k.N * k.C * k.S;
    const std::vector<float> x = random_values(size, 31, 3), dy = random_values(size, 32), w = random_values(k.C, 33), b = random_values(k.C, 34);
    const float eps = 1e-5f, count = static_cast<float>(k.N * k.S);
    const auto at = [&](int64_t n, int64_t c, int64_t s) { return static_cast<size_t>((n * k.C + c) * k.S + s); };
    const auto channel_sum = [&](int64_t c, const auto& value) {
      return spec_column_sum(k.N, k.leaf, [&](float sum, int64_t n) {
        return sum + (k.S == 1 ? value(at(n, c, 0)) : spec_lane_sum(k.S, [&](int64_t s) { return value(at(n, c, s)); }));
      });
    };
    std::vector<float> mean = random_values(k.C, 35), var(k.C, 0.5f), y(size), dx(size), dw(k.C), db(k.C), plain(size);
    for (int64_t c = 0; c < k.C; ++c) {
      if (k.training) {
        mean[c] = channel_sum(c, [&](size_t i) { return x[i]; }) / count;
        var[c] = channel_sum(c, [&](size_t i) { return (x[i] - mean[c]) * (x[i] - mean[c]); }) / count;
      }
      const float rstd = 1.0f / std::sqrt(var[c] + eps);
      const auto h = [&](size_t i) { return (x[i] - mean[c]) * rstd; };
      db[c] = channel_sum(c, [&](size_t i) { return dy[i]; });
      dw[c] = channel_sum(c, [&](size_t i) { return dy[i] * h(i); });
      for (int64_t n = 0; n < k.N; ++n)
        for (int64_t s = 0; s < k.S; ++s) {
          const size_t i = at(n, c, s);
          plain[i] = h(i);
          y[i] = std::fma(h(i), w[c], b[c]);
          dx[i] = (rstd * w[c]) * (k.training ? std::fma(-h(i), dw[c] / count, dy[i] - db[c] / count) : dy[i]);
        }
    }
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(std::string(table.isa));
      CAPTURE(k.N);
      CAPTURE(k.S);
      std::vector<float> m = mean, v = var, out(size), gx(size), gw(k.C), gb(k.C);
      if (k.training) std::fill(m.begin(), m.end(), 99.0f), std::fill(v.begin(), v.end(), 99.0f);
      rote::BatchNorm<float> norm{.N = k.N, .C = k.C, .S = k.S, .leaf = k.leaf, .eps = eps, .training = k.training, .x = x.data(), .w = w.data(), .b = b.data(),
                                  .mean = m.data(), .var = v.data(), .y = out.data()};
      const uint32_t forward_word = table.batch_norm(norm);
      CHECK(forward_word == amax_word(out));
      CHECK(same_bits(m, mean));
      CHECK(same_bits(v, var));
      CHECK(same_bits(out, y));
      const uint32_t word = table.batch_norm_backward({.forward = norm, .dy = dy.data(), .dx = gx.data(), .dw = gw.data(), .db = gb.data()});
      CHECK(word == std::max({amax_word(gx), amax_word(gw), amax_word(gb)}));
      CHECK(same_bits(gx, dx));
      CHECK(same_bits(gw, dw));
      CHECK(same_bits(gb, db));
      norm.w = norm.b = nullptr;
      table.batch_norm(norm);
      CHECK(same_bits(out, plain));
    });
  }
}

TEST_CASE("group_norm: statistics of a group, sums of its channels and then of the samples, on each instruction set") {
  struct Case {
    int64_t N, C, S, groups, leaf;
  };
  for (const Case& k : {Case{3, 6, 70, 2, 1}, Case{5, 34, 1, 2, 0}, Case{2, 8, 9, 8, 0}}) {
    const int64_t size = k.N * k.C * k.S, channels = k.C / k.groups, n = channels * k.S;
    const std::vector<float> x = random_values(size, 41, 3), dy = random_values(size, 42), w = random_values(k.C, 43), b = random_values(k.C, 44);
    const float eps = 1e-5f, count = static_cast<float>(n);
    std::vector<float> mean(k.N * k.groups), rstd(k.N * k.groups), h(size), y(size), dx(size), dw(k.C), db(k.C), a_sums(k.N * k.C), b_sums(k.N * k.C);
    for (int64_t r = 0; r < k.N * k.groups; ++r) {
      const float* in = x.data() + r * n;
      mean[r] = spec_lane_sum(n, [&](int64_t i) { return in[i]; }) / count;
      rstd[r] = 1.0f / std::sqrt(spec_lane_sum(n, [&](int64_t i) { return (in[i] - mean[r]) * (in[i] - mean[r]); }) / count + eps);
      const float* weights = w.data() + r % k.groups * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = r * n + c * k.S, channel = r * channels + c;
        for (int64_t s = 0; s < k.S; ++s) {
          h[at + s] = (x[at + s] - mean[r]) * rstd[r];
          y[at + s] = std::fma(h[at + s], weights[c], b[r % k.groups * channels + c]);
        }
        a_sums[channel] = spec_lane_sum(k.S, [&](int64_t s) { return dy[at + s]; });
        b_sums[channel] = spec_lane_sum(k.S, [&](int64_t s) { return dy[at + s] * h[at + s]; });
      }
      const float mean_g = spec_lane_sum(channels, [&](int64_t c) { return weights[c] * a_sums[r * channels + c]; }) / count;
      const float mean_gh = spec_lane_sum(channels, [&](int64_t c) { return weights[c] * b_sums[r * channels + c]; }) / count;
      for (int64_t i = 0; i < n; ++i) dx[r * n + i] = rstd[r] * std::fma(-h[r * n + i], mean_gh, dy[r * n + i] * weights[i / k.S] - mean_g);
    }
    for (int64_t c = 0; c < k.C; ++c) {
      db[c] = spec_column_sum(k.N, k.leaf, [&](float sum, int64_t i) { return sum + a_sums[i * k.C + c]; });
      dw[c] = spec_column_sum(k.N, k.leaf, [&](float sum, int64_t i) { return sum + b_sums[i * k.C + c]; });
    }
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(std::string(table.isa));
      CAPTURE(k.S);
      std::vector<float> out(size), m(mean.size()), s(mean.size()), gx(size), gw(k.C), gb(k.C);
      const rote::GroupNorm<float> norm{.N = k.N, .C = k.C, .S = k.S, .groups = k.groups, .eps = eps, .x = x.data(), .w = w.data(), .b = b.data(), .y = out.data(),
                                        .mean = m.data(), .rstd = s.data()};
      const uint32_t word = table.group_norm(norm);
      CHECK(word == std::max({amax_word(out), amax_word(m), amax_word(s)}));
      CHECK(same_bits(out, y));
      CHECK(same_bits(m, mean));
      CHECK(same_bits(s, rstd));
      table.group_norm_backward({.forward = norm, .leaf = k.leaf, .dy = dy.data(), .dx = gx.data(), .dw = gw.data(), .db = gb.data()});
      CHECK(same_bits(gx, dx));
      CHECK(same_bits(gw, dw));
      CHECK(same_bits(gb, db));
    });
  }
}

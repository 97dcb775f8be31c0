// tests/kernels/loss_test.cpp — cross-entropy: values against plain fp64, ignored rows, bits across instruction sets, gradient by differences.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

namespace {

using namespace rote::testing;

struct Loss {
  int64_t rows, V;
  std::vector<float> logits, weight, dloss;
  std::vector<int64_t> labels;
  Loss(int64_t rows, int64_t V) : rows(rows), V(V), logits(random_values(rows * V, 31, 8)), weight(random_values(V, 32)), dloss(random_values(rows, 33)) {
    for (float& w : weight) w = std::fabs(w) + 0.1f;
    for (int64_t r = 0; r < rows; ++r) labels.push_back(r * 7 % V);
    if (rows > 2) labels[2] = -100;
  }
};

double exact_loss(const Loss& k, int64_t r, bool weighted, double smoothing) {
  double sum = 0;
  const float* x = k.logits.data() + r * k.V;
  for (int64_t c = 0; c < k.V; ++c) sum += std::exp(static_cast<double>(x[c]));
  double loss = 0;
  for (int64_t c = 0; c < k.V; ++c) {
    const double target = (c == k.labels[r] ? 1 - smoothing : 0) + smoothing / static_cast<double>(k.V);
    loss -= (weighted ? k.weight[c] : 1.0) * target * (x[c] - std::log(sum));
  }
  return loss;
}

}  // namespace

TEST_CASE("cross_entropy: loss is that of the definition, ignored rows give exactly 0, the bits are the same everywhere") {
  for (int64_t V : {1, 2, 3, 17, 64, 1000, 4200}) {
    const Loss k(5, V);
    for (bool weighted : {false, true}) {
      for (float smoothing : {0.0f, 0.1f}) {
        std::vector<float> first;
        each_table([&](const rote::KernelTable<float>& table) {
          std::vector<float> loss(5, 99.0f), lse(5, 99.0f);
          const uint32_t word = table.cross_entropy(5, V, k.logits.data(), k.labels.data(), -100, weighted ? k.weight.data() : nullptr, smoothing, loss.data(), lse.data());
          CAPTURE(std::string(table.isa));
          CAPTURE(V);
          if (first.empty()) {
            first = loss;
            for (int64_t r = 0; r < 5; ++r) {
              // lse and logits are below 32, each rounded a few times: 8 ulps of 16 in f32.
              CHECK(near(loss[r], k.labels[r] == -100 ? 0 : exact_loss(k, r, weighted, smoothing), 2e-6, 8e-6));
            }
          }
          CHECK(same_bits(loss, first));
          CHECK(same_bits(loss[2], 0.0f));
          CHECK(same_bits(lse[2], 0.0f));
          CHECK(word == std::max(amax_word(loss), amax_word(lse)));
        });
      }
    }
  }
}

TEST_CASE("cross_entropy: gradient has its formula's bits and is exactly 0 in ignored rows") {
  const int64_t V = 37;
  const Loss k(5, V);
  for (bool weighted : {false, true}) {
    for (float smoothing : {0.0f, 0.1f}) {
      each_table([&](const rote::KernelTable<float>& table) {
        const float* weight = weighted ? k.weight.data() : nullptr;
        std::vector<float> loss(5), lse(5), dx(k.logits.size(), 99.0f);
        table.cross_entropy(5, V, k.logits.data(), k.labels.data(), -100, weight, smoothing, loss.data(), lse.data());
        const uint32_t word = table.cross_entropy_backward(5, V, k.logits.data(), k.labels.data(), -100, weight, smoothing, lse.data(), k.dloss.data(), dx.data());
        CHECK(word == amax_word(dx));
        const float share = smoothing / static_cast<float>(V);
        const float weights = weighted ? spec_lane_sum(V, [&](int64_t c) { return k.weight[c]; }) : 0;
        for (int64_t r = 0; r < 5; ++r) {
          for (int64_t c = 0; c < V; ++c) {
            float expected = 0;
            if (r != 2) {
              const float own = (weighted ? k.weight[k.labels[r]] : 1.0f) * (1.0f - smoothing);
              const float total = weighted ? own + share * weights : 1.0f;
              const float target = (weighted ? k.weight[c] * share : share) + (c == k.labels[r] ? own : 0.0f);
              expected = k.dloss[r] * std::fma(call("exp", k.logits[r * V + c] - lse[r]), total, -target);
            }
            CHECK(same_bits(dx[r * V + c], expected));
          }
        }
      });
    }
  }
}

TEST_CASE("cross_entropy: f64 gradient agrees with differences") {
  const int64_t rows = 2, V = 6;
  const rote::KernelTable<double>& table = rote::kernels<double>();
  std::vector<double> x(rows * V), weight(V), loss(rows), lse(rows), dx(rows * V);
  const std::vector<double> dloss = {0.7, -1.3};
  const std::vector<int64_t> labels = {4, 0};
  for (int64_t i = 0; i < rows * V; ++i) x[i] = 2 * std::sin(i * 2.3);
  for (int64_t c = 0; c < V; ++c) weight[c] = 0.5 + 0.2 * c;
  const auto total = [&] {
    table.cross_entropy(rows, V, x.data(), labels.data(), -100, weight.data(), 0.2, loss.data(), lse.data());
    return loss[0] * dloss[0] + loss[1] * dloss[1];
  };
  total();
  table.cross_entropy_backward(rows, V, x.data(), labels.data(), -100, weight.data(), 0.2, lse.data(), dloss.data(), dx.data());
  for (int64_t i = 0; i < rows * V; ++i) {
    const double at = x[i];
    x[i] = at + 1e-5;
    const double above = total();
    x[i] = at - 1e-5;
    const double below = total();
    x[i] = at;
    CHECK(near(dx[i], (above - below) / 2e-5, 1e-7, 1e-9));  // central difference: step² and eps/step
  }
}

TEST_CASE("cross_entropy: a NaN logit makes its row's loss NaN, and no other") {
  Loss k(2, 20);
  k.logits[3] = std::nanf("");
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> loss(2), lse(2);
    CHECK(table.cross_entropy(2, 20, k.logits.data(), k.labels.data(), -100, nullptr, 0, loss.data(), lse.data()) > 0x7F800000u);
    CHECK(std::isnan(loss[0]));
    CHECK(!std::isnan(loss[1]));
  });
}

// tests/optim/adamw_test.cpp — AdamW's line, its state, and the clip norm.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "optim/adamw.h"
#include "optim/clip.h"

using namespace rote;

namespace {

Tensor parameter(const std::vector<double>& values) {
  Tensor p = from_values({static_cast<int64_t>(values.size())}, values);
  return requires_grad(p);
}

void give_grad(const Tensor& p, const std::vector<double>& g) {
  zero_grad({p});
  backward(sum(p * from_values(p.shape(), g)));
}

constexpr double kGrads[3][4] = {{.1, -.2, .3, 0}, {.4, .1, -.1, .2}, {-.3, .2, .05, -1}};

void three_steps(optim::AdamW& adamw, const Tensor& p, int first, int last) {
  for (int t = first; t < last; ++t) {
    give_grad(p, std::vector<double>(kGrads[t], kGrads[t] + 4));
    CHECK(adamw.step() == optim::StepResult::applied);
  }
}

}  // namespace

TEST_CASE("adamw: three steps equal the paper's line") {
  // From the reference in float64, lr .1 wd .01 eps 1e-8: ten printed digits.
  const double after1[] = {.89900001, -1.898000005, .3995000033, 2.997};
  const double after3[] = {.7911828704, -1.8948685119, .3181770311, 2.9680361988};
  const Tensor p = parameter({1, -2, .5, 3});
  optim::AdamW adamw({{"p", p}}, {.lr = .1, .weight_decay = .01});
  three_steps(adamw, p, 0, 1);
  for (int i = 0; i < 4; ++i) CHECK(std::abs(p.data<double>()[i] - after1[i]) < 1e-10);
  three_steps(adamw, p, 1, 3);
  for (int i = 0; i < 4; ++i) CHECK(std::abs(p.data<double>()[i] - after3[i]) < 1e-10);
}

TEST_CASE("adamw: state goes out and comes back, the next step is the same") {
  const Tensor p = parameter({1, -2, .5, 3}), q = parameter({1, -2, .5, 3});
  optim::AdamW a({{"p", p}}, {.lr = .1}), b({{"p", q}}, {.lr = .1});
  three_steps(a, p, 0, 2);
  copy_elements(q, p);
  b.load_state(a.state_tensors(), a.state_steps());
  three_steps(a, p, 2, 3);
  three_steps(b, q, 2, 3);
  for (int i = 0; i < 4; ++i) CHECK(p.data<double>()[i] == q.data<double>()[i]);
  CHECK(a.state_tensors()[0].first == "p.exp_avg");
  const Tensor other = parameter({1, 2});
  optim::AdamW c({{"p", other}}, {});
  CHECK_THROWS_WITH_AS(c.load_state(a.state_tensors(), a.state_steps()),
                       "load_state: p.exp_avg is f64[4] in the file, f64[2] in the optimizer; go on with the model and the options that it was saved with.", StateError);
}

TEST_CASE("adamw: no gradient, no update; a gradient that is not finite changes nothing") {
  const Tensor p = parameter({1, 2}), frozen = parameter({5});
  optim::AdamW adamw({{"p", p}, {"frozen", frozen}}, {.lr = .1, .weight_decay = .5});
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    give_grad(p, {1, bad});
    CHECK(adamw.step() == optim::StepResult::skipped);
  }
  give_grad(p, {1, 1});
  CHECK(p.data<double>()[0] == 1);
  CHECK(adamw.state_steps().empty());
  adamw.step();
  CHECK(frozen.data<double>()[0] == 5);
  CHECK(p.data<double>()[0] < 1);
}

TEST_CASE("adamw: options out of range and a parameter in two groups are refused") {
  const Tensor p = parameter({1});
  CHECK_THROWS_AS(optim::AdamW({{"p", p}}, {.lr = -1}), ArgumentError);
  CHECK_THROWS_AS(optim::AdamW({{"p", p}}, {.betas = {.first = 1}}), ArgumentError);
  CHECK_THROWS_AS(optim::AdamW({{"p", p}, {"p", p}}, {}), ArgumentError);
}

TEST_CASE("adamw: moments below the smallest normal f32 become +0") {
  Tensor p = full({20}, 1.0);
  requires_grad(p);
  optim::AdamW adamw({{"p", p}}, {});
  backward(sum(p * full({20}, 1e-30)));
  adamw.step();
  for (const auto& [name, moment] : adamw.state_tensors())
    for (int i = 0; i < 20; ++i) {
      const float v = moment.data<float>()[i];
      CHECK((v == 0 || std::abs(v) >= 0x1p-126f));
    }
}

TEST_CASE("clip: the norm of all gradients, in f64, for any thread count") {
  std::vector<Tensor> params;
  double squares = 0;
  for (int k = 0; k < 3; ++k) {
    Tensor p = zeros({5000 + k});
    requires_grad(p);
    backward(sum(p * full(p.shape(), k + 0.1)));
    squares += static_cast<double>(p.numel()) * static_cast<double>(static_cast<float>(k + 0.1)) * static_cast<double>(static_cast<float>(k + 0.1));
    params.push_back(p);
  }
  const double norm = optim::global_norm(params);
  CHECK(std::abs(norm - std::sqrt(squares)) < 1e-9 * norm);
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    CHECK(optim::global_norm(params) == norm);
  }
  set_num_threads(0);
  CHECK(optim::clip_factor(2, 1) == 1 / (2 + 1e-6));
  CHECK(optim::clip_factor(.5, 1) == 1);
  CHECK(optim::clip_factor(2, 0) == 1);
  CHECK(optim::global_norm({}) == 0);
}

// tests/optim/grad_scaler_test.cpp — the loss scale: what is skipped, how it moves, what it refuses. torch's cases: rote-conformance scaler.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "optim/adamw.h"
#include "optim/grad_scaler.h"
#include "optim/sgd.h"

using namespace rote;
using namespace rote::optim;

namespace {

struct Fixture {
  Tensor w = from_values({2}, std::vector<float>{1, -2});
  Sgd sgd;

  Fixture() : sgd({{"w", requires_grad(w)}}, {.lr = 0.5}) {}
  // Gradients of the loss Σ g·w, scaled.
  void backward_by(const GradScaler& scaler, float g0, float g1) {
    sgd.zero_grad();
    backward(scaler.scale(sum(mul(w, from_values({2}, std::vector<float>{g0, g1})))));
  }
  float at(int64_t i) const { return w.data<float>()[i]; }
};

}  // namespace

TEST_CASE("GradScaler: a step sees the gradients of the unscaled loss, to the bit for powers of two") {
  Fixture f;
  GradScaler scaler;
  f.backward_by(scaler, 0.1f, 0.3f);
  CHECK(f.w.grad().data<float>()[0] == 0.1f * 65536);
  scaler.unscale_(f.sgd);
  CHECK(f.w.grad().data<float>()[0] == 0.1f);
  CHECK_FALSE(scaler.found_inf(f.sgd));
  CHECK(scaler.step(f.sgd) == StepResult::applied);
  CHECK(f.at(0) == 1 - 0.5f * 0.1f);
}

TEST_CASE("GradScaler: Inf and NaN skip the step, with nothing changed, and lower the scale") {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    Fixture f;
    GradScaler scaler({.init_scale = 1024});
    f.backward_by(scaler, 1, bad);
    CHECK(scaler.step(f.sgd) == StepResult::skipped);
    CHECK(scaler.found_inf(f.sgd));
    scaler.update();
    CHECK_FALSE(scaler.found_inf(f.sgd));
    CHECK(f.at(0) == 1);
    CHECK(f.at(1) == -2);
    CHECK(f.sgd.state_steps().empty());
    CHECK(scaler.get_scale() == 512);
  }
}

TEST_CASE("GradScaler: a factor that f32 cannot hold is applied in double and rounded once") {
  Fixture f;
  GradScaler scaler({.init_scale = 65536, .growth_factor = 1.001, .backoff_factor = 0.9, .growth_interval = 1});
  float scale = 65536;
  for (int i = 0; i < 60; ++i) {
    const bool bad = i % 3 == 0;
    f.backward_by(scaler, 1, bad ? INFINITY : 1);
    scaler.step(f.sgd);
    scaler.update();
    scale = static_cast<float>(scale * (bad ? 0.9 : 1.001));
    CHECK(scaler.get_scale() == scale);
  }
}

TEST_CASE("GradScaler: bounds, hysteresis and the floor") {
  Fixture f;
  GradScaler scaler({.init_scale = 4, .growth_interval = 1, .min_scale = 2, .max_scale = 8, .hysteresis = 2});
  const auto update = [&](float g) {
    f.backward_by(scaler, g, 0);
    scaler.step(f.sgd);
    scaler.update();
    return scaler.get_scale();
  };
  CHECK(update(1) == 8);
  CHECK(update(1) == 8);
  CHECK(update(INFINITY) == 8);
  CHECK(update(INFINITY) == 4);
  CHECK(update(INFINITY) == 4);
  CHECK_FALSE(scaler.is_at_floor());
  CHECK(update(INFINITY) == 2);
  CHECK_FALSE(scaler.is_at_floor());
  CHECK(update(INFINITY) == 2);
  CHECK(scaler.is_at_floor());
  CHECK(update(1) == 4);
  CHECK_FALSE(scaler.is_at_floor());
}

TEST_CASE("GradScaler: the order of its calls is kept") {
  Fixture f;
  GradScaler scaler;
  CHECK_THROWS_WITH_AS(scaler.update(), "GradScaler: update() without a step since the last one; call step() or unscale_() first.", StateError);
  f.backward_by(scaler, 1, 1);
  scaler.unscale_(f.sgd);
  CHECK_THROWS_WITH_AS(scaler.unscale_(f.sgd), "GradScaler: unscale_() was called on this optimizer already; it is once between two calls of update().", StateError);
  scaler.step(f.sgd);
  CHECK_THROWS_WITH_AS(scaler.step(f.sgd), "GradScaler: step() was called on this optimizer already; it is once between two calls of update().", StateError);
  CHECK_THROWS_WITH_AS(scaler.unscale_(f.sgd), "GradScaler: unscale_() comes after step(); it must come before.", StateError);
  scaler.update();
  scaler.unscale_(f.sgd);
}

TEST_CASE("GradScaler: options and states out of range are refused") {
  CHECK_THROWS_WITH_AS(GradScaler({.growth_factor = 1}), "GradScaler: growth_factor is 1; it must be above 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(GradScaler({.backoff_factor = 1.5}), "GradScaler: backoff_factor is 1.5; it must lie between 0 and 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(GradScaler({.init_scale = 1, .min_scale = 2}), "GradScaler: init_scale is 1; it must lie between min_scale 2 and max_scale inf.", ArgumentError);
  CHECK_THROWS_AS(GradScaler({.growth_interval = 0}), ArgumentError);
  CHECK_THROWS_AS(GradScaler({.hysteresis = 0}), ArgumentError);
  CHECK_THROWS_AS(GradScaler({.init_scale = INFINITY}), ArgumentError);
  GradScaler scaler;
  CHECK_THROWS_AS(scaler.load_state_dict({.scale = NAN}), ArgumentError);
  CHECK_THROWS_AS(scaler.load_state_dict({.growth_tracker = -1}), ArgumentError);
  GradScaler bounded({.min_scale = 1, .max_scale = 1024 * 1024});
  for (const float scale : {0.0f, 0.5f, 2097152.0f})
    CHECK_THROWS_WITH_AS(bounded.load_state_dict({.scale = scale}), str("GradScaler: the scale of the state is ", scale, "; it must lie between min_scale 1 and max_scale 1.04858e+06.").c_str(), ArgumentError);
  CHECK_THROWS_AS(scaler.update(-1), ArgumentError);
  CHECK(scaler.get_scale() == 65536);
}

TEST_CASE("GradScaler: a state goes on where it was, and 16-bit gradients are unscaled in place") {
  Fixture f;
  GradScaler scaler({.init_scale = 8, .growth_interval = 3}), other;
  for (int i = 0; i < 2; ++i) {
    f.backward_by(scaler, 1, 1);
    scaler.step(f.sgd);
    scaler.update();
  }
  other.load_state_dict(scaler.state_dict());
  f.backward_by(other, 1, 1);
  other.step(f.sgd);
  other.update();
  CHECK(other.get_scale() == 16);

  Tensor h = converted(from_values({2}, std::vector<float>{1, 2}), DType::bf16);
  Sgd half({{"h", requires_grad(h)}}, {.lr = 1});
  backward(scaler.scale(sum(h)));
  scaler.unscale_(half);
  CHECK(h.grad().dtype() == DType::bf16);
  CHECK(converted(h.grad(), DType::f32).data<float>()[1] == 1);
}

// tests/autograd/loss_test.cpp — what rows and golden cases do not show of losses and norms: texts, rounding of halves, running statistics.
#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

Tensor i64s(std::vector<int64_t> values) { return from_values({static_cast<int64_t>(values.size())}, values); }

}  // namespace

TEST_CASE("losses: a call at fault is refused in one sentence") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(nll_loss(x, i64s({0, 3})), "nll_loss: label 3 at element 1 but there are 3 classes; labels lie in 0…2 or are -100 (not scored).", ArgumentError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, i64s({0})), "cross_entropy: labels is i64[1] but logits is f32[2,3]; labels must be [2].", ShapeError);
  CHECK_THROWS_WITH_AS(multi_margin_loss(x, i64s({0, 1}), {.weight = zeros({2})}), "multi_margin_loss: weight is f32[2]; it must be [3].", ShapeError);
  CHECK_THROWS_WITH_AS(binary_cross_entropy(full({2}, 1.5), zeros({2})),
                       "binary_cross_entropy: an element of x, f32[2], is not in [0,1]; probabilities are (binary_cross_entropy_with_logits takes logits).", ArgumentError);
  CHECK_THROWS_WITH_AS(ctc_loss(zeros({4, 1, 3}), from_values({1, 2}, std::vector<int64_t>{1, 2}), {5}, {2}), "ctc_loss: input length 0 is 5; it lies in 0…4.", ArgumentError);
  CHECK_THROWS_WITH_AS(ctc_loss(zeros({4, 1, 3}), i64s({1, 2}), {4}, {3}), "ctc_loss: labels is i64[2] but the target lengths add up to 3; they must agree.", ShapeError);
  CHECK_THROWS_WITH_AS(triplet_margin_loss(zeros({3}), x, x),
                       "triplet_margin_loss: the anchor is f32[3], the positive f32[2,3] and the negative f32[2,3]; all must have as many axes.", ShapeError);
  CHECK_THROWS_WITH_AS(prelu(x, zeros({2})), "prelu: w is f32[2] but x f32[2,3]; w must be [1] or [3].", ShapeError);
}

TEST_CASE("losses: 16-bit floats are computed in f32 and rounded once") {
  // 300² has no f16, the mean of the four squares has.
  const Tensor x = converted(from_values({4}, std::vector<float>{300, 0, 0, 0}), DType::f16), zero = zeros({4}, {.dtype = DType::f16});
  const Tensor loss = mse_loss(x, zero);
  CHECK(loss.dtype() == DType::f16);
  CHECK(loss.item() == 22496);  // 22500 to the nearest f16
}

TEST_CASE("ctc_loss: the gradient of the scores is the same with and without the share of the log-softmax") {
  const Tensor labels = from_values({2, 2}, std::vector<int64_t>{1, 2, 3, 3});
  std::vector<Tensor> grads;
  for (const bool of_scores : {false, true}) {
    Tensor scores = empty({6, 2, 4}, {.dtype = DType::f64});
    for (int64_t i = 0; i < scores.numel(); ++i) scores.data<double>()[i] = static_cast<double>((i * 37) % 11) / 5;
    requires_grad(scores);
    backward(ctc_loss(log_softmax(scores), labels, {6, 5}, {2, 2}, {.of_scores = of_scores}));
    grads.push_back(scores.grad());
  }
  for (int64_t i = 0; i < grads[0].numel(); ++i) CHECK(grads[0].data<double>()[i] == doctest::Approx(grads[1].data<double>()[i]).epsilon(1e-12));
}

TEST_CASE("layer_norm: mean and rstd have derivatives too") {
  const auto statistics = [](const std::vector<Tensor>& in) {
    const std::vector<Tensor> out = apply_all<LayerNorm>({in[0]}, {1e-3});
    return add(mul(out[1], 2.0), add(mul(out[2], out[2]), sum(out[0], {-1})));
  };
  const Tensor x = from_values({2, 3}, std::vector<double>{0.3, -1.2, 0.8, 2.0, 0.1, -0.4});
  CHECK(gradcheck(statistics, {x}) == "");
  CHECK(gradgradcheck(statistics, {x}) == "");
}

TEST_CASE("batch_norm: running statistics move in training alone, and not where a call is refused") {
  const Tensor x = from_values({2, 2}, std::vector<float>{1, 2, 3, 6});
  const ChannelState state{{}, {}, zeros({2}), full({2}, 1.0)};
  CHECK_THROWS_AS(batch_norm(x, {zeros({3}), {}, state.running_mean, state.running_var}, {.training = true}), ShapeError);
  batch_norm(x, state, {});
  CHECK(state.running_mean.data<float>()[1] == 0);
  CHECK(state.running_var.data<float>()[1] == 1);
  batch_norm(x, state, {.training = true, .momentum = 0.5});
  CHECK(state.running_mean.data<float>()[0] == 1);
  CHECK(state.running_mean.data<float>()[1] == 2);
  CHECK(state.running_var.data<float>()[0] == 1.5);  // (1 + 2)/2 with the unbiased variance
  CHECK(state.running_var.data<float>()[1] == 4.5);
  CHECK_THROWS_WITH_AS(batch_norm(x, {}, {}), "batch_norm: running_mean is none; outside of training the statistics must be given.", ArgumentError);
}

TEST_CASE("attention: a second pass is refused with its reason") {
  Tensor q = full({1, 1, 2, 2}, 0.5);
  requires_grad(q);
  const Tensor y = sum(scaled_dot_product_attention(q, q, q));
  CHECK_THROWS_WITH_AS(grad({y}, {q}, {.create_graph = true}),
                       "backward: attention has no second derivative (the scores that its derivative reads are not kept).", StateError);
}

// tests/trainer/token_scores_test.cpp — accuracies over tokens, and what follows from a loss.
#include "trainer/tasks/token_scores.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

Tensor table(const Shape& shape, const std::vector<int64_t>& values) { return from_values(shape, values); }

}  // namespace

TEST_CASE("best_tokens: the greatest of each place, the lowest of equal ones, and nothing else") {
  const Tensor logits = from_values({1, 3, 3}, std::vector<float>{0, 2, 1, 5, 5, 4, -3, -2, -1});
  const std::vector<Tensor> kept = tasks::best_tokens({logits, logits}, {});
  REQUIRE(kept.size() == 1);
  CHECK(describe(kept[0]) == "i64[1,3]");
  CHECK(std::vector<int64_t>(kept[0].data<int64_t>(), kept[0].data<int64_t>() + 3) == std::vector<int64_t>{1, 0, 2});
}

TEST_CASE("token accuracy: over what is scored, of the same place or of the next") {
  const EvalPrediction prediction{{table({2, 4}, {7, 8, 9, 1, 5, 6, 3, -100})}, table({2, 4}, {7, 7, 9, -100, 4, 5, 6, -100})};
  // Same place: 7 right, 7 for 8, 9 right; 4 5 6 for 5 6 3.
  CHECK(number_at(tasks::token_accuracy(prediction), "accuracy") == doctest::Approx(2.0 / 6).epsilon(1e-12));
  // Next: labels 7 9 after 7 8, then 5 6 after 5 6.
  CHECK(number_at(tasks::next_token_accuracy(prediction), "accuracy") == doctest::Approx(3.0 / 4).epsilon(1e-12));
  CHECK(tasks::token_accuracy({{table({1, 2}, {7, 8})}, table({1, 2}, {-100, -100})}).empty());
}

TEST_CASE("perplexity and bits per byte follow from eval_loss") {
  Metrics metrics{{"eval_loss", std::log(8.0)}};
  tasks::add_bits_per_byte(metrics, 50, 100);
  CHECK(number_at(metrics, "perplexity") == doctest::Approx(8).epsilon(1e-12));
  CHECK(number_at(metrics, "bits_per_byte") == doctest::Approx(1.5).epsilon(1e-12));
  Metrics none{{"eval_runtime", 1.0}};
  tasks::add_perplexity(none);
  CHECK(keys_of(none) == "eval_runtime");
}

}  // namespace rote::testing

// tests/trainer/token_classification_test.cpp — scores of a task's predictions, of entities and of other tags.
#include "trainer/tasks/token_classification.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

EvalPrediction prediction(const std::vector<int64_t>& classes, const std::vector<int64_t>& labels, int64_t N) {
  const int64_t T = static_cast<int64_t>(labels.size()) / N;
  return {{from_values({N, T}, classes)}, from_values({N, T}, labels)};
}

double at(const Metrics& metrics, const std::string& name) {
  double value = -1;
  REQUIRE_MESSAGE((metrics.find(name) && metrics.find(name)->number(value)), name);
  return value;
}

}  // namespace

TEST_CASE("token_metrics: tags without prefixes have accuracy and the mean f1 over tags; what is not scored does not count") {
  // Scored: X for X, X for Y, Y for Y, Y for Y.
  const Metrics metrics = tasks::token_metrics(prediction({0, 0, 0, 1, 1, -100}, {-100, 0, 1, 1, 1, -100}, 2), {"X", "Y"});
  CHECK(at(metrics, "accuracy") == 0.75);
  CHECK(at(metrics, "f1") == doctest::Approx((2.0 / 3 + 0.8) / 2).epsilon(1e-15));
  CHECK(metrics.find("precision") == nullptr);
}

TEST_CASE("token_metrics: entities count whole, and end with their sentence") {
  const std::vector<std::string> labels = {"B-A", "B-B", "I-A", "O"};
  // Sentence 1: A of two words, found; B, taken for A. Sentence 2 begins with I-A: an entity of its own, found.
  const EvalPrediction p = prediction({0, 2, 0, 2, 3, 3}, {0, 2, 1, 2, 3, -100}, 2);
  const Metrics metrics = tasks::token_metrics(p, labels, true);
  CHECK(at(metrics, "precision") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(metrics, "recall") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(metrics, "f1") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(metrics, "accuracy") == 0.8);
  CHECK(at(metrics, "A_recall") == 1);
  CHECK(at(metrics, "A_precision") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(metrics, "A_number") == 2);
  CHECK(at(metrics, "B_f1") == 0);
  CHECK(at(metrics, "B_number") == 1);
  CHECK(tasks::token_metrics(p, labels).find("A_f1") == nullptr);
}

TEST_CASE("token_metrics: shapes and classes that do not belong together are refused") {
  CHECK_THROWS_WITH_AS(tasks::token_metrics({{from_values({1, 2}, std::vector<int64_t>{0, 0})}, from_values({1, 1}, std::vector<int64_t>{0})}, {"X", "Y"}),
                       "token_metrics: got i64[1,2] classes for i64[1,1] labels; each token needs both.", ShapeError);
  CHECK_THROWS_WITH_AS(tasks::token_metrics(prediction({2}, {0}, 1), {"X", "Y"}), "token_metrics: class 2 for label 0 where the model has 2; both must be below.", ArgumentError);
  CHECK_THROWS_AS(tasks::token_metrics(prediction({0}, {-100}, 1), {"X", "Y"}), ArgumentError);
}

}  // namespace rote::testing

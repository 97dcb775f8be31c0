// tests/trainer/text_classification_test.cpp — scores of a text's classes, numbers and several labels.
#include "trainer/tasks/text_classification.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

double at(const Metrics& metrics, const std::string& name) {
  double value = -1;
  REQUIRE_MESSAGE((metrics.find(name) && metrics.find(name)->number(value)), name);
  return value;
}

Tensor f32(const Shape& shape, const std::vector<float>& values) { return from_values(shape, values); }

}  // namespace

TEST_CASE("classification_metrics: accuracy, and f1 of class 1 of two or the mean of more") {
  const Tensor labels = from_values({3}, std::vector<int64_t>{1, 0, 1});
  const Metrics two = tasks::classification_metrics({{f32({3, 2}, {0, 1, 0, 1, 0, 1})}, labels});
  CHECK(at(two, "accuracy") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(two, "f1") == doctest::Approx(0.8).epsilon(1e-15));
  const Metrics three = tasks::classification_metrics({{f32({3, 3}, {0, 1, 0, 0, 1, 0, 0, 1, 0})}, labels});
  CHECK(at(three, "f1") == doctest::Approx(0.4).epsilon(1e-15));
}

TEST_CASE("regression_metrics: the mean of squared differences") {
  CHECK(at(tasks::regression_metrics({{f32({2, 1}, {1, 2.5})}, f32({2}, {2, 2})}), "mse") == 0.625);
  CHECK_THROWS_AS(tasks::regression_metrics({{f32({2, 1}, {1, 2})}, f32({1}, {2})}), ShapeError);
}

TEST_CASE("multi_label_metrics: f1 over all decisions together") {
  // Taken: (0,0), (0,2), (1,0); present: (0,0), (1,0), (1,1).
  const EvalPrediction p{{f32({2, 3}, {1, -1, 0.5, 2, -3, 0})}, f32({2, 3}, {1, 0, 0, 1, 1, 0})};
  CHECK(at(tasks::multi_label_metrics(p), "f1") == doctest::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(at(tasks::multi_label_metrics({{f32({1, 2}, {-1, -1})}, f32({1, 2}, {0, 0})}), "f1") == 0);
  CHECK_THROWS_AS(tasks::multi_label_metrics({{f32({1, 2}, {-1, -1})}, f32({1, 1}, {0})}), ShapeError);
}

}  // namespace rote::testing

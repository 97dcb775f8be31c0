// tests/trainer/evaluation_test.cpp — the pass over rows without gradients: means by rows, joined outputs, metrics.
#include "trainer/evaluation.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/mode.h"
#include "kernels/check.h"

namespace rote::testing {

namespace {

// Gives back its input: the logits are the ids, the loss their mean (absent without labels).
struct Echo : nn::Model {
  nn::Signature signature() const override { return {.inputs = "input_ids[B,T] i64, labels[B]? i64", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE(training());
    nn::ModelOutput out;
    out.logits = converted(in["input_ids"], DType::f32);
    out.more = {{"first", alias(out.logits, {in["input_ids"].size(0)}, {out.logits.size(1)}, 0)}};
    double sum = 0;
    for (int64_t i = 0; i < out.logits.numel(); ++i) sum += static_cast<double>(out.logits.data<float>()[i]);
    if (in.contains("labels")) out.loss = scalar(sum / static_cast<double>(out.logits.numel()));
    return out;
  }
};

data::ListDataset rows_of(const std::vector<std::vector<int64_t>>& ids, bool with_labels = true) {
  std::vector<data::Example> rows;
  for (const auto& row : ids) {
    rows.push_back({{"input_ids", data::Feature::list(row)}});
    if (with_labels) rows.back().emplace_back("label", data::Feature::single(row[0]));
  }
  return data::ListDataset(std::move(rows));
}

std::vector<float> values(const Tensor& x) { return {x.data<float>(), x.data<float>() + x.numel()}; }

}  // namespace

TEST_CASE("evaluation: the loss is the mean over rows of the loss of their batch (37, 38)") {
  Echo model;
  const data::ListDataset rows = rows_of({{1}, {2}, {3}, {4}, {10}});
  CHECK(*run_evaluation(model, rows, {.batch_rows = 2}).loss == doctest::Approx((1.5 * 2 + 3.5 * 2 + 10) / 5).epsilon(1e-7));
  CHECK(*run_evaluation(model, rows, {.batch_rows = 4}).loss == doctest::Approx(4.0).epsilon(1e-7));
}

TEST_CASE("evaluation: outputs and labels keep the order and number of the rows (39)") {
  Echo model;
  const EvaluationOutput output = run_evaluation(model, rows_of({{3, 1}, {2, 2}, {9, 3}}), {.batch_rows = 2});
  REQUIRE(output.prediction.predictions.size() == 2);
  CHECK(describe(output.prediction.predictions[0]) == "f32[3,2]");
  CHECK(values(output.prediction.predictions[0]) == std::vector<float>{3, 1, 2, 2, 9, 3});
  CHECK(values(output.prediction.predictions[1]) == std::vector<float>{3, 2, 9});
  CHECK(output.prediction.label_ids.data<int64_t>()[2] == 9);
  CHECK(output.rows == 3);
  CHECK(output.batches == 2);
}

TEST_CASE("evaluation: outputs of unequal width are padded with -100 on the right") {
  Echo model;
  const EvaluationOutput output = run_evaluation(model, rows_of({{1, 2, 3}, {4}, {5, 6}}), {.batch_rows = 1});
  CHECK(values(output.prediction.predictions[0]) == std::vector<float>{1, 2, 3, 4, -100, -100, 5, 6, -100});
}

TEST_CASE("evaluation: rows without labels give neither loss nor metrics") {
  Echo model;
  const EvaluationOutput output = run_evaluation(model, rows_of({{1}, {2}}, false), {});
  CHECK_FALSE(output.loss.has_value());
  CHECK_FALSE(output.prediction.label_ids.defined());
  const Metrics metrics = evaluation_metrics(output, "test", [](const EvalPrediction&) { return Metrics{{"never", 1}}; });
  CHECK(metrics.find("test_loss") == nullptr);
  CHECK(metrics.find("test_never") == nullptr);
  CHECK(metrics.find("test_runtime") != nullptr);
}

TEST_CASE("evaluation: a batch that scores nothing, or whose loss is not finite, is left out of the mean, unless the filter is off") {
  Echo model;
  const data::ListDataset rows = rows_of({{1}, {-100}, {3}});
  EvaluationPass pass;
  pass.dataset = &rows;
  pass.batch_rows = 1;
  pass.batch = [&](data::BatchRows& wanted) { return data::default_collate({rows.at(wanted.rows[0])}); };
  pass.step = [&](const nn::Batch& batch) {
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return prediction_of({loss, std::move(outputs)}, batch, "labels");
  };
  CHECK(*run_evaluation(model, pass, "evaluate").loss == 2);
  pass.nan_inf_filter = false;
  CHECK(std::isnan(*run_evaluation(model, pass, "evaluate").loss));
}

TEST_CASE("evaluation: metrics take the prefix once, those that have it come first") {
  EvaluationOutput output;
  output.loss = 0.5;
  output.rows = output.batches = 1;
  output.speed = {.seconds = 2, .samples = 1, .steps = 1};
  output.prediction.label_ids = from_values({1}, std::vector<int64_t>{0});
  const Metrics metrics = evaluation_metrics(output, "eval", [](const EvalPrediction&) { return Metrics{{"accuracy", 0.25}, {"eval_f1", 1.0}}; });
  CHECK(metrics == Metrics{{"eval_f1", 1.0}, {"eval_loss", 0.5}, {"eval_accuracy", 0.25}, {"eval_runtime", 2.0}, {"eval_samples_per_second", 0.5}, {"eval_steps_per_second", 0.5}});
}

TEST_CASE("evaluation: inputs and losses are there where they are asked for; a list of batches in place of all rows") {
  Echo model;
  const data::ListDataset rows = rows_of({{1, 2, 3}, {4}, {5, 6}});
  EvaluationPass pass;
  pass.dataset = &rows;
  pass.batch_rows = 2;
  pass.batch = [&](data::BatchRows& wanted) {
    std::vector<data::Example> examples;
    for (const int64_t row : wanted.rows) examples.push_back(rows.at(row));
    return data::PadCollator(data::PadOptions{})(examples);
  };
  pass.step = [&](const nn::Batch& batch) {
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return prediction_of({loss, std::move(outputs)}, batch, "labels", {"first"});
  };
  const EvalPrediction bare = run_evaluation(model, pass, "evaluate").prediction;
  CHECK(bare.size() == 2);
  CHECK(bare.predictions.size() == 1);  // `first` is ignored
  CHECK(bare[1][0].data<int64_t>()[2] == 5);
  CHECK_THROWS_WITH_AS(bare[2], "EvalPrediction: there is no item 2 of 2; they are the predictions, the labels.", ArgumentError);
  pass.include_inputs = pass.include_losses = true;
  const EvalPrediction all = run_evaluation(model, pass, "evaluate").prediction;
  CHECK(all.size() == 4);
  CHECK(describe(all.inputs) == "i64[3,3]");
  CHECK(all.inputs.data<int64_t>()[8] == -100);  // padded as the others are
  CHECK(values(all.losses) == std::vector<float>{10.0f / 6, 10.0f / 6, 5.5f});
  CHECK(values(all[3][0]) == values(all.losses));
  pass.concat_batches = false;
  const EvalPrediction parts = run_evaluation(model, pass, "evaluate").prediction;
  CHECK(parts.predictions.empty());
  CHECK(parts.has_labels());
  REQUIRE(parts.batches.size() == 2);
  CHECK(describe(parts.batches[0].predictions[0]) == "f32[2,3]");
  CHECK(describe(parts.batches[1].predictions[0]) == "f32[1,2]");
  CHECK(describe(parts.batches[1].inputs) == "i64[1,2]");
}

TEST_CASE("evaluation: metrics batch by batch see each batch, and what the last one gives counts; nothing is kept") {
  Echo model;
  const data::ListDataset rows = rows_of({{1}, {2}, {3}, {4}, {10}});
  EvaluationPass pass;
  pass.dataset = &rows;
  pass.batch_rows = 2;
  pass.keep_outputs = false;
  pass.batch = [&](data::BatchRows& wanted) {
    std::vector<data::Example> examples;
    for (const int64_t row : wanted.rows) examples.push_back(rows.at(row));
    return data::default_collate(examples);
  };
  pass.step = [&](const nn::Batch& batch) {
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return prediction_of({loss, std::move(outputs)}, batch, "labels");
  };
  double sum = 0;
  std::vector<bool> last;
  pass.batch_metrics = [&](const EvalPrediction& batch, bool compute_result) {
    for (const float x : values(batch.predictions[0])) sum += static_cast<double>(x);
    last.push_back(compute_result);
    return Metrics{{"sum", compute_result ? sum : -1.0}};
  };
  const EvaluationOutput output = run_evaluation(model, pass, "evaluate");
  CHECK(last == std::vector<bool>{false, false, true});
  CHECK(output.prediction.predictions.empty());
  double got = 0;
  REQUIRE(evaluation_metrics(output, "eval", {}).find("eval_sum")->number(got));
  CHECK(got == 20);
}

TEST_CASE("evaluation: an empty dataset is refused") {
  Echo model;
  CHECK_THROWS_WITH_AS(run_evaluation(model, data::ListDataset({}), {}), "evaluate: the dataset has no rows; it needs at least one.", ArgumentError);
}

}  // namespace rote::testing

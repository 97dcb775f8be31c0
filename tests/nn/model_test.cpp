// tests/nn/model_test.cpp — the model interface: batches, outputs, signatures, counted targets and the losses of heads.
#include "nn/model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "tensor/generator.h"
#include "tests/support/compare.h"

using namespace rote;
using rote::testing::near;

namespace {

Tensor i64(const Shape& shape, std::vector<int64_t> values) { return from_values(shape, values); }

// A user's model: two numbers a row, three classes.
struct Rows : nn::Model {
  nn::Linear head{2, 3};
  Rows() { add_modules({{"head", head}}); }
  nn::Signature signature() const override { return {.inputs = "x[B,2] f32, labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    out.logits = head(in["x"]);
    if (in.contains("labels")) out.loss = nn::class_loss(out.logits, in["labels"], nn::divisor(signature(), in));
    return out;
  }
};

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("batch: inputs by name, in order") {
  nn::Batch batch;
  batch.set("b", scalar(1));
  batch.set("a", scalar(2));
  batch.set("b", scalar(3));
  CHECK(batch.entries[0].first == "b");
  CHECK(batch["b"].item() == 3);
  CHECK_FALSE(batch.contains("c"));
  CHECK(text_of([&] { batch.at("c"); }) == "batch: it has no c; it has b, a.");
}

TEST_CASE("output: read by member, name and index; what is not given is skipped") {
  nn::ModelOutput out;
  out.logits = scalar(2);
  out.more = {{"extra", scalar(5)}};
  out.attentions = {scalar(3), scalar(4)};
  CHECK(out["logits"].item() == 2);
  CHECK(out[0].item() == 2);
  CHECK(out[1].item() == 5);
  CHECK(out["attentions.1"].item() == 4);
  out.loss = scalar(1);
  CHECK(out[0].item() == 1);
  const auto [loss, logits] = out.first<2>();
  CHECK(loss.item() == 1);
  CHECK(logits.item() == 2);
  CHECK(text_of([&] { out["start_logits"]; }) == "model output: it has no start_logits; it has loss, logits, extra, attentions.0, attentions.1.");
  CHECK(text_of([&] { out[3]; }) == "model output: field 3, attentions, holds 2 tensors; read the member attentions.");
  CHECK(text_of([&] { out[4]; }) == "model output: it has no field 4; it has 4.");
}

TEST_CASE("signature: names of inputs, outputs and labels") {
  const nn::Signature s{.inputs = "input_ids[B,T] i64, mask[B,T]?, x[...]? f32", .outputs = "loss, logits, attentions", .labels = "start, end"};
  CHECK(s.input_names() == std::vector<std::string>{"input_ids", "mask", "x"});
  CHECK(s.output_names() == std::vector<std::string>{"loss", "logits", "attentions"});
  CHECK(s.label_names() == std::vector<std::string>{"start", "end"});
  const Schema schema = s.input_schema("M");
  CHECK_FALSE(schema.inputs[0].optional);
  CHECK(schema.inputs[1].optional);
  CHECK(schema.inputs[1].any_dtype);
  CHECK(schema.inputs[2].any_shape);
}

TEST_CASE("signature: which targets are counted") {
  nn::Batch in;
  in.set("input_ids", zeros({2, 4}, {.dtype = DType::i64}));
  in.set("labels", i64({2, 4}, {5, -100, 7, -100, -100, 1, 2, 3}));
  const auto count = [&](nn::Scored scored) { return nn::count_targets({.scored = scored}, in); };
  CHECK(count(nn::Scored::none) == nn::TargetCounts{0});
  CHECK(count(nn::Scored::not_ignored) == nn::TargetCounts{5});
  CHECK(count(nn::Scored::next_token) == nn::TargetCounts{4});
  CHECK(count(nn::Scored::row_elements) == nn::TargetCounts{8});
  in.set("labels", i64({2}, {1, -100}));
  CHECK(count(nn::Scored::rows) == nn::TargetCounts{1});
  in.set("labels", zeros({2, 3}));
  CHECK(count(nn::Scored::rows) == nn::TargetCounts{6});
  in.set("start", i64({2}, {-3, 4}));
  in.set("end", i64({2}, {3, 0}));
  CHECK(nn::count_targets({.labels = "start, end", .scored = nn::Scored::spans}, in) == nn::TargetCounts{1, 2});
  CHECK(nn::count_targets({.labels = "absent", .scored = nn::Scored::rows}, in) == nn::TargetCounts{0});
  CHECK(nn::total({1, 2}) == 3);
}

TEST_CASE("model: a batch is checked against the signature before anything runs") {
  Rows model;
  nn::Batch in;
  CHECK(text_of([&] { model(in); }) == "Rows: x is none; it must be a tensor.");
  in.set("x", zeros({4, 3}));
  CHECK(text_of([&] { model(in); }) == "Rows: x is f32[4,3]; it must be [B,2].");
  in.set("x", zeros({4, 2}));
  in.set("labels", i64({3}, {0, 1, 2}));
  CHECK(text_of([&] { model(in); }) == "Rows: labels is i64[3] but x is f32[4,2]; labels must be [4].");
  in.set("labels", zeros({4}));
  CHECK(text_of([&] { model(in); }) == "Rows: labels is f32[4]; it must be i64.");
  in.set("labels", i64({4}, {0, 1, 2, 0}));
  CHECK(model(in)[0].shape() == Shape{});
}

TEST_CASE("loss: micro-batches divided by the window's count add up to the full batch") {
  manual_seed(1);
  Rows model;
  const Tensor x = from_values({4, 2}, std::vector<float>{1, 2, -1, 0.5f, 3, -2, 0, 1});
  const Tensor labels = i64({4}, {2, -100, 0, 1});
  nn::Batch all;
  all.set("x", x);
  all.set("labels", labels);
  const double whole = model(all).loss.item();
  const nn::TargetCounts window = nn::count_targets(model.signature(), all);
  CHECK(window == nn::TargetCounts{3});
  double sum = 0;
  for (int64_t first = 0; first < 4; first += 2) {
    nn::Batch part;
    part.set("x", slice(x, 0, first, first + 2));
    part.set("labels", slice(labels, 0, first, first + 2));
    part.num_items = window;
    sum += model(part).loss.item();
  }
  CHECK(near(sum, whole, 4e-7));  // a few roundings of a sum of three
}

TEST_CASE("loss: a batch without a scored target adds 0, not a NaN") {
  Rows model;
  nn::Batch in;
  in.set("x", zeros({2, 2}));
  in.set("labels", i64({2}, {-100, -100}));
  CHECK(model(in).loss.item() == 0);
}

TEST_CASE("loss: next tokens, squared errors and binary cross-entropies are the formulas") {
  const Tensor logits = from_values({1, 3, 2}, std::vector<float>{0, 1, 2, 0, 5, 5});
  nn::Batch in;
  in.set("labels", i64({1, 3}, {1, 0, 1}));
  const double expected = (std::log(1 + std::exp(1.0)) + std::log(1 + std::exp(2.0))) / 2;  // labels 0 at [0,1], 1 at [2,0]
  CHECK(near(nn::next_token_loss(logits, in).item(), expected, 1e-6));
  CHECK_FALSE(nn::next_token_loss(logits, {}).defined());
  const Tensor y = from_values({2, 1}, std::vector<float>{1, -2});
  CHECK(near(nn::squared_loss(y, from_values({2}, std::vector<float>{0, 1}), 2).item(), 5, 1e-6));
  CHECK(near(nn::binary_loss(y, from_values({2}, std::vector<float>{1, 0}), 2).item(), (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(-2.0))) / 2, 1e-6));
  CHECK_THROWS_AS(nn::squared_loss(y, zeros({3}), 1), ShapeError);
}

TEST_CASE("loss: smoothed targets are the reference's numbers, over the window's count, shifted where the next token is scored") {
  const Tensor logits = from_values({3, 3}, std::vector<float>{2, 0, -1, 0.5f, 0.5f, 0.5f, 1, 3, 0});
  nn::Batch in;
  in.set("labels", i64({3}, {0, -100, 1}));
  const nn::Signature tokens{.scored = nn::Scored::not_ignored};
  const std::pair<double, double> table[] = {{0, 0.169846020}, {0.1, 0.336512686}, {0.5, 1.003179352}};
  for (const auto& [smoothing, expected] : table) CHECK(near(nn::smoothed_loss(tokens, logits, in, smoothing).item(), expected, 1e-6));
  in.num_items = {4};
  CHECK(near(nn::smoothed_loss(tokens, logits, in, 0.1).item(), 0.336512686 / 2, 1e-6));
  nn::Batch causal;
  causal.set("labels", i64({1, 4}, {7, 0, -100, 1}));  // the first is never scored
  const Tensor ahead = cat({reshape(logits, {1, 3, 3}), zeros({1, 1, 3})}, 1);
  CHECK(near(nn::smoothed_loss({.scored = nn::Scored::next_token}, ahead, causal, 0.1).item(), 0.336512686, 1e-6));
  CHECK_THROWS_WITH_AS(nn::smoothed_loss({.scored = nn::Scored::row_elements}, logits, in, 0.1),
                       "label_smoothing_factor: the model scores no classes by its labels, there is nothing to smooth; leave it at 0.", ArgumentError);
}

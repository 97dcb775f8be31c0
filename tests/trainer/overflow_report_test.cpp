// tests/trainer/overflow_report_test.cpp — planted faults at known modules, ops and elements: the report names exactly those, in f32, bf16 and f16, for each
// number of threads; sound runs, masks of -inf among them, have nothing to report.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "autograd/ops.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "nn/linear.h"
#include "nn/models/t5.h"
#include "nn/loss.h"
#include "nn/norm.h"
#include "tensor/file.h"
#include "tests/trainer/small_run.h"
#include "trainer/json_text.h"
#include "trainer/overflow_report.h"

namespace rote::testing {

namespace {

// x·factor, on element [1,2] alone where `at` is set; in backward alone where `backward` is.
struct Amplifier : nn::Layer<Amplifier> {
  double factor = 1;
  bool backward = false;
  Tensor forward(const Tensor& x) {
    if (factor == 1) return x;
    const Tensor at = zeros(x.shape());
    at.data<float>()[1 * x.size(-1) + 2] = 1;
    const Tensor by = add(mul(at, factor - 1), 1);  // factor there, 1 elsewhere
    if (!backward) return mul(x, by);
    return add(x, mul(sub(x, detach(x)), sub(by, 1)));
  }
};

struct Net : nn::Model {
  nn::Linear up{3, 4}, down{4, 2};
  Amplifier amplifier;
  nn::LayerNorm norm{4};
  Net() {
    add_modules({{"up", up}, {"amplifier", amplifier}, {"norm", norm}, {"down", down}});
    fill(up.weight, 0.5), fill(up.bias, 0);
    fill(down.weight, 0.25), fill(down.bias, 0);
    down.weight.data<float>()[1] = -0.5f, down.weight.data<float>()[2] = 0.5f;
  }
  nn::Signature signature() const override { return {.inputs = "x[B,3], labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    out.logits = down(amplifier(up(in["x"])));
    if (in.contains("labels")) out.loss = nn::class_loss(out.logits, in["labels"], nn::divisor(signature(), in));
    return out;
  }
};

nn::Batch batch() {
  nn::Batch one;
  one.set("x", from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  one.set("labels", from_values({2}, std::vector<int64_t>{0, 1}));
  return one;
}

OverflowReport explain(Net& net, std::optional<DType> lower, std::optional<double> scale = {}) {
  const auto run = [&] {
    const RunScopeGuard scope({.seed = 1, .first_sample = 0, .samples = 2});
    Tensor loss;
    {
      const AutocastGuard precision(lower);
      loss = net(batch()).loss;
    }
    backward(scale ? mul(loss, *scale) : loss);
    net.zero_grad();
    return loss.item();
  };
  return explain_overflow(net, {{{10, 11}, run}}, scale);
}

constexpr std::optional<DType> kPrecisions[] = {std::nullopt, DType::bf16, DType::f16};

}  // namespace

TEST_CASE("overflow report: the op that made the Inf, its module and element, in each precision and for each number of threads") {
  const int before = num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (const std::optional<DType> lower : kPrecisions) {
      Net net;
      net.amplifier.factor = 1e38;  // 7.5 · 1e38 is beyond f32
      const OverflowReport report = explain(net, lower);
      REQUIRE(report.is_found);
      CHECK(report.path == "amplifier");
      CHECK(report.class_name == "Amplifier");
      CHECK(report.op == "mul");
      CHECK(report.phase == Phase::forward);
      CHECK(report.index == std::vector<int64_t>{1, 2});
      CHECK(report.value == INFINITY);
      CHECK(report.rows == std::vector<int64_t>{10, 11});
      CHECK(report.row == 11);
      REQUIRE(report.feeding.size() == 2);
      CHECK(report.feeding[0] == std::make_pair(std::string("x[1,2]"), 7.5));
      CHECK(report.advice.find("The values grow out of range") == 0);
    }
  }
  set_num_threads(before);
}

TEST_CASE("overflow report: f16 ends at 65504, and what rounds to it is no overflow") {
  Net net;
  fill(net.up.weight, 4364);  // 15 · 4364 = 65460
  fill(net.up.bias, 59.96875);
  fill(net.down.weight, 0);
  CHECK_FALSE(explain(net, DType::f16).is_found);
  fill(net.up.bias, 60);  // 65520 rounds to infinity
  const OverflowReport report = explain(net, DType::f16);
  REQUIRE(report.is_found);
  CHECK(report.line() == "step 0: inf in up (Linear), linear's y f16[2,4] at [1,0], forward");
  CHECK(report.amax == 65520);
  CHECK(report.advice == "The value is finite but beyond float16's 65504. It arose in the forward: a lower loss scale cannot help. --bf16 has the range of float32.");
  REQUIRE(report.feeding.size() == 3);
  CHECK(report.feeding[2] == std::make_pair(std::string("b[0]"), 60.0));
  CHECK(report.feeding[0] == std::make_pair(std::string("largest of x's row, [1,2]"), 6.0));
  CHECK(explain(net, DType::bf16).is_found == false);
  CHECK(report.frames.find("output has infs") != std::string::npos);
  CHECK(report.frames.find("                  up Linear\n") != std::string::npos);
}

TEST_CASE("overflow report: an f32 operand that is rounded to Inf did not come in as one") {
  Net net;
  net.amplifier.factor = 1e5;  // 7.5e5 in f32
  const OverflowReport report = explain(net, DType::f16);
  REQUIRE(report.is_found);
  CHECK(report.path == "down");
  CHECK(report.advice == "Its input x goes beyond float16's 65504 where it is rounded to that: a lower loss scale cannot help. --bf16 has the range of float32.");
}

TEST_CASE("overflow report: bf16 has the range of f32 but for its last half step") {
  Net net;
  net.amplifier.factor = 0x1.ffp127 / 7.5;
  const OverflowReport report = explain(net, DType::bf16);
  REQUIRE(report.is_found);
  CHECK(report.path == "down");
  CHECK(report.op == "linear");
}

TEST_CASE("overflow report: an overflow in the backward alone is found there, and a finite gradient is blamed on the scale") {
  for (const std::optional<DType> lower : kPrecisions) {
    Net net;
    net.amplifier.factor = 3e38;
    net.amplifier.backward = true;
    const OverflowReport report = explain(net, lower, 0x1p16);
    REQUIRE(report.is_found);
    CHECK(report.path == "amplifier");
    CHECK(report.phase == Phase::backward);
    CHECK(report.op == "mul");
  }
  Net net;
  const OverflowReport report = explain(net, DType::f16, 0x1p24);
  REQUIRE(report.is_found);
  CHECK(report.phase == Phase::backward);
  CHECK(report.op == "cross_entropy");
  CHECK(report.advice.find("The gradient is finite but times the loss scale 1.67772e+07 beyond float16's 65504; a lower scale helps.") == 0);
}

TEST_CASE("overflow report: Inf and NaN that came in are not blamed on an op") {
  for (const float bad : {INFINITY, NAN}) {
    Net net;
    net.down.weight.data<float>()[5] = bad;
    const OverflowReport report = explain(net, std::nullopt);
    if (!report.is_found) continue;
    CHECK(report.path == "down");
    CHECK(report.advice.find("held Inf or NaN already") != std::string::npos);
  }
  for (const std::optional<DType> lower : kPrecisions) {  // what autocast rounds behind it made none
    Net net;
    net.amplifier.factor = 2;
    net.up.weight.data<float>()[4] = NAN;
    const OverflowReport report = explain(net, lower);
    REQUIRE(report.is_found);
    CHECK(report.path == "up");
  }
}

TEST_CASE("overflow report: a query whose keys are all masked is told as that; masks of -inf alone are no fault") {
  Net net;
  for (const bool whole_row : {false, true}) {
    const auto run = [&] {
      const Tensor scores = add(net.up(from_values({2, 3}, std::vector<float>(6, 1))), 0);
      const Tensor mask = from_values({2, 4}, std::vector<float>{-INFINITY, 0, 0, 0, -INFINITY, whole_row ? -INFINITY : 0, whole_row ? -INFINITY : 0, whole_row ? -INFINITY : 0});
      const Tensor loss = sum(softmax(add(scores, mask)));
      backward(loss);
      net.zero_grad();
      return loss.item();
    };
    const OverflowReport report = explain_overflow(net, {{{0, 1}, run}});
    CHECK(report.is_found == whole_row);
    if (!whole_row) continue;
    CHECK(report.op == "softmax");
    CHECK(report.index == std::vector<int64_t>{1, 0});
    CHECK(report.advice.find("a query whose keys are all masked") != std::string::npos);
  }
}

TEST_CASE("overflow report: a step that is finite when it runs again is the machine's") {
  Net net;
  const OverflowReport report = explain(net, std::nullopt);
  CHECK_FALSE(report.is_found);
  CHECK(report.advice.find("either the machine erred") != std::string::npos);
  CHECK(report.text().find("did not come again") != std::string::npos);
}

// The example of docs/precision.md: inputs and weights that give 66246 in the feed-forward's last product.
TEST_CASE("overflow report: T5's feed-forward beyond float16 is found by its value, and bfloat16 cures it") {
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = 31, config->d_model = 16, config->d_kv = 6, config->d_ff = 28, config->num_layers = 2, config->num_heads = 2;
  manual_seed(1);
  nn::T5ForConditionalGeneration model(config);
  model.eval();
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 4}, std::vector<int64_t>{3, 4, 5, 1}));
  batch.set("labels", from_values({1, 2}, std::vector<int64_t>{3, 1}));
  const std::string wo = "encoder.block.1.layer.1.DenseReluDense.wo";
  double largest = 0;  // sum of a row of wo's input, by which equal weights are set for the value
  const auto step = [&](DType lower) {
    const RunScopeGuard scope({.seed = 1, .first_sample = 0, .samples = 1});
    Tensor loss;
    {
      const AutocastGuard precision(lower);
      loss = model(batch).loss;
    }
    backward(loss);
    model.zero_grad();
    return loss.item();
  };
  for (const nn::NamedModule& one : model.named_modules()) {
    if (one.name != wo) continue;
    const int64_t hook = one.module->register_forward_hook([&](nn::Module&, const std::vector<Tensor>& in, std::vector<Tensor>&) {
      const Tensor sums = converted(sum(converted(in[0], DType::f64), {-1}), DType::f64);
      for (int64_t i = 0; i < sums.numel(); ++i) largest = std::max(largest, sums.data<double>()[i]);
    });
    step(DType::f16);
    one.module->remove_hook(hook);
    fill(static_cast<nn::Linear*>(one.module)->weight, 66246 / largest);
  }
  OverflowReport report = explain_overflow(model, {{{0}, [&] { return step(DType::f16); }}});
  REQUIRE(report.is_found);
  report.step = 1;
  const std::string page = read_file(source_folder() + "/docs/precision.md"), text = report.text();
  for (size_t at = 0, line = 0; line < 4; ++line) {
    const size_t end = text.find('\n', at);
    if (line != 2) CHECK_MESSAGE(page.find(text.substr(at, end - at)) != std::string::npos, text.substr(at, end - at));
    at = end + 1;
  }
  CHECK(report.path == wo);
  CHECK(report.class_name == "Linear");
  CHECK(report.amax > 65504);
  CHECK(std::isfinite(report.amax));
  CHECK(report.advice.find("It arose in the forward: a lower loss scale cannot help. --bf16 has the range of float32.") != std::string::npos);
  CHECK_FALSE(explain_overflow(model, {{{0}, [&] { return step(DType::bf16); }}}).is_found);
}

TEST_CASE("overflow report: as text and JSON in output_dir/overflow") {
  const TempFolder folder;
  Net net;
  net.amplifier.factor = 1e38;
  OverflowReport report = explain(net, std::nullopt);
  report.step = 7;
  const std::string path = write_report(report, folder.path());
  CHECK(path == folder.path() + "/overflow/step-7");
  const std::string text = read_file(path + ".txt");
  CHECK(text.find("step 7: inf in amplifier (Amplifier), mul's z f32[2,4] at [1,2], forward\n") == 0);
  CHECK(text.find("rows of micro-batch 0: 10, 11; the bad element is of row 11\n") != std::string::npos);
  const Value json = parse_json(read_file(path + ".json"), "json");
  CHECK(*json.as_map()->find("module")->as_text() == "amplifier");
  CHECK(*json.as_map()->find("row")->as_int() == 11);
}

TEST_CASE("overflow report: the Trainer holds the step, says where, and writes the files") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  SmallRun run(args);
  for (auto& [name, param] : run.model->named_parameters())
    if (name == "bert.encoder.layer.1.output.dense.weight") fill(param, 3e38);
  const std::string before = hash_tensors(nn::state_dict(*run.model));
  std::string text;
  try {
    run.trainer->train();
  } catch (const NonFiniteError& fault) {
    text = fault.text;
  }
  CAPTURE(text);
  CHECK(text.find("non-finite: step 1: ") == 0);
  CHECK(text.find(" in bert.encoder.layer.1.output.dense (Linear), linear's ") != std::string::npos);
  CHECK(std::filesystem::exists(folder.path() + "/overflow/step-1.txt"));
  CHECK(hash_tensors(nn::state_dict(*run.model)) == before);
}

}  // namespace rote::testing

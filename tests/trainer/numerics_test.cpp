// tests/trainer/numerics_test.cpp — --log_numerics: figures against those computed by hand, the file over kill and resume, bits.
#include "trainer/numerics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/ops.h"
#include "tests/trainer/small_run.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

// y = x·w with w [2,3] known to the element.
struct Product : nn::Model {
  nn::Linear layer;

  Product() : layer(3, 2, {.bias = false}) {
    add_modules({{"layer", layer}});
    const float w[] = {8, -0.5f, 0, 1e-5f, 0x1p-20f, 2};
    std::copy(std::begin(w), std::end(w), layer.weight.data<float>());
  }
  nn::Signature signature() const override { return {.inputs = "x[B,3]", .main = "x"}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    out.logits = layer(in["x"]);
    return out;
  }
};

std::vector<ValueMap> lines_of(const std::string& file) {
  std::vector<ValueMap> lines;
  const std::string text = read_file(file);
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(*parse_json(text.substr(begin, end - begin), "line").as_map());
  return lines;
}

const ValueMap& entry(const ValueMap& line, const std::string& module, const std::string& what, const std::string& dtype) {
  for (const Value& one : *line.find("numerics")->as_list()) {
    const ValueMap& map = *one.as_map();
    if (*map.find("module")->as_text() == module && *map.find("what")->as_text() == what && *map.find("dtype")->as_text() == dtype) return map;
  }
  throw StateError(str("no ", what, " of ", module, " in ", dtype));
}

// One forward and backward of x = [[100, 2^-10, 3]] times `factor`, with dy = 4.
ValueMap looked_at(std::optional<DType> lower, float factor = 1) {
  const TempFolder folder;
  Product model;
  NumericsLog log(model, folder.file("n.jsonl"), lower, 0);
  log.begin_step();
  {
    const AutocastGuard precision(lower);
    const NumericsLog::Watch watch(&log);
    const Tensor x = from_values({1, 3}, std::vector<float>{100 * factor, 0x1p-10f, 3});
    const Tensor y = model.layer(x);
    backward(mul(sum(to(y, DType::f32)), 4.0));
  }
  log.write(1, 1);
  return lines_of(folder.file("n.jsonl")).at(0);
}

std::vector<int64_t> steps_in(const std::string& file) {
  std::vector<int64_t> steps;
  for (const ValueMap& line : lines_of(file)) steps.push_back(*line.find("step")->as_int());
  return steps;
}

struct Trained {
  std::string hash;
  std::vector<Logs> history;
};

Trained train(TrainingArguments args, bool logs_numerics, const std::string& resume = "") {
  args.per_device_train_batch_size = 2, args.gradient_accumulation_steps = 2;
  SmallRunOptions options;
  options.rows = 20;
  options.trainer.rote.log_numerics = logs_numerics;
  SmallRun run(args, std::move(options));
  run.train(resume);
  return {run.hash(), timeless(run.trainer->state().log_history)};
}

TrainingArguments logging_args(const std::string& folder, double every) {
  TrainingArguments args = quiet_args(folder);
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = every;
  args.num_train_epochs = 2;
  return args;
}

}  // namespace

TEST_CASE("numerics: ranges and headroom of the formats") {
  CHECK(range_of(DType::f16).largest == 65504);
  CHECK(range_of(DType::f16).smallest == 0x1p-14);
  CHECK(range_of(DType::bf16).largest == static_cast<double>(to_float(BFloat16{0x7F7F})));
  CHECK(range_of(DType::f32).largest == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(headroom_bits(DType::f16, 65504) == 0);
  CHECK(headroom_bits(DType::f16, 65504.0 / 8) == 3);
  CHECK(headroom_bits(DType::f16, 131008) == -1);
  CHECK(headroom_bits(DType::f32, 1) == doctest::Approx(128).epsilon(1e-6));
  CHECK(std::isinf(headroom_bits(DType::f16, 0)));
}

TEST_CASE("numerics: amax, headroom and underflow of activations, gradients and weights are those computed by hand, in f16") {
  const ValueMap line = looked_at(DType::f16);
  // y = [8·100 - 0.5·2^-10 rounded to 800, 1e-5·100 + 2^-30 + 6 = 6.001]
  const ValueMap& y = entry(line, "layer", "activations", "f16");
  CHECK(*y.find("source")->as_text() == "linear");
  CHECK(number_at(y, "amax") == 800);
  CHECK(number_at(y, "headroom_bits") == doctest::Approx(std::log2(65504.0 / 800)).epsilon(1e-4));
  CHECK(number_at(y, "underflow") == 0);
  // dw = 4·x for both rows: 400, 2^-8, 12; kept in f32, and none of it below f16's 2^-14.
  const ValueMap& dw = entry(line, "layer", "gradients", "f32");
  CHECK(number_at(dw, "amax") == 400);
  CHECK(number_at(dw, "headroom_bits") == doctest::Approx(std::log2(range_of(DType::f32).largest / 400)).epsilon(1e-4));
  CHECK(number_at(dw, "underflow") == 0);
  // The cast of the gradient on its way back is no activation.
  CHECK_THROWS_AS(entry(line, "", "activations", "f16"), StateError);
  // Of the five weights that are not 0, 1e-5 and 2^-20 are below 2^-14; linear takes them as f16.
  const ValueMap& w = entry(line, "layer", "weights", "f16");
  CHECK(*w.find("source")->as_text() == "weight");
  CHECK(number_at(w, "amax") == 8);
  CHECK(number_at(w, "headroom_bits") == doctest::Approx(std::log2(65504.0 / 8)).epsilon(1e-4));
  CHECK(number_at(w, "underflow") == doctest::Approx(0.4));
}

TEST_CASE("numerics: without autocast formats are those of the tensors, in which little is lost") {
  const ValueMap line = looked_at({});
  CHECK(number_at(entry(line, "layer", "activations", "f32"), "amax") == doctest::Approx(800 - 0x1p-11));
  CHECK(number_at(entry(line, "layer", "weights", "f32"), "underflow") == 0);
  CHECK(number_at(entry(line, "layer", "weights", "f32"), "headroom_bits") == doctest::Approx(125).epsilon(1e-4));
}

TEST_CASE("numerics: an overflow in rounding counts as it was before, with less than no headroom") {
  const ValueMap line = looked_at(DType::f16, 100);
  const ValueMap& y = entry(line, "layer", "activations", "f16");
  CHECK(number_at(y, "amax") == 80000);
  CHECK(number_at(y, "headroom_bits") == doctest::Approx(std::log2(65504.0 / 80000)).epsilon(1e-2));
}

TEST_CASE("numerics: zeros have no headroom to speak of") {
  const TempFolder folder;
  Product model;
  NumericsLog log(model, folder.file("n.jsonl"), {}, 0);
  log.write(1, 1);  // nothing was looked at
  CHECK(read_file(folder.file("n.jsonl")).empty());
  {
    const NumericsLog::Watch watch(&log);
    model.layer(zeros({2, 3}));
  }
  log.write(2, 1);
  const ValueMap line = lines_of(folder.file("n.jsonl")).at(0);
  const ValueMap& y = entry(line, "layer", "activations", "f32");
  CHECK(number_at(y, "amax") == 0);
  CHECK(y.find("headroom_bits")->is_null());
  CHECK(number_at(y, "underflow") == 0);
}

TEST_CASE("--log_numerics: weights, logs and losses are the same to the bit, in f32, bf16 and fp16; gradients hold the scale") {
  for (const int precision : {0, 1, 2}) {
    CAPTURE(precision);
    const TempFolder plain, logged;
    TrainingArguments args = logging_args(plain.path(), 3);
    args.bf16 = precision == 1, args.fp16 = precision == 2;
    const Trained without = train(args, false);
    args.output_dir = logged.path();
    const Trained with = train(args, true);
    CHECK(with.hash == without.hash);
    CHECK(with.history == without.history);
    CHECK_FALSE(is_file(plain.file(kNumericsFile)));
    CHECK(steps_in(logged.file(kNumericsFile)) == std::vector<int64_t>{3, 6, 9});
    const ValueMap line = lines_of(logged.file(kNumericsFile)).at(0);
    CHECK(number_at(line, "loss_scale") == (precision == 2 ? 65536 : 1));
    const double gradient = number_at(entry(line, "classifier", "gradients", "f32"), "amax");
    CHECK((gradient > 100) == (precision == 2));
    CHECK(number_at(entry(line, "bert.embeddings.word_embeddings", "weights", "f32"), "amax") > 0);
  }
}

TEST_CASE("--log_numerics: a line for each log, by whichever strategy") {
  const TempFolder folder;
  TrainingArguments args = logging_args(folder.path(), 4);
  args.logging_first_step = true;
  train(args, true);
  CHECK(steps_in(folder.file(kNumericsFile)) == std::vector<int64_t>{1, 4, 8});
  args.logging_first_step = false;
  args.logging_strategy = IntervalStrategy::epoch;
  train(args, true);  // the file begins anew
  CHECK(steps_in(folder.file(kNumericsFile)) == std::vector<int64_t>{5, 10});
  args.max_steps = 7;
  train(args, true);
  CHECK(steps_in(folder.file(kNumericsFile)) == std::vector<int64_t>{5, 7});
}

TEST_CASE("--log_numerics: after a kill the lines behind the checkpoint are dropped, and come again as they were") {
  const TempFolder folder;
  TrainingArguments args = logging_args(folder.path(), 2);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 5;
  train(args, true);
  const std::string file = folder.file(kNumericsFile), whole = read_file(file);
  REQUIRE(steps_in(file) == std::vector<int64_t>{2, 4, 6, 8, 10});
  for (const size_t cut : {whole.size(), whole.size() - 100, whole.size() / 2}) {
    CAPTURE(cut);
    write_file(file, whole.substr(0, cut));
    train(args, true, folder.path() + "/checkpoint-5");
    CHECK(read_file(file) == whole);
  }
  write_file(file, "foreign\n");
  train(args, true, folder.path() + "/checkpoint-5");
  CHECK(steps_in(file) == std::vector<int64_t>{6, 8, 10});
}

}  // namespace rote::testing

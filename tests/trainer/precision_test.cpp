// tests/trainer/precision_test.cpp — training and evaluating in bf16 and fp16: bits, the loss scale and its checkpoints, what is skipped.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/loss.h"
#include "tensor/hash.h"
#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "tests/trainer/listed_stream.h"
#include "tests/trainer/small_run.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

// One weight per class on two numbers. In forward `burst_at` the logits' gradient is large, in `break_at` the input is.
struct Tiny : nn::Model {
  nn::Linear layer;
  int64_t forwards = 0, burst_at = -1, break_at = -1;

  Tiny() : layer(2, 2) { add_modules({{"layer", layer}}); }
  nn::Signature signature() const override { return {.inputs = "x[B,2], labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    const int64_t now = forwards++;
    Tensor x = in["x"];
    if (break_at >= 0 && now >= break_at) x = mul(x, 1e38);
    out.logits = layer(x);
    if (in.contains("labels")) out.loss = nn::class_loss(out.logits, in["labels"], nn::divisor(signature(), in));
    if (now == burst_at) out.loss = add(out.loss, sum(mul(sub(out.logits, detach(out.logits)), 1e6)));
    return out;
  }
};

data::ListDataset points(int64_t n) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i)
    rows.push_back({{"x", data::Feature::list(std::vector<float>{static_cast<float>(i + 1) / 4, -static_cast<float>(i + 2) / 3})}, {"label", data::Feature::single(i % 2)}});
  return data::ListDataset(std::move(rows));
}

struct Run {
  std::string hash;
  TrainerState state;
};

Run train(const data::ListDataset& rows, const TrainingArguments& args, int64_t burst_at = -1, const std::string& resume = "") {
  manual_seed(1);
  Tiny model;
  model.burst_at = burst_at;
  Trainer trainer(model, args, {.train_dataset = &rows});
  trainer.train({.resume_from_checkpoint = resume});
  return {hash_tensors(nn::state_dict(model)), trainer.state()};
}

TrainingArguments half_args(const std::string& folder, bool fp16) {
  TrainingArguments args = quiet_args(folder);
  args.per_device_train_batch_size = 2;
  args.num_train_epochs = 2;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  args.learning_rate = 0.1;
  args.fp16 = fp16;
  args.bf16 = !fp16;
  return args;
}

}  // namespace

TEST_CASE("--bf16, --fp16: one hash for any cut into micro-batches, another than in f32") {
  const data::ListDataset rows = points(16);
  for (const bool fp16 : {false, true}) {
    const TempFolder folder;
    TrainingArguments args = half_args(folder.path(), fp16);
    args.per_device_train_batch_size = 8;
    const std::string whole = train(rows, args).hash;
    args.per_device_train_batch_size = 2, args.gradient_accumulation_steps = 4;
    CHECK(train(rows, args).hash == whole);
    args.bf16 = args.fp16 = false;
    CHECK(train(rows, args).hash != whole);
  }
}

TEST_CASE("--optim_args: what is kept in bfloat16 is saved, and a run resumed at any step ends with the same bits, for any threads") {
  const data::ListDataset rows = points(8);
  for (const char* words : {"moments_dtype=bfloat16", "split_master=true,moments_dtype=bfloat16", "use_kahan_summation=true", "bf16_stochastic_round=true,moments_dtype=bfloat16"}) {
    CAPTURE(std::string(words));
    const TempFolder folder;
    TrainingArguments args = half_args(folder.path(), false);
    args.optim_args = words;
    args.save_strategy = SaveStrategy::steps;
    args.save_steps = 1;
    const Run whole = train(rows, args);
    for (const char* step : {"1", "5"}) {
      TrainingArguments again = args;
      again.save_strategy = SaveStrategy::no;
      set_num_threads(step[0] == '1' ? 1 : 2);
      CHECK(train(rows, again, -1, folder.path() + "/checkpoint-" + step).hash == whole.hash);
    }
    set_num_threads(0);
    args.optim_args.reset();
    CHECK(train(rows, args).hash != whole.hash);
  }
}

TEST_CASE("--optim_args split_master: weights are bfloat16 from the start, the memory of a parameter is told once, and micro-batches are said to count") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  TrainingArguments args = half_args(folder.path(), false);
  args.optim_args = "split_master=true,moments_dtype=bfloat16";
  args.gradient_accumulation_steps = 2;
  manual_seed(1);
  Tiny model;
  const std::string said = said_by([&] { Trainer(model, args, {.train_dataset = &rows}).train(); });
  for (const auto& [name, param] : model.named_parameters()) CHECK(param.dtype() == DType::bf16);
  const std::string line = "memory: 10 bytes a parameter (weights 2, master 2, gradients 2, moments 4), 0 MiB for 6 parameters\n";
  REQUIRE(said.find(line) != std::string::npos);
  CHECK(said.find("memory:", said.find(line) + 1) == std::string::npos);
  CHECK(said.find("gradients of 16-bit weights are rounded after each micro-batch") != std::string::npos);
}

TEST_CASE("--fp16: an overflow of gradients skips the update and halves the scale; schedule and moments stay") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  const TrainingArguments args = half_args(folder.path(), true);
  const Run run = train(rows, args, 3);
  REQUIRE(run.state.global_step == 8);
  std::vector<double> scales, skipped, rates;
  for (const Logs& log : run.state.log_history)
    if (const Value* scale = log.find("loss_scale")) {
      scale->number(scales.emplace_back());
      log.find("skipped_steps")->number(skipped.emplace_back());
      log.find("learning_rate")->number(rates.emplace_back());
    }
  REQUIRE(scales.size() == 8);
  CHECK(scales == std::vector<double>{65536, 65536, 65536, 32768, 32768, 32768, 32768, 32768});
  CHECK(skipped == std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1});
  CHECK(rates[3] == rates[4]);
  CHECK(rates[2] > rates[3]);
}

TEST_CASE("--fp16: scale and counters are saved, and a resumed run ends with the same bits") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  TrainingArguments args = half_args(folder.path(), true);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 1;
  const Run whole = train(rows, args, 1);
  for (const char* step : {"1", "2", "5"}) {
    const std::string from = folder.path() + "/checkpoint-" + step;
    const Value file = parse_json(read_file(from + "/scaler.json"), "scaler.json");
    double scale = 0;
    REQUIRE(file.as_map()->find("scale")->number(scale));
    CHECK(scale == (std::string(step) == "1" ? 65536 : 32768));
    TrainingArguments again = args;
    again.save_strategy = SaveStrategy::no;
    CHECK(train(rows, again, std::string(step) == "1" ? 0 : -1, from).hash == whole.hash);
  }
}

TEST_CASE("--fp16: of a checkpoint whose moments do not fit nothing is kept when an older one takes its place") {
  const TempFolder folder, apart;
  const data::ListDataset rows = points(8);
  TrainingArguments args = half_args(folder.path(), true);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 1;
  train(rows, args, 1);
  const std::string older = folder.path() + "/checkpoint-1", torn = folder.path() + "/checkpoint-5";
  for (const char* name : {"optimizer.safetensors", "optimizer.json", "scheduler.json", "scaler.json", "rng_state.json"}) std::filesystem::remove(older + "/" + name);
  for (const char* step : {"2", "3", "4", "6", "7", "8"}) std::filesystem::remove_all(folder.path() + "/checkpoint-" + step);
  save_safetensors(torn + "/optimizer.safetensors", {});
  TrainingArguments again = half_args(apart.path(), true);
  const Run alone = train(rows, again, -1, older);
  args.save_strategy = SaveStrategy::no;
  const Run fallen = train(rows, args, -1, "true");
  const auto last_scale = [](const Run& run) {
    for (size_t i = run.state.log_history.size(); i-- > 0;)
      if (run.state.log_history[i].find("loss_scale") != nullptr) return number_at(run.state.log_history[i], "loss_scale");
    return 0.0;
  };
  CHECK(last_scale(alone) == 65536);
  CHECK(last_scale(fallen) == last_scale(alone));
  CHECK(fallen.hash == alone.hash);
}

TEST_CASE("--fp16: a forward that overflows stops the run; no loss scale is blamed") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  Tiny model;
  model.break_at = 2;
  Trainer trainer(model, half_args(folder.path(), true), {.train_dataset = &rows});
  std::string text;
  try {
    trainer.train();
  } catch (const NonFiniteError& fault) {
    text = fault.text;
  }
  CAPTURE(text);
  CHECK(text.find("non-finite: step 3: -inf in layer (Linear), linear's y f16[2,2] at [0,0], forward") == 0);
  CHECK(text.find("It arose in the forward, where no loss scale helps; --bf16 has the range of float32.") != std::string::npos);
}

TEST_CASE("--fp16: at a scale of 1 an overflow stops the run") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  manual_seed(1);
  Tiny model;
  model.burst_at = 0;
  TrainerOptions options{.train_dataset = &rows};
  options.rote.initial_scale_power = 0;
  Trainer trainer(model, half_args(folder.path(), true), options);
  CHECK_THROWS_WITH_AS(trainer.train(), doctest::Contains("the loss scale is 1 and falls no further"), NonFiniteError);
}

TEST_CASE("--bf16_full_eval: the model is evaluated in 16 bits, and has its weights back afterwards, to the bit") {
  const TempFolder folder;
  const data::ListDataset rows = points(8);
  manual_seed(1);
  Tiny model;
  const std::string before = hash_tensors(nn::state_dict(model));
  TrainingArguments args = quiet_args(folder.path());
  const auto loss_of = [&](const TrainingArguments& how) {
    Trainer trainer(model, how, {.eval_dataset = &rows});
    double loss = 0;
    trainer.evaluate().find("eval_loss")->number(loss);
    CHECK(model.layer.weight.dtype() == DType::f32);
    CHECK(hash_tensors(nn::state_dict(model)) == before);
    return loss;
  };
  const double exact = loss_of(args);
  args.bf16_full_eval = true;
  const double half = loss_of(args);
  CHECK(half != exact);
  CHECK(half == doctest::Approx(exact).epsilon(0.02));
}

}  // namespace rote::testing

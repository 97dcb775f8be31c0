// tests/trainer/loop_test.cpp — steps, epochs, windows and what is logged of them. Resuming: resume_test.cpp; saving: trainer_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "autograd/ops.h"
#include "nn/loss.h"
#include "tensor/alloc.h"
#include "tests/support/hostile_control.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

// One weight per class on two numbers: the smallest model with a loss. `break_at` makes the loss infinite from that forward on.
struct Tiny : nn::Model {
  nn::Linear layer;
  int64_t forwards = 0, break_at = -1;

  Tiny() : layer(2, 2) { add_modules({{"layer", layer}}); }
  nn::Signature signature() const override { return {.inputs = "x[B,2], labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    Tensor x = in["x"];
    if (break_at >= 0 && forwards++ >= break_at) x = mul(x, scalar(INFINITY));
    out.logits = layer(x);
    if (in.contains("labels")) out.loss = nn::class_loss(out.logits, in["labels"], nn::divisor(signature(), in));
    return out;
  }
};

data::ListDataset points(const std::vector<int64_t>& labels) {
  std::vector<data::Example> rows;
  for (size_t i = 0; i < labels.size(); ++i)
    rows.push_back({{"x", data::Feature::list(std::vector<float>{static_cast<float>(i + 1) / 4, -static_cast<float>(i + 2) / 3})}, {"label", data::Feature::single(labels[i])}});
  return data::ListDataset(std::move(rows));
}

}  // namespace

TEST_CASE("train: updates and epoch values follow the reference's arithmetic") {
  struct Row {
    int64_t samples, batch, accumulation;
    double epochs;
    std::vector<double> values;
  };
  const Row table[] = {
      {10, 2, 1, 0.25, {0.2, 0.4}},           {10, 2, 2, 1, {0.4, 0.8, 1.0}}, {10, 2, 2, 1.5, {0.4, 0.8, 1.0, 1.4, 1.8}},
      {10, 3, 2, 0.5, {0.5}},                 {7, 2, 8, 2, {1.0, 2.0}},
  };
  for (const Row& row : table) {
    CAPTURE(row.samples);
    CAPTURE(row.epochs);
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_train_batch_size = row.batch;
    args.gradient_accumulation_steps = row.accumulation;
    args.num_train_epochs = row.epochs;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    SmallRun run(args, {.rows = row.samples});
    const TrainOutput output = run.train();
    CHECK(output.global_step == static_cast<int64_t>(row.values.size()));
    const std::vector<Logs>& history = run.trainer->state().log_history;
    REQUIRE(history.size() == row.values.size() + 1);
    for (size_t i = 0; i < row.values.size(); ++i) CHECK(number_at(history[i], "epoch") == doctest::Approx(row.values[i]).epsilon(1e-15));
  }
}

TEST_CASE("train: a schedule on a plateau cuts the rate where the metric stands still, whichever way it should go") {
  for (const bool greater : {false, true}) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_train_batch_size = 10;
    args.num_train_epochs = 6;
    args.learning_rate = 0.5;
    args.lr_scheduler_type = "reduce_lr_on_plateau";
    args.lr_scheduler_kwargs = ValueMap{{"patience", 1}, {"factor", 0.5}};
    args.eval_strategy = IntervalStrategy::epoch;
    args.logging_strategy = IntervalStrategy::epoch;
    args.metric_for_best_model = "level";
    args.greater_is_better = greater;
    int64_t evaluations = 0;
    const double rising[] = {1, 2, 2, 2, 3, 3};  // values 3 and 4 bring nothing new
    SmallRun run(args, {.trainer = {.compute_metrics = [&](const EvalPrediction&) { return Metrics{{"level", greater ? rising[evaluations++] : 4 - rising[evaluations++]}}; }}});
    run.train();
    std::vector<double> rates;
    for (const Logs& logs : run.trainer->state().log_history)
      if (logs.find("learning_rate")) rates.push_back(number_at(logs, "learning_rate"));
    CHECK(rates == std::vector<double>{0.5, 0.5, 0.5, 0.5, 0.25, 0.25});
  }
}

TEST_CASE("train: the events of two updates come in the reference's order") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  args.logging_strategy = IntervalStrategy::steps;
  args.eval_strategy = IntervalStrategy::steps;
  args.save_strategy = SaveStrategy::steps;
  args.logging_steps = args.save_steps = 1;
  args.eval_steps = 1;
  SmallRun run(args, {.rows = 8});
  run.train();
  CHECK(joined(run.events) ==
        "train_begin@0 epoch_begin@0 "
        "step_begin@0 substep_end@0 pre_optimizer_step@0 optimizer_step@0 step_end@1 log@1 prediction_step@1 log@1 evaluate@1 save@1 "
        "step_begin@1 substep_end@1 pre_optimizer_step@1 optimizer_step@1 step_end@2 log@2 prediction_step@2 log@2 evaluate@2 save@2 "
        "epoch_end@2 log@2 train_end@2");
}

TEST_CASE("train: log entries have the reference's keys in its order") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 2;
  args.eval_strategy = IntervalStrategy::epoch;
  SUBCASE("plain") {
    SmallRun run(args);
    const TrainOutput output = run.train();
    const std::vector<Logs>& history = run.trainer->state().log_history;
    REQUIRE(history.size() == 4);
    CHECK(keys_of(history[0]) == "loss grad_norm learning_rate epoch step");
    CHECK(keys_of(history[2]) == "eval_loss eval_runtime eval_samples_per_second eval_steps_per_second epoch step");
    CHECK(keys_of(history[3]) == "train_runtime train_samples_per_second train_steps_per_second total_flos train_loss epoch step");
    CHECK(keys_of(output.metrics) == "train_runtime train_samples_per_second train_steps_per_second total_flos train_loss epoch");
  }
  SUBCASE("with tokens counted") {
    args.include_num_input_tokens_seen = TokenCount::non_padding;
    SmallRun run(args);
    run.train();
    const std::vector<Logs>& history = run.trainer->state().log_history;
    CHECK(keys_of(history[0]) == "loss grad_norm learning_rate epoch num_input_tokens_seen train_runtime train_tokens_per_second step");
    int64_t tokens = 0;
    for (int64_t row = 0; row < 10; ++row) tokens += data::find(run.rows.at(row), "input_ids")->length();
    CHECK(number_at(history.back(), "num_input_tokens_seen") == static_cast<double>(tokens));
  }
}

TEST_CASE("train: the rate in the log is that of the update just made (31)") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  args.warmup_steps = 2;
  SmallRun run(args);
  run.train();
  const double expected[] = {0, 0.5e-2, 1e-2, 1e-2 * 2 / 3, 1e-2 / 3};
  for (size_t i = 0; i < 5; ++i) CHECK(number_at(run.trainer->state().log_history[i], "learning_rate") == doctest::Approx(expected[i]).epsilon(1e-14));
}

TEST_CASE("train: max_steps overrides epochs and goes over the rows again (10, 11)") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.max_steps = 7;
  SmallRun run(args, {.rows = 6});
  run.train();
  CHECK(run.trainer->state().global_step == 7);
  CHECK(run.trainer->state().num_train_epochs == 3);
  CHECK(run.trainer->state().epoch == doctest::Approx(2 + 1.0 / 3).epsilon(1e-15));
}

TEST_CASE("train: one window has the same bits however it is cut into micro-batches, with dropout and unequal lengths (1-5)") {
  std::string hash;
  std::vector<Logs> history;
  for (const int64_t batch : {8, 4, 2, 1}) {
    CAPTURE(batch);
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_train_batch_size = batch;
    args.gradient_accumulation_steps = 8 / batch;
    args.num_train_epochs = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    SmallRun run(args, {.rows = 20});  // the last window of an epoch is short
    run.train();
    REQUIRE(run.trainer->state().global_step == 6);
    if (hash.empty()) {
      hash = run.hash();
      history = run.trainer->state().log_history;
      continue;
    }
    CHECK(run.hash() == hash);
    for (size_t i = 0; i < 6; ++i) {
      CHECK(number_at(run.trainer->state().log_history[i], "grad_norm") == number_at(history[i], "grad_norm"));
      // The loss is added up in another order on its way into the log: 1e-6 of it is 8 eps of f32.
      CHECK(number_at(run.trainer->state().log_history[i], "loss") == doctest::Approx(number_at(history[i], "loss")).epsilon(1e-6));
    }
  }
}

TEST_CASE("train: the number of threads moves no bit") {
  std::string hash;
  for (const int64_t threads : {1, 2, 5}) {
    const TempFolder folder;
    SmallRunOptions options;
    options.trainer.rote.num_threads = threads;
    SmallRun run(quiet_args(folder.path()), std::move(options));
    run.train();
    if (hash.empty()) hash = run.hash();
    CHECK(run.hash() == hash);
  }
}

TEST_CASE("train: several models at once have the bits of one after the other") {
  const TempFolder folder;
  const auto run_of = [&](int64_t seed) {
    TrainingArguments args = quiet_args(folder.file(str(seed)));
    args.seed = seed;
    return std::make_unique<SmallRun>(args);
  };
  std::vector<std::string> serial;
  for (int64_t seed = 1; seed <= 3; ++seed) {
    const auto run = run_of(seed);
    run->train();
    serial.push_back(run->hash());
  }
  std::vector<std::unique_ptr<SmallRun>> runs;
  for (int64_t seed = 1; seed <= 3; ++seed) runs.push_back(run_of(seed));
  std::vector<std::thread> threads;
  for (const auto& run : runs) threads.emplace_back([&run] { run->train(); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 3; ++i) CHECK(runs[i]->hash() == serial[i]);
  CHECK(serial[0] != serial[1]);
}

TEST_CASE("train: the seed moves dropout, data_seed alone the order (58)") {
  const auto hash_with = [](int64_t seed, std::optional<int64_t> data_seed) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.seed = seed;
    args.data_seed = data_seed;
    SmallRun run(args);
    run.train();
    return run.hash();
  };
  const std::string hash = hash_with(1, 1);
  CHECK(hash_with(1, {}) == hash);
  CHECK(hash_with(1, 2) != hash);
  CHECK(hash_with(2, 1) != hash);
}

TEST_CASE("train: group_by_length puts rows of one length together and keeps each once an epoch") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 4;
  args.train_sampling_strategy = data::SamplingStrategy::group_by_length;
  std::vector<std::vector<int64_t>> lengths;
  SmallRunOptions options{.rows = 24};
  options.trainer.data_collator = [&](const std::vector<data::Example>& examples) {
    lengths.emplace_back();
    for (const data::Example& example : examples) lengths.back().push_back(data::find(example, "input_ids")->length());
    return pad(examples);
  };
  SmallRun run(args, std::move(options));
  run.train();
  REQUIRE(lengths.size() == 6);
  CHECK(lengths[0][0] == 9);  // the longest row comes first
  int64_t spread = 0, rows = 0;
  for (const std::vector<int64_t>& batch : lengths) {
    spread += *std::max_element(batch.begin(), batch.end()) - *std::min_element(batch.begin(), batch.end());
    rows += static_cast<int64_t>(batch.size());
  }
  CHECK(rows == 24);
  CHECK(spread < 6 * 5);  // in random order the mean spread of four of these lengths is above 5
}

TEST_CASE("train: a window without scored labels changes nothing but the cursor") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  const data::ListDataset rows = points({0, 1, -100, -100, 1, 0});
  SmallRunOptions options;
  options.model = std::make_unique<Tiny>();
  options.trainer.train_dataset = &rows;
  options.trainer.data_collator = data::default_collate;
  SmallRun run(args, std::move(options));
  std::vector<std::string> hashes;
  run.trainer->on(Event::step_end, [&](const TrainerState&, TrainerControl&) { hashes.push_back(run.hash()); });
  run.train();
  REQUIRE(hashes.size() == 3);
  CHECK(hashes[1] == hashes[0]);
  CHECK(hashes[2] != hashes[1]);
  const std::vector<Logs>& history = run.trainer->state().log_history;
  CHECK(number_at(history[1], "loss") == 0);
  // The schedule counts updates made, not steps: the rate of step 3 is that of the second update.
  CHECK(number_at(history[2], "learning_rate") == doctest::Approx(1e-2 * 2 / 3).epsilon(1e-14));
  CHECK(number_at(history[2], "step") == 3);
}

TEST_CASE("train: rows without labels are refused with what the model needs") {
  const TempFolder folder;
  const data::ListDataset rows({{{"x", data::Feature::list(std::vector<float>{1, 2})}}, {{"x", data::Feature::list(std::vector<float>{2, 1})}}});
  SmallRunOptions options;
  options.model = std::make_unique<Tiny>();
  options.trainer.train_dataset = &rows;
  options.trainer.data_collator = data::default_collate;
  SmallRun run(quiet_args(folder.path()), std::move(options));
  CHECK_THROWS_WITH_AS(run.train(), "train: the model gave no loss; its batch needs labels.", ArgumentError);
}

TEST_CASE("train: a loss that is not finite stops the run, names module and op and leaves the weights") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  const data::ListDataset rows = points({0, 1, 1, 0, 1, 0, 0, 1});
  auto model = std::make_unique<Tiny>();
  model->break_at = 3;  // the second micro-batch of the second window
  SmallRunOptions options;
  options.model = std::move(model);
  options.trainer.train_dataset = &rows;
  options.trainer.data_collator = data::default_collate;
  SmallRun run(args, std::move(options));
  std::string before;
  run.trainer->on(Event::step_end, [&](const TrainerState&, TrainerControl&) { before = run.hash(); });
  std::string text;
  try {
    run.train();
  } catch (const NonFiniteError& error) {
    text = error.text;
  }
  CHECK(text.find("non-finite: step 2: inf in the model (Tiny), mul's z f32[2,2] at [0,0], forward") == 0);
  CHECK(run.hash() == before);
  CHECK(run.trainer->state().global_step == 1);
  CHECK(run.trainer->has_started());
}

TEST_CASE("train: stopping an epoch inside a window drops its gradients (15)") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  args.num_train_epochs = 2;
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  SmallRun run(args, {.rows = 4});
  int64_t substeps = 0;
  run.trainer->on(Event::substep_end, [&](const TrainerState&, TrainerControl& control) { control.should_epoch_stop = ++substeps == 1; });
  std::vector<bool> has_gradient;
  run.trainer->on(Event::epoch_begin, [&](const TrainerState&, TrainerControl&) { has_gradient.push_back(run.model->parameters()[0].grad().defined()); });
  run.train();
  CHECK(joined(run.events) ==
        "train_begin@0 epoch_begin@0 step_begin@0 substep_end@0 epoch_end@0 "
        "epoch_begin@0 step_begin@0 substep_end@0 pre_optimizer_step@0 optimizer_step@0 step_end@1 log@1 epoch_end@1 log@1 train_end@1");
  CHECK(has_gradient == std::vector<bool>{false, false});
  // The first micro-batch of epoch 0 adds nothing to the loss of the one update.
  SmallRun whole(args, {.rows = 4});
  whole.trainer->on(Event::step_end, [](const TrainerState&, TrainerControl& control) { control.should_training_stop = true; });
  whole.train();
  CHECK(number_at(run.trainer->state().log_history[0], "loss") < 1.5 * number_at(whole.trainer->state().log_history[0], "loss"));
}

TEST_CASE("train: a second call keeps the moments and starts the state anew") {
  const TempFolder folder;
  SmallRun run(quiet_args(folder.path()));
  run.train();
  const std::string once = run.hash();
  run.train();
  CHECK(run.trainer->state().global_step == 5);
  CHECK(run.trainer->state().log_history.size() == 1);
  CHECK(run.trainer->optimizer()->state_steps()[0].second == 10);
  CHECK(run.hash() != once);
}

TEST_CASE("train: drop_last leaves the short batch out of training, not of evaluation (47)") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 4;
  args.per_device_eval_batch_size = 2;
  args.dataloader_drop_last = true;
  SmallRun run(args);
  run.train();
  CHECK(run.trainer->state().global_step == 2);
  const PredictionOutput output = run.trainer->predict(run.eval_rows);
  CHECK(output.num_samples == 5);
  CHECK(output.predictions.at(0).size(0) == 5);
}

TEST_CASE("train: data that make no batch are refused before anything begins") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 16;
  args.dataloader_drop_last = true;
  SmallRun run(args);
  CHECK_THROWS_WITH_AS(run.train(), "train: 10 rows make no batch of 16 with --dataloader_drop_last; give a smaller --per_device_train_batch_size.", ArgumentError);
  CHECK_FALSE(run.trainer->has_started());
}

TEST_CASE("auto_find_batch_size: where memory does not reach, smaller micro-batches make the same updates, to the bit") {
  const auto args_of = [](const std::string& folder) {
    TrainingArguments args = quiet_args(folder);
    args.per_device_train_batch_size = 16;
    args.num_train_epochs = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    args.include_num_input_tokens_seen = TokenCount::non_padding;
    args.auto_find_batch_size = true;
    return args;
  };
  // Refuses to train on more rows than fit, in the middle of a run.
  struct Limited : Trainer {
    using Trainer::Trainer;
    int64_t most = 16, begins = 0;
    double training_step(nn::Model& m, const nn::Batch& batch) override {
      const int64_t rows = batch["input_ids"].size(0);
      const double loss = Trainer::training_step(m, batch);  // its gradients are dropped
      ROTE_CHECK(state().global_step < 2 || rows <= most, MemoryError, "allocate: no more than ", most, " rows fit.");
      return loss;
    }
  };
  const auto trained = [&](int64_t most) {
    const TempFolder folder;
    const auto model = small_classifier();
    const data::ListDataset rows = small_rows(40);
    Limited trainer(*model, args_of(folder.path()), {.train_dataset = &rows, .data_collator = pad});
    SmallRun::silence(trainer);
    trainer.most = most;
    int64_t steps = 0;
    trainer.on(Event::step_begin, [&](const TrainerState&, TrainerControl&) { ++steps; });
    trainer.train();
    CHECK(steps == 6);
    return std::pair(hash_tensors(nn::state_dict(*model)), trainer.state());
  };
  const auto [whole, whole_state] = trained(16);
  CHECK(*whole_state.train_batch_size == 16);
  for (const int64_t most : {8, 5, 1}) {
    CAPTURE(most);
    const auto [hash, state] = trained(most);
    CHECK(hash == whole);
    CHECK(*state.train_batch_size == (most == 5 ? 4 : most));
    CHECK(state.num_input_tokens_seen == whole_state.num_input_tokens_seen);
    CHECK(state.global_step == 6);
    for (size_t i = 0; i < 6; ++i) CHECK(number_at(state.log_history[i], "loss") == doctest::Approx(number_at(whole_state.log_history[i], "loss")).epsilon(1e-6));
  }
  const std::string text = [&] {
    try {
      trained(0);
    } catch (const MemoryError& error) {
      return error.text;
    }
    return std::string();
  }();
  CHECK(text == "auto_find_batch_size: memory does not reach for one row at a time; allocate: no more than 0 rows fit.");
}

TEST_CASE("auto_find_batch_size: a step begins once, though its batch could not be made at first") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 4;
  args.auto_find_batch_size = true;
  SmallRunOptions options;
  options.trainer.data_collator = [](const std::vector<data::Example>& rows) {
    ROTE_CHECK(rows.size() <= 1, MemoryError, "collate: one row fits.");
    return pad(rows);
  };
  SmallRun run(args, std::move(options));
  int64_t begins = 0;
  run.trainer->on(Event::step_begin, [&](const TrainerState&, TrainerControl&) { ++begins; });
  CHECK(run.train().global_step == 3);
  CHECK(begins == 3);
  CHECK(*run.trainer->state().train_batch_size == 1);
}

TEST_CASE("auto_find_batch_size: with memory_limit; without the switch the run ends with a word") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 64;
  args.max_steps = 1;
  args.max_grad_norm = 0;
  struct Wide : nn::Model {  // 1 MB a row forward
    nn::Linear layer{2, 2};
    Wide() { add_modules({{"layer", layer}}); }
    nn::Signature signature() const override { return {.inputs = "x[B,2], labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
    nn::ModelOutput forward(const nn::Batch& in) override {
      const Tensor logits = layer(in["x"]);
      const Tensor wide = reshape(logits, {logits.size(0), 2, 1}) * full({1, 1, 1 << 17}, 1);
      nn::ModelOutput out;
      out.logits = mean(wide, {2});
      out.loss = nn::class_loss(out.logits, in.find("labels"), nn::divisor(signature(), in));
      return out;
    }
  };
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 64; ++i) labels.push_back(i % 2);
  const data::ListDataset rows = points(labels);
  const auto trained = [&](int64_t limit, bool find) {
    manual_seed(1);
    Wide model;
    args.auto_find_batch_size = find;
    TrainerOptions options{.train_dataset = &rows};
    options.rote.memory_limit = limit;
    Trainer trainer(model, args, std::move(options));
    SmallRun::silence(trainer);
    trainer.train();
    return std::pair(hash_tensors(nn::state_dict(model)), *trainer.state().train_batch_size);
  };
  const auto [whole, batch] = trained(0, true);
  CHECK(batch == 64);
  const int64_t limit = (memory_figures().in_use >> 20) + 48;
  const auto [hash, found] = trained(limit, true);
  CHECK(found < 64);
  CHECK(hash == whole);
  CHECK_THROWS_AS(trained(limit, false), MemoryError);
  set_memory_limit(0);
}

TEST_CASE("activation_checkpointing: the bits stay; a model without layers is refused; kwargs are checked") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  const auto hash = [&] {
    SmallRun run(args);
    run.train();
    return run.hash();
  };
  const std::string plain = hash();
  args.activation_checkpointing = true;
  CHECK(hash() == plain);
  args.activation_checkpointing_kwargs = ValueMap{{"every_n_layers", 2}};
  CHECK(hash() == plain);
  args.activation_checkpointing_kwargs = ValueMap{{"offload", true}};
  CHECK_THROWS_WITH_AS(resolved(args), "--activation_checkpointing_kwargs: has offload true; it takes every_n_layers, a whole number from 1 on.", ArgumentError);
  args.activation_checkpointing_kwargs = ValueMap{{"offload", false}, {"use_reentrant", false}};
  CHECK(resolved(args).checkpointed_layers() == 1);
  args.activation_checkpointing_kwargs.reset();
  Tiny tiny;
  const data::ListDataset rows = points({0, 1, 0, 1});
  Trainer trainer(tiny, args, {.train_dataset = &rows});
  SmallRun::silence(trainer);
  CHECK_THROWS_WITH_AS(trainer.train(), "activation_checkpointing: Tiny has no stack of layers that can run again; leave it out.", ArgumentError);
}

// Callbacks and collators are the host's code: a library that one of them loads may change the control word for good.
TEST_CASE("train: a host that changes rounding and flushing before and during a run moves no bit of weights and logs") {
  const auto run = [](bool hostile) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.gradient_accumulation_steps = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    args.eval_strategy = IntervalStrategy::epoch;
    args.max_grad_norm = 0.5;
    SmallRunOptions options;
    options.trainer.data_collator = [hostile](const std::vector<data::Example>& examples) {
      if (hostile) set_hostile_control();
      return pad(examples);
    };
    SmallRun small(args, std::move(options));
    if (hostile) set_hostile_control();
    for (size_t i = 0; hostile && i < words_of(Event{}).size(); ++i)
      small.trainer->on(static_cast<Event>(i), [](const TrainerState&, TrainerControl&) { set_hostile_control(); });
    small.train();
    set_default_control();
    return std::pair(small.hash(), timeless(small.trainer->state().log_history));
  };
  const auto quiet = run(false), hostile = run(true);
  CHECK(hostile.first == quiet.first);
  CHECK(hostile.second == quiet.second);
}

}  // namespace rote::testing

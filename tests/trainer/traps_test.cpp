// tests/trainer/traps_test.cpp — faults that users of such trainers have reported (trainer.md 10), one case each. Those that a case elsewhere shows
// stand there in brackets behind its name. Not here yet: 6 and 7 want ranks, 32 the loss scaler, 63 the detector of overflows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "autograd/ops.h"
#include "nn/loss.h"
#include "nn/models/gpt2.h"
#include "nn/models/t5.h"
#include "optim/clip.h"
#include "optim/registry.h"
#include "tests/trainer/listed_stream.h"
#include "tests/trainer/small_run.h"
#include "tests/trainer/tiny_model.h"
#include "trainer/data/language_collate.h"
#include "trainer/parser.h"
#include "trainer/text/tokenizer.h"

namespace rote::testing {

namespace {

constexpr int64_t kVocab = 32;

std::unique_ptr<nn::Model> small_gpt2() {
  auto config = std::make_shared<nn::GPT2Config>();
  config->vocab_size = kVocab;
  config->n_positions = 16;
  config->n_embd = 12;
  config->n_layer = config->n_head = 2;
  config->bos_token_id = 0;
  config->eos_token_id = {0};
  manual_seed(5);
  return std::make_unique<nn::GPT2LMHeadModel>(config);
}

std::unique_ptr<nn::Model> small_t5() {
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = kVocab;
  config->d_model = 12;
  config->d_kv = 6;
  config->d_ff = 16;
  config->num_layers = config->num_heads = 2;
  manual_seed(5);
  return std::make_unique<nn::T5ForConditionalGeneration>(config);
}

// Ids with labels of their own length, as for token heads.
nn::Batch token_batch(int64_t B, int64_t T) {
  const Tensor ids = empty({B, T}, {.dtype = DType::i64}), labels = empty({B, T}, {.dtype = DType::i64});
  for (int64_t i = 0; i < B * T; ++i) {
    ids.data<int64_t>()[i] = 1 + i * 7 % (kVocab - 1);
    labels.data<int64_t>()[i] = i % 5 == 0 ? -100 : 1 + i * 11 % (kVocab - 1);
  }
  nn::Batch batch;
  batch.set("input_ids", ids);
  batch.set("labels", labels);
  return batch;
}

struct Opened : Trainer {
  using Trainer::compute_loss;
  using Trainer::Trainer;
};

std::vector<Logs> logged(const TrainingArguments& given, int64_t rows, SmallRunOptions options = {}) {
  const TempFolder folder;
  TrainingArguments args = given;
  args.output_dir = folder.path();
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  options.rows = rows;
  SmallRun run(args, std::move(options));
  run.train();
  return run.trainer->state().log_history;
}

}  // namespace

TEST_CASE("trap 8: a window never goes over the border of an epoch") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());  // five batches of 2
  args.gradient_accumulation_steps = 2;
  args.num_train_epochs = 2;
  SmallRun run(args);
  run.train();
  std::string steps;
  for (const std::string& event : run.events)
    if (event.starts_with("substep_end") || event.starts_with("step_end") || event.starts_with("epoch_end")) steps += event + " ";
  CHECK(steps == "substep_end@0 step_end@1 substep_end@1 step_end@2 step_end@3 epoch_end@3 substep_end@3 step_end@4 substep_end@4 step_end@5 step_end@6 epoch_end@6 ");
}

TEST_CASE("trap 9: the last short window of an epoch makes an update, divided by what it holds") {
  TrainingArguments args = quiet_args("");
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  args.learning_rate = 0;
  args.gradient_accumulation_steps = 4;
  const std::vector<Logs> split = logged(args, 10);  // windows of 8 and 2 rows
  args.gradient_accumulation_steps = 1;
  args.per_device_train_batch_size = 8;
  const std::vector<Logs> whole = logged(args, 10);
  REQUIRE(number_at(split[1], "epoch") == 1);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(number_at(split[i], "grad_norm") == number_at(whole[i], "grad_norm"));
    CHECK(number_at(split[i], "loss") == doctest::Approx(number_at(whole[i], "loss")).epsilon(1e-6));  // a sum of four roundings
  }
}

TEST_CASE("trap 12: epochs and max_steps name the same end, whatever the accumulation") {
  for (const int64_t accumulation : {1, 2, 3, 8}) {
    CAPTURE(accumulation);
    TrainingArguments args = quiet_args("");
    args.gradient_accumulation_steps = accumulation;
    args.num_train_epochs = 2;
    const std::vector<Logs> by_epochs = logged(args, 10);
    args.max_steps = static_cast<int64_t>(by_epochs.size()) - 1;  // the last entry is that of the end
    const std::vector<Logs> by_steps = logged(args, 10);
    REQUIRE(by_steps.size() == by_epochs.size());
    for (size_t i = 0; i < by_steps.size(); ++i) CHECK(number_at(by_steps[i], "epoch") == number_at(by_epochs[i], "epoch"));
    CHECK(number_at(by_steps.back(), "epoch") == 2);
  }
}

TEST_CASE("trap 13: a save at the end of an epoch loses nothing of a window, and resumed gives the same bits") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;  // of five batches: the last window is short
  args.num_train_epochs = 2;
  args.save_strategy = SaveStrategy::epoch;
  SmallRun whole(args);
  whole.train();
  CHECK(std::filesystem::exists(folder.path() + "/checkpoint-3"));
  args.output_dir = elsewhere.path();
  SmallRun again(args);
  again.train(folder.path() + "/checkpoint-3");
  CHECK(again.hash() == whole.hash());
}

namespace {

TrainingArguments stream_args(const std::string& folder, int64_t updates) {
  TrainingArguments args = quiet_args(folder);
  args.gradient_accumulation_steps = 2;
  args.max_steps = updates;
  return args;
}

SmallRunOptions training_on(data::Stream& stream) {
  SmallRunOptions options;
  options.trainer.train_dataset = &stream;
  return options;
}

}  // namespace

TEST_CASE("trap 14: the window that a stream's end cuts short makes an update, divided by what it holds, and leaves nothing behind") {
  const auto norms = [](int64_t batch, int64_t accumulation) {
    const TempFolder folder;
    TrainingArguments args = stream_args(folder.path(), 4);
    args.per_device_train_batch_size = batch;
    args.gradient_accumulation_steps = accumulation;
    args.learning_rate = 0;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    ListedStream stream(small_rows(5));
    SmallRun run(args, training_on(stream));
    run.train();
    CHECK(stream.passes == std::vector<int64_t>{0, 1});
    std::vector<double> out;
    for (size_t i = 0; i < 4; ++i) out.push_back(number_at(run.trainer->state().log_history[i], "grad_norm"));
    return out;
  };
  CHECK(norms(1, 4) == norms(4, 1));  // windows of 4 and 1 rows, twice
}

TEST_CASE("trap 22: resumed on a stream that is repeated, the rows of whole passes are not read again and nothing ends early") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = stream_args(folder.path(), 9);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 7;
  ListedStream rows(small_rows(6)), again(small_rows(6));
  SmallRun whole(args, training_on(rows));
  whole.train();
  CHECK(rows.passes == std::vector<int64_t>{0, 1, 2, 3, 4});  // two updates a pass
  args.output_dir = elsewhere.path();
  SmallRun rest(args, training_on(again));
  CHECK(rest.train(folder.path() + "/checkpoint-7").global_step == 9);
  CHECK(again.passes == std::vector<int64_t>{3, 4});
  CHECK(rest.hash() == whole.hash());
}

TEST_CASE("trap 23: train_loss is of the updates of this call, before and after a resume") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = quiet_args(folder.path());
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 3;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  SmallRun whole(args);
  whole.train();
  args.output_dir = elsewhere.path();
  SmallRun rest(args);
  const TrainOutput output = rest.train(folder.path() + "/checkpoint-3");
  const std::vector<Logs>& history = whole.trainer->state().log_history;
  CHECK(output.training_loss == doctest::Approx((number_at(history[3], "loss") + number_at(history[4], "loss")) / 2).epsilon(1e-12));
}

TEST_CASE("trap 33, 45: a loss that is no number is neither clipped away nor logged as another one: the run stops and says where") {
  struct Breaks : Trainer {
    using Trainer::Trainer;
    LossOutput compute_loss(nn::Model& m, const nn::Batch& batch) override {
      LossOutput result = Trainer::compute_loss(m, batch);
      if (state().global_step == 1) result.loss = result.loss * INFINITY;
      return result;
    }
  };
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.logging_nan_inf_filter = true;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(8);
  Breaks trainer(*model, args, {.train_dataset = &rows, .data_collator = pad});
  SmallRun::silence(trainer);
  std::string after_one;
  trainer.on(Event::step_end, [&](const TrainerState&, TrainerControl&) { after_one = hash_tensors(nn::state_dict(*model)); });
  CHECK_THROWS_AS(trainer.train(), NonFiniteError);
  CHECK(trainer.state().global_step == 1);
  CHECK(trainer.state().log_history.size() == 1);
  CHECK(hash_tensors(nn::state_dict(*model)) == after_one);
}

TEST_CASE("trap 34: a negative max_grad_norm, which would turn the gradients round, is refused") {
  TrainingArguments args;
  args.max_grad_norm = -1;
  const std::vector<std::string> faults = resolve(args);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].rfind("--max_grad_norm: ", 0) == 0);
}

TEST_CASE("trap 35: without clipping nothing is multiplied, however large the norm") {
  Tensor x = from_values({2}, std::vector<float>{0, 0});
  requires_grad(x);
  backward(sum(x * from_values({2}, std::vector<float>{3e38f, 3e38f})));
  const double norm = optim::global_norm({x});
  CHECK(std::isfinite(norm));  // though it is beyond f32
  CHECK(norm > 4e38);
  optim::Group group{.params = {{"x", x}}, .lr = 1e-38};
  const auto sgd = optim::make_optimizer("sgd", {group});
  sgd->step({.max_norm = 0, .norm = norm});
  CHECK(x.data<float>()[0] == doctest::Approx(-3.0f));
}

TEST_CASE("trap 36: the direction of a plateau follows from the metric's") {
  const auto mode_of = [](bool greater) {
    TrainingArguments args = quiet_args("");
    args.lr_scheduler_type = "reduce_lr_on_plateau";
    args.lr_scheduler_kwargs = ValueMap{{"patience", 0}, {"factor", 0.5}};
    args.per_device_train_batch_size = 10;
    args.num_train_epochs = 3;
    args.eval_strategy = IntervalStrategy::epoch;
    args.metric_for_best_model = "level";
    args.greater_is_better = greater;
    SmallRunOptions options;
    options.trainer.compute_metrics = [level = 0.0](const EvalPrediction&) mutable { return Metrics{{"level", level += 1}}; };  // it rises
    const std::vector<Logs> history = logged(args, 10, std::move(options));
    double rate = 0;
    for (const Logs& entry : history)
      if (entry.find("learning_rate") != nullptr) rate = number_at(entry, "learning_rate");
    return rate;
  };
  CHECK(mode_of(true) == 1e-2);
  CHECK(mode_of(false) < 1e-2);
}

TEST_CASE("trap 40: predictions come in the order of the rows, with rows grouped by length too") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_eval_batch_size = 3;
  SmallRun plain(args);
  args.train_sampling_strategy = data::SamplingStrategy::group_by_length;
  SmallRun grouped(args);
  const PredictionOutput a = plain.trainer->predict(plain.rows), b = grouped.trainer->predict(grouped.rows);
  for (int64_t row = 0; row < 10; ++row) CHECK(b.label_ids.data<int64_t>()[row] == row % 3);
  CHECK(hash_tensors({{"logits", a.predictions[0]}}) == hash_tensors({{"logits", b.predictions[0]}}));
}

TEST_CASE("trap 41: the -100 that fills predictions does not reach a text unseen") {
  const TempFolder folder;
  folder.file("tokenizer.json", tiny_tokenizer_json());
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(folder.path());
  CHECK_THROWS_AS(tokenizer.decode({4, -100}), ArgumentError);
}

TEST_CASE("trap 43, 46: a causal model's labels are shifted once, by whoever scores them; smoothed as well") {
  const TempFolder folder;
  const auto model = small_gpt2();
  model->eval();
  const nn::Batch batch = token_batch(2, 6);
  const nn::ModelOutput own = (*model)(batch);
  const auto by_hand = [&](double smoothing) {  // logits at t against the label at t + 1
    double sum = 0;
    int64_t scored = 0;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t + 1 < 6; ++t) {
        const int64_t label = batch["labels"].data<int64_t>()[b * 6 + t + 1];
        if (label == -100) continue;
        const float* x = own.logits.data<float>() + (b * 6 + t) * kVocab;
        double total = 0, all = 0;
        for (int64_t v = 0; v < kVocab; ++v) total += std::exp(static_cast<double>(x[v]));
        for (int64_t v = 0; v < kVocab; ++v) all += std::log(total) - static_cast<double>(x[v]);
        sum += (1 - smoothing) * (std::log(total) - static_cast<double>(x[label])) + smoothing * all / kVocab;
        ++scored;
      }
    return sum / static_cast<double>(scored);
  };
  CHECK(own.loss.item() == doctest::Approx(by_hand(0)).epsilon(1e-6));
  TrainingArguments args = quiet_args(folder.path());
  args.label_smoothing_factor = 0.2;
  Opened trainer(*model, args, {});
  SmallRun::silence(trainer);
  CHECK(trainer.compute_loss(*model, batch).loss.item() == doctest::Approx(by_hand(0.2)).epsilon(1e-6));
}

TEST_CASE("trap 44: an encoder-decoder model has its decoder's inputs also where its labels are scored elsewhere") {
  const TempFolder folder;
  const auto model = small_t5();
  model->eval();
  const nn::Batch batch = token_batch(2, 5);
  TrainingArguments args = quiet_args(folder.path());
  const std::string plain = hash_tensors({{"logits", (*model)(batch).logits}});
  args.label_smoothing_factor = 0.2;
  Opened smoothing(*model, args, {});
  SmallRun::silence(smoothing);
  CHECK(hash_tensors({{"logits", smoothing.compute_loss(*model, batch).outputs.logits}}) == plain);
  args.label_smoothing_factor = 0;
  Opened own(*model, args, {.compute_loss_func = [](const nn::ModelOutput& outputs, const Tensor&, const nn::TargetCounts&) { return sum(outputs.logits); }});
  SmallRun::silence(own);
  CHECK(hash_tensors({{"logits", own.compute_loss(*model, batch).outputs.logits}}) == plain);
}

TEST_CASE("trap 55: a tilde in output_dir is the home folder, no folder of that name") {
  const TempFolder home;
  const std::string before = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  setenv("HOME", home.path().c_str(), 1);
  SmallRun run(quiet_args("~/out"));
  setenv("HOME", before.c_str(), 1);
  CHECK(std::filesystem::is_directory(home.path() + "/out"));
  CHECK_FALSE(std::filesystem::exists("~"));
}

TEST_CASE("trap 56: a stream is repeated up to max_steps and says so at each end; one without rows stops the run") {
  const TempFolder folder;
  ListedStream rows(small_rows(6)), nothing(small_rows(0));
  int64_t steps = 0;
  CHECK(said_by([&] { steps = SmallRun(stream_args(folder.path(), 5), training_on(rows)).train().global_step; }) ==
        "train_dataset: the stream ends after 6 rows of pass 1, at step 2 of 5; pass 2 begins\n"
        "train_dataset: the stream ends after 6 rows of pass 2, at step 4 of 5; pass 3 begins\n");
  CHECK(steps == 5);
  CHECK(said_by([&] {
          SmallRun run(stream_args(folder.path(), 5), training_on(nothing));
          steps = run.train().global_step;
          CHECK(joined(run.events) == "train_begin@0 epoch_begin@0 epoch_end@0 log@0 train_end@0");
        }) == "train_dataset: pass 1 of the stream gives no batch; training stops at step 0 of 5\n");
  CHECK(steps == 0);
}

TEST_CASE("trap 57: a stream is told the number of each pass, and can shuffle by it") {
  const TempFolder folder;
  ListedStream rows(small_rows(6));
  data::ShuffledStream shuffled(rows, 6, 1);
  SmallRun(stream_args(folder.path(), 6), training_on(shuffled)).train();
  CHECK(rows.passes == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("trap 59: a batch size that was found by trying has all counts of its own") {
  struct Limited : Trainer {
    using Trainer::Trainer;
    double training_step(nn::Model& m, const nn::Batch& batch) override {
      ROTE_CHECK(batch["input_ids"].size(0) <= 2, MemoryError, "allocate: two rows fit.");
      return Trainer::training_step(m, batch);
    }
  };
  const auto trained = [](int64_t batch, int64_t accumulation) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_train_batch_size = batch;
    args.gradient_accumulation_steps = accumulation;
    args.num_train_epochs = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    args.auto_find_batch_size = true;
    const auto model = small_classifier();
    const data::ListDataset rows = small_rows(11);
    Limited trainer(*model, args, {.train_dataset = &rows, .data_collator = pad});
    SmallRun::silence(trainer);
    trainer.train();
    return timeless(trainer.state().log_history);
  };
  CHECK(trained(4, 1) == trained(2, 2));  // epochs, losses, norms, rates: those of the size that was found
}

TEST_CASE("trap 60: where the pad id is the end of a text as well, the end is learnt and the padding is not") {
  data::LanguageModelingOptions options;
  options.mlm = false;
  const data::LanguageModelingCollator collator(data::PadOptions{.pad_token_id = 0}, data::MaskTokens{std::nullopt, kVocab, {}}, options);
  const nn::Batch batch = collator({{{"input_ids", data::Feature::list(std::vector<int64_t>{5, 6, 0})}}, {{"input_ids", data::Feature::list(std::vector<int64_t>{7, 0})}}});
  const int64_t* labels = batch["labels"].data<int64_t>();
  CHECK(std::vector<int64_t>(labels, labels + 6) == std::vector<int64_t>{5, 6, 0, 7, 0, -100});
}

TEST_CASE("trap 62: a bool flag is what it says: bare, with a word, negated, or a fault") {
  struct Row {
    std::vector<std::string> words;
    bool remove, nan_filter;
    const char* fault;
  };
  const Row table[] = {
      {{}, true, true, ""},
      {{"--remove_unused_columns", "false"}, false, true, ""},
      {{"--remove_unused_columns=No"}, false, true, ""},
      {{"--no_remove_unused_columns"}, false, true, ""},
      {{"--no-logging-nan-inf-filter"}, true, false, ""},
      {{"--remove_unused_columns", "0", "--logging_nan_inf_filter", "T"}, false, true, ""},
      {{"--remove_unused_columns", "maybe"}, true, true, "--remove_unused_columns: "},
  };
  for (const Row& row : table) {
    CAPTURE(joined(row.words));
    std::string fault;
    try {
      const auto parsed = parse_words(row.words, Usage{"run", "A run."}, TrainingArguments{});
      CHECK(std::get<0>(parsed.values).remove_unused_columns == row.remove);
      CHECK(std::get<0>(parsed.values).logging_nan_inf_filter == row.nan_filter);
    } catch (const ArgumentError& error) {
      fault = error.text;
    }
    CHECK(fault.rfind(row.fault, 0) == 0);
    CHECK(fault.empty() == (row.fault[0] == 0));
  }
}

TEST_CASE("trap 69: layers that run again draw what they drew, and leave the draws of the rest as they were") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  const auto hash = [&] {
    SmallRun run(args);  // dropout 0.1
    run.train();
    return run.hash();
  };
  const std::string plain = hash();
  args.activation_checkpointing = true;
  CHECK(hash() == plain);
}

}  // namespace rote::testing

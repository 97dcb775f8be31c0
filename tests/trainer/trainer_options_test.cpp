// tests/trainer/trainer_options_test.cpp — what a user puts in the place of the Trainer's own: losses, optimizers, models, steps, batches, callbacks.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "autograd/ops.h"
#include "nn/loss.h"
#include "optim/registry.h"
#include "tests/trainer/small_run.h"
#include "tests/trainer/tiny_model.h"
#include "trainer/text/tokenizer.h"

namespace rote::testing {

namespace {

SmallRunOptions with(TrainerOptions trainer, std::unique_ptr<nn::Model> model = {}) { return {.rows = 10, .model = std::move(model), .trainer = std::move(trainer)}; }

std::unique_ptr<Trainer> trainer_of(nn::Model& model, const TrainingArguments& args, TrainerOptions options) {
  auto trainer = std::make_unique<Trainer>(model, args, std::move(options));
  SmallRun::silence(*trainer);
  return trainer;
}

// Its overrides note that they were called.
struct Overriding : Trainer {
  using Trainer::Trainer;
  mutable std::vector<std::string> calls;

  LossOutput compute_loss(nn::Model& m, const nn::Batch& batch) override {
    calls.push_back("compute_loss");
    return Trainer::compute_loss(m, batch);
  }
  double training_step(nn::Model& m, const nn::Batch& batch) override {
    calls.push_back("training_step");
    return Trainer::training_step(m, batch);
  }
  Prediction prediction_step(nn::Model& m, const nn::Batch& batch, bool loss_only, const std::vector<std::string>& ignore_keys) override {
    calls.push_back(loss_only ? "prediction_step loss" : "prediction_step");
    return Trainer::prediction_step(m, batch, loss_only, ignore_keys);
  }
  EvaluationOutput evaluation_loop(const data::AnyDataset& dataset, const EvaluationCall& call) override {
    calls.push_back("evaluation_loop " + call.prefix);
    return Trainer::evaluation_loop(dataset, call);
  }
  void log(Logs logs, const std::optional<Speed>& speed) override {
    calls.push_back("log");
    logs.set("own", 1);
    Trainer::log(std::move(logs), speed);
  }
  void save_model(const std::string& folder) const override { calls.push_back("save_model " + std::filesystem::path(folder).filename().string()); }
  void create_optimizer() override {
    calls.push_back("create_optimizer");
    Trainer::create_optimizer();
  }
  void create_scheduler(int64_t total_steps) override {
    calls.push_back(str("create_scheduler ", total_steps));
    Trainer::create_scheduler(total_steps);
  }
  std::vector<int64_t> train_order(int64_t) const override { return {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}; }
  nn::Batch train_batch(const std::vector<int64_t>& rows) const override {
    std::string text = "train_batch";
    for (const int64_t row : rows) text += str(" ", row);
    calls.push_back(text);
    return Trainer::train_batch(rows);
  }
  nn::Batch eval_batch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const override {
    calls.push_back(str("eval_batch ", rows.size()));
    return Trainer::eval_batch(dataset, rows);
  }
};

struct Starter : TrainerCallback {
  std::vector<std::string>* said = nullptr;
  void setup(const CallbackContext& context) override {
    if (said != nullptr) said->push_back(str("setup ", context.model != nullptr, context.optimizer != nullptr, static_cast<bool>(context.train_dataset)));
  }
  void on_train_begin(const CallbackContext&, TrainerControl&) override {
    if (said != nullptr) said->push_back("begin");
  }
};

}  // namespace

TEST_CASE("Trainer: every step can be overridden") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 4;
  args.max_steps = 1;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(10), eval = small_rows(5);
  Overriding trainer(*model, args, {.train_dataset = &rows, .eval_dataset = &eval, .data_collator = pad});
  SmallRun::silence(trainer);
  trainer.train();
  CHECK(joined(trainer.calls) == "create_optimizer create_scheduler 1 train_batch 9 8 7 6 training_step compute_loss log log");
  CHECK(trainer.state().last("own") == 1);
  trainer.calls.clear();
  trainer.evaluate();
  CHECK(joined(trainer.calls) == "evaluation_loop eval eval_batch 5 prediction_step loss compute_loss log");
  trainer.calls.clear();
  trainer.predict(eval);
  CHECK(joined(trainer.calls) == "evaluation_loop test eval_batch 5 prediction_step compute_loss");
  trainer.calls.clear();
  trainer.save_model("model");
  CHECK(joined(trainer.calls) == "save_model model");
}

TEST_CASE("Trainer: an own mean is averaged over the micro-batches, a sum over the window's count is not") {
  struct Mean : Trainer {
    using Trainer::Trainer;
    LossOutput compute_loss(nn::Model& m, const nn::Batch& batch) override {
      nn::ModelOutput outputs = m(batch);
      Tensor loss = cross_entropy(outputs.logits, reshape(batch["labels"], {-1}));
      return {std::move(loss), std::move(outputs), true};
    }
  };
  const auto trained = [](auto tag, int64_t batch, int64_t accumulation) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_train_batch_size = batch;
    args.gradient_accumulation_steps = accumulation;
    args.max_steps = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    const auto model = small_classifier();
    const data::ListDataset rows = small_rows(16);
    typename decltype(tag)::type trainer(*model, args, {.train_dataset = &rows, .data_collator = pad});
    SmallRun::silence(trainer);
    trainer.train();
    return trainer.state().log_history;
  };
  const auto own = trained(std::type_identity<Mean>(), 8, 1), plain = trained(std::type_identity<Trainer>(), 8, 1);
  for (const int64_t batch : {4, 2, 1}) {
    const auto split = trained(std::type_identity<Mean>(), batch, 8 / batch);
    for (size_t i = 0; i < 2; ++i)
      for (const char* key : {"loss", "grad_norm"}) {
        CAPTURE(key);
        CHECK(number_at(split[i], key) == doctest::Approx(number_at(own[i], key)).epsilon(1e-5));
        CHECK(number_at(own[i], key) == doctest::Approx(number_at(plain[i], key)).epsilon(1e-5));
      }
  }
}

TEST_CASE("compute_loss_func: sees the outputs, the labels and the window's count; the model sees no labels") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  std::vector<std::string> seen;
  const auto func = [&](const nn::ModelOutput& outputs, const Tensor& labels, const nn::TargetCounts& num_items) {
    seen.push_back(str(outputs.loss.defined() ? "loss" : "", describe(labels), " of ", num_items.at(0)));
    return loss_sum(cross_entropy_each(outputs.logits, reshape(labels, {-1})), static_cast<double>(num_items.at(0)));
  };
  SmallRun own(args, with({.compute_loss_func = func})), plain(args);
  own.train();
  plain.train();
  CHECK(seen == std::vector<std::string>{"i64[2] of 4", "i64[2] of 4", "i64[2] of 4", "i64[2] of 4", "i64[2] of 2"});
  CHECK(own.hash() == plain.hash());
  seen.clear();
  own.trainer->evaluate();
  CHECK(seen == std::vector<std::string>{"i64[5] of 5"});
}

TEST_CASE("Trainer: a tokenizer makes the collator pad, without one rows must be of one length (1.16)") {
  struct Opened : Trainer {
    using Trainer::eval_batch;
    using Trainer::Trainer;
  };
  const TempFolder folder;
  write_tiny_model(folder.file("model"));
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(4);
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(folder.file("model"));
  const Opened padding(*model, quiet_args(folder.file("out")), {.processing_class = ProcessingClass(tokenizer)});
  CHECK(describe(padding.eval_batch(rows, {0, 1})["input_ids"]) == "i64[2,8]");
  const Opened stacking(*model, quiet_args(folder.file("out")), {});
  CHECK_THROWS_AS(stacking.eval_batch(rows, {0, 1}), ArgumentError);
}

TEST_CASE("label_smoothing_factor: needs a config, is off for several labels at once, and moves the loss as the formula says") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.label_smoothing_factor = 0.1;
  SmallRun run(args);
  const EvaluationOutput plain = run_evaluation(*run.model, run.eval_rows, {.batch_rows = 8, .data_collator = pad});
  const Tensor& logits = plain.prediction.predictions.at(0);
  double sum = 0;
  for (int64_t b = 0; b < 5; ++b) {
    const float* x = logits.data<float>() + b * 3;
    double total = 0;
    for (int64_t c = 0; c < 3; ++c) total += std::exp(static_cast<double>(x[c]));
    for (int64_t c = 0; c < 3; ++c) sum -= (std::log(std::exp(static_cast<double>(x[c])) / total)) * ((c == b % 3 ? 0.9 : 0) + 0.1 / 3);
  }
  CHECK(number_at(run.trainer->evaluate(), "eval_loss") == doctest::Approx(sum / 5).epsilon(1e-6));

  struct Bare : nn::Model {
    nn::Signature signature() const override { return {.inputs = "x[B,2]", .main = "x"}; }
    nn::ModelOutput forward(const nn::Batch&) override { return {}; }
  } bare;
  CHECK_THROWS_WITH_AS(Trainer(bare, args, {}), "label_smoothing_factor: the model has no config, which says what its labels are; override compute_loss.", ArgumentError);
  auto several = small_classifier();
  several->config()->problem_type = "multi_label_classification";
  CHECK(trainer_of(*several, args, {})->args().label_smoothing_factor == 0);
}

TEST_CASE("model_init: each train() begins with the same new model") {
  const TempFolder folder;
  const TrainingArguments args = quiet_args(folder.path());
  const data::ListDataset rows = small_rows(6);
  int64_t made = 0;
  const auto init = [&]() -> std::unique_ptr<nn::Model> {
    ++made;
    auto config = small_bert();
    config->labels = {"a", "b", "c"};
    return std::make_unique<nn::BertForSequenceClassification>(config);
  };
  Trainer trainer(ModelInit(init), args, {.train_dataset = &rows, .data_collator = pad});
  SmallRun::silence(trainer);
  CHECK(made == 1);
  trainer.train();
  const std::string once = hash_tensors(nn::state_dict(trainer.model()));
  trainer.train();
  CHECK(made == 3);
  CHECK(hash_tensors(nn::state_dict(trainer.model())) == once);
  manual_seed(42);
  const auto fresh = init();
  SmallRun by_hand(args, with({.train_dataset = &rows}, init()));
  CHECK(hash_tensors(nn::state_dict(*fresh)) != once);
  CHECK_THROWS_WITH_AS(Trainer(ModelInit([] { return std::unique_ptr<nn::Model>(); }), args, {}), "Trainer: model_init gave no model; it must return a new one.", ArgumentError);
  CHECK_THROWS_AS(Trainer(ModelInit(init), args, {.lr_scheduler = optim::constant()}), ArgumentError);
}

TEST_CASE("make_optimizer: gets the decay groups; what contradicts itself is refused") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.weight_decay = 0.25;
  std::vector<std::string> names;
  const MakeOptimizer sgd = [&](std::vector<optim::Group> groups) {
    for (const optim::Group& group : groups) names.push_back(str(group.params.size(), " decay ", group.weight_decay));
    return optim::make_optimizer("sgd", std::move(groups), {}, {});
  };
  SmallRun run(args, with({.make_optimizer = sgd}));
  run.train();
  REQUIRE(names.size() == 2);
  CHECK(names[0] == str(run.trainer->get_decay_parameter_names().size(), " decay 0.25"));
  CHECK_THROWS_AS(run.trainer->get_optimizer_group("no.such"), ArgumentError);
  CHECK(run.trainer->get_optimizer_group("classifier.bias").weight_decay == 0);
  CHECK(run.trainer->get_optimizer_group("classifier.weight").weight_decay == 0.25);
  const auto model = small_classifier();
  const auto refused = [&](const TrainingArguments& with_args, TrainerOptions options) {
    try {
      Trainer(*model, with_args, std::move(options));
    } catch (const ArgumentError& error) {
      return error.text;
    }
    return std::string();
  };
  TrainerOptions two{.optimizer = std::shared_ptr<optim::Optimizer>(optim::make_optimizer("sgd", decay_groups(*model, 1, 0), {}, {}))};
  two.make_optimizer = sgd;
  CHECK(refused(args, std::move(two)) == "Trainer: optimizer and make_optimizer are both given; give one.");
  args.batch_eval_metrics = true;
  CHECK(refused(args, {.compute_metrics = [](const EvalPrediction&) { return Metrics(); }}).rfind("batch_eval_metrics: compute_metrics sees a whole evaluation", 0) == 0);
}

TEST_CASE("Trainer: what can be asked of it") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.lr_scheduler_type = "constant";
  SmallRun run(args);
  Trainer& trainer = *run.trainer;
  CHECK_THROWS_WITH_AS(trainer.get_learning_rates(), "get_learning_rates: there is no optimizer yet; train(), or create_optimizer_and_scheduler(), makes it.", StateError);
  trainer.create_optimizer_and_scheduler(4);
  CHECK(trainer.get_learning_rates() == std::vector<double>{1e-2, 1e-2});
  CHECK(trainer.get_num_trainable_parameters() == run.model->num_parameters());
  requires_grad(run.model->parameters()[0], false);
  CHECK(trainer.get_num_trainable_parameters() == run.model->num_parameters() - run.model->parameters()[0].numel());
  requires_grad(run.model->parameters()[0], true);
  CHECK(Trainer::num_examples(run.rows) == 10);
  CHECK(trainer.is_world_process_zero());
  CHECK(trainer.is_local_process_zero());
  run.train();
  CHECK(static_cast<double>(trainer.state().total_flos) > 0);
  nn::Batch batch = pad({run.rows.at(0)});
  const int64_t embeddings = (31 + 40 + 2) * 12;  // of words, positions and types
  CHECK(trainer.floating_point_ops(batch) == 6 * batch["input_ids"].numel() * (run.model->num_parameters() - embeddings));
  trainer.save_metrics("eval", {{"eval_loss", 0.5}});
  CHECK(read_text(folder.path() + "/eval_results.json") == "{\n    \"eval_loss\": 0.5\n}");
  CHECK(read_text(folder.path() + "/all_results.json") == "{\n    \"eval_loss\": 0.5\n}");
}

TEST_CASE("callbacks: as class, as object and as function; set up once, before the first training") {
  const TempFolder folder;
  std::vector<std::string> said;
  Starter starter;
  starter.said = &said;
  SmallRun run(quiet_args(folder.path()), with({.callbacks = {callback<Starter>(starter)}}));
  Trainer& trainer = *run.trainer;
  CHECK(said.empty());
  trainer.add_callback<EarlyStoppingCallback>();
  CHECK(trainer.pop_callback<EarlyStoppingCallback>() != nullptr);
  trainer.on(Event::train_begin, [&](const CallbackContext& context, TrainerControl&) { said.push_back(str("function ", context.state.max_steps)); });
  CHECK(trainer.callbacks().callback_list().rfind("DefaultFlowCallback\nStarter", 0) == 0);
  run.train();
  CHECK(joined(said) == "setup 111 begin function 5");
  trainer.add_callback(starter);  // a second one runs too
  run.train();
  CHECK(joined(said) == "setup 111 begin function 5 begin function 5 setup 111 begin");
  trainer.remove_callback<Starter>();
  trainer.remove_callback<Starter>();
  trainer.remove_callback<Starter>();
  CHECK_FALSE(trainer.callbacks().has<Starter>());
}

TEST_CASE("callbacks: a level of errors leaves the bar out, whatever the argument says") {
  const TempFolder folder;
  const std::unique_ptr<nn::Model> model = small_classifier();
  for (const LogLevel level : {LogLevel::passive, LogLevel::error, LogLevel::critical}) {
    TrainingArguments args = quiet_args(folder.path());
    args.log_level = level;
    Trainer trainer(*model, args, TrainerOptions{.data_collator = pad});
    CHECK(trainer.callbacks().has<ProgressCallback>() == (level == LogLevel::passive));
    CHECK(trainer.callbacks().has<PrinterCallback>() == (level != LogLevel::passive));
  }
}

}  // namespace rote::testing

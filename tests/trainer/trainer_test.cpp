// tests/trainer/trainer_test.cpp — what a Trainer checks, groups, saves and keeps as its best. The loop: loop_test.cpp.
#include "trainer/trainer.h"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "nn/pretrained.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

std::string names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return joined(names);
}

// Norms under the names by which they are known when their class is not LayerNorm.
struct Norms : nn::Model {
  nn::Linear dense, q_norm, norm, bn1, input_layernorm, frozen;
  nn::LayerNorm ln_1;
  nn::Embedding table;

  Norms() : dense(2, 2), q_norm(2, 2), norm(2, 2), bn1(2, 2), input_layernorm(2, 2), frozen(2, 2), ln_1(2), table(3, 2) {
    add_modules({{"dense", dense}, {"q_norm", q_norm}, {"norm", norm}, {"bn1", bn1}, {"input_layernorm", input_layernorm}, {"frozen", frozen}, {"ln_1", ln_1}, {"table", table}});
    for (Tensor* x : {&frozen.weight, &frozen.bias}) requires_grad(*x, false);
  }
  nn::Signature signature() const override { return {.inputs = "x[B,2]", .main = "x"}; }
  nn::ModelOutput forward(const nn::Batch&) override { return {}; }
};

// Evaluations give these values of eval_score, in turn.
TrainerOptions scored(std::vector<double> values) {
  TrainerOptions options;
  options.compute_metrics = [values = std::move(values), next = size_t{0}](const EvalPrediction&) mutable { return Metrics{{"score", values.at(next++)}}; };
  return options;
}

// One step, evaluation and save each.
TrainingArguments scored_args(const std::string& folder, int64_t steps) {
  TrainingArguments args = quiet_args(folder);
  args.max_steps = steps;
  args.eval_strategy = IntervalStrategy::steps;
  args.save_strategy = SaveStrategy::steps;
  args.eval_steps = 1;
  args.save_steps = 1;
  args.metric_for_best_model = "score";
  return args;
}

SmallRunOptions with(TrainerOptions options) {
  SmallRunOptions out;
  out.trainer = std::move(options);
  return out;
}

}  // namespace

TEST_CASE("decay_groups: biases and norms, by class and by name, do not decay (61)") {
  Norms model;
  const std::vector<optim::Group> groups = decay_groups(model, 0.5, 0.1);
  REQUIRE(groups.size() == 2);
  std::vector<std::string> names[2];
  for (size_t i = 0; i < 2; ++i)
    for (const auto& [name, param] : groups[i].params) names[i].push_back(name);
  CHECK(joined(names[0]) == "dense.weight bn1.weight table.weight");
  CHECK(joined(names[1]) == "dense.bias q_norm.weight q_norm.bias norm.weight norm.bias bn1.bias input_layernorm.weight input_layernorm.bias ln_1.weight ln_1.bias");
  CHECK(groups[0].weight_decay == 0.1);
  CHECK(groups[1].weight_decay == 0);
  CHECK(groups[1].lr == 0.5);
}

TEST_CASE("Trainer: what cannot be done is refused before output_dir is made") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.file("out"));
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(4);
  const auto build = [&] { Trainer(*model, args, {.train_dataset = &rows}); };
  SUBCASE("evaluation without rows") {
    args.eval_strategy = IntervalStrategy::epoch;
    CHECK_THROWS_WITH_AS(build(), "eval_strategy: evaluations are asked for but there is no eval_dataset; give one or leave --eval_strategy at no.", ArgumentError);
  }
  SUBCASE("arguments out of range") {
    args.per_device_train_batch_size = 0;
    CHECK_THROWS_AS(build(), ArgumentError);
  }
  SUBCASE("a negative decay") {
    args.weight_decay = -0.1;
    CHECK_THROWS_WITH_AS(build(), "AdamW: weight_decay is -0.1; it must be finite and at least 0.", ArgumentError);
  }
  SUBCASE("best without evaluations") {
    args.load_best_model_at_end = true;
    CHECK_THROWS_AS(build(), ArgumentError);
  }
  SUBCASE("a model of hidden states (1.16)") {
    nn::BertModel bare(small_bert());
    CHECK_THROWS_WITH_AS(Trainer(bare, args, {.train_dataset = &rows}),
                         "Trainer: BertModel gives hidden states and takes no labels; train a class with a head, as AutoModelForSequenceClassification makes.", ArgumentError);
  }
  SUBCASE("an output_dir below a file") {
    args.output_dir = folder.file("file", "x") + "/out";
    CHECK_THROWS_WITH_AS(build(), ("output_dir: cannot create " + args.output_dir + ": Not a directory.").c_str(), IoError);
    fs::remove(folder.file("file"));
  }
  CHECK(names_in(folder.path()) == "");
}

TEST_CASE("Trainer: an output_dir that cannot be written into is refused") {
  const TempFolder folder;
  fs::create_directory(folder.file("out"));
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder.file("out"), fs::perms(0555));
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(4);
  const TrainingArguments args = quiet_args(folder.file("out"));
  const uid_t user = geteuid();
  if (user == 0) REQUIRE(seteuid(65534) == 0);  // root may write anywhere
  std::string text;
  try {
    Trainer(*model, args, {.train_dataset = &rows});
  } catch (const IoError& error) {
    text = error.text;
  }
  REQUIRE(seteuid(user) == 0);
  CHECK(text == "output_dir: cannot write into " + folder.file("out") + ": Permission denied.");
}

TEST_CASE("Trainer: fires init_end once its folder is there") {
  struct Witness : TrainerCallback {
    std::string folder;
    int64_t seen = 0;
    std::string name() const override { return "Witness"; }
    void on_init_end(const CallbackContext& context, TrainerControl&) override { seen += fs::is_directory(context.args.output_dir) ? 1 : 100; }
  };
  const TempFolder folder;
  const auto witness = std::make_shared<Witness>();
  SmallRun run(quiet_args(folder.file("a/b")), with({.callbacks = {witness}}));
  CHECK(witness->seen == 1);
}

TEST_CASE("best: the metric sequence leaves the folders of the reference (48, 49, 52, 54)") {
  const std::vector<double> values = {.5, .9, .3, .4, .2, .1};
  struct Row {
    int64_t limit;
    const char* left;
  };
  const Row table[] = {{1, "checkpoint-2"}, {2, "checkpoint-2 checkpoint-6"}, {3, "checkpoint-2 checkpoint-5 checkpoint-6"}};
  for (const Row& row : table) {
    CAPTURE(row.limit);
    const TempFolder folder;
    TrainingArguments args = scored_args(folder.path(), 6);
    args.save_total_limit = row.limit;
    SmallRun run(args, with(scored(values)));
    run.train();
    CHECK(names_in(folder.path()) == row.left);
    CHECK(run.trainer->state().best_global_step == 2);
    CHECK(*run.trainer->state().best_metric == .9);
    CHECK(run.trainer->state().best_model_checkpoint == folder.path() + "/checkpoint-2");
  }
}

TEST_CASE("best: smaller is better for a loss, NaN never wins, equal is no win") {
  const TempFolder folder;
  TrainingArguments args = scored_args(folder.path(), 5);
  args.greater_is_better = false;
  SmallRun run(args, with(scored({NAN, .4, .3, .3, NAN})));
  run.train();
  CHECK(run.trainer->state().best_global_step == 3);
}

TEST_CASE("best: without saves the value is kept and its step is not; an evaluation before training is none of them") {
  const TempFolder folder;
  TrainingArguments args = scored_args(folder.path(), 3);
  args.save_strategy = SaveStrategy::no;
  args.eval_on_start = true;
  SmallRun run(args, with(scored({.99, .4, .6, .5})));
  run.train();
  CHECK(*run.trainer->state().best_metric == .6);
  CHECK_FALSE(run.trainer->state().best_global_step.has_value());
  CHECK_FALSE(run.trainer->state().best_model_checkpoint.has_value());
}

TEST_CASE("best: save_strategy best saves new bests and nothing else") {
  const TempFolder folder;
  TrainingArguments args = scored_args(folder.path(), 5);
  args.save_strategy = SaveStrategy::best;
  SmallRun run(args, with(scored({.5, .4, .6, .6, .7})));
  run.trainer->on(Event::step_end, [](const TrainerState&, TrainerControl& control) { control.should_save = true; });
  run.train();
  CHECK(names_in(folder.path()) == "checkpoint-1 checkpoint-3 checkpoint-5");
}

TEST_CASE("best: a new best between two saves is saved where it is to be loaded, and is loaded (52, 53)") {
  const TempFolder folder;
  TrainingArguments args = scored_args(folder.path(), 4);
  args.save_steps = 4;
  args.load_best_model_at_end = true;
  SmallRun run(args, with(scored({.5, .9, .3, .4})));
  std::vector<std::string> hashes;
  run.trainer->on(Event::step_end, [&](const TrainerState&, TrainerControl&) { hashes.push_back(run.hash()); });
  run.train();
  CHECK(names_in(folder.path()) == "checkpoint-1 checkpoint-2 checkpoint-4");
  CHECK(run.hash() == hashes.at(1));
  CHECK(run.hash() != hashes.at(3));
}

TEST_CASE("best: a metric that the evaluation does not give is named with those that it gives") {
  const TempFolder folder;
  TrainingArguments args = scored_args(folder.path(), 2);
  args.metric_for_best_model = "f1";
  SmallRun run(args, with(scored({.5, .4})));
  CHECK_THROWS_WITH_AS(run.train(),
                       "metric_for_best_model: the evaluation gives no eval_f1; it gives eval_loss, eval_score, eval_runtime, eval_samples_per_second, "
                       "eval_steps_per_second, epoch.",
                       ArgumentError);
}

TEST_CASE("save: by steps and always at the last update; a reused folder keeps what this run writes (51)") {
  const TempFolder folder;
  fs::create_directory(folder.file("checkpoint-100"));
  TrainingArguments args = quiet_args(folder.path());
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 2;
  args.save_total_limit = 2;
  SmallRun run(args);
  run.train();
  CHECK(names_in(folder.path()) == "checkpoint-4 checkpoint-5");
  CHECK(names_in(folder.file("checkpoint-5")) ==
        "config.json model.safetensors optimizer.json optimizer.safetensors rng_state.json scaler.json scheduler.json trainer_state.json training_args.json");
}

TEST_CASE("save: save_only_model leaves out what a resume needs") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.save_strategy = SaveStrategy::epoch;
  args.save_only_model = true;
  SmallRun run(args);
  run.train();
  CHECK(names_in(folder.file("checkpoint-5")) == "config.json model.safetensors trainer_state.json training_args.json");
}

TEST_CASE("save_model: the folder loads as the model that was saved") {
  const TempFolder folder;
  SmallRun run(quiet_args(folder.path()));
  run.train();
  run.trainer->save_model(folder.file("final"));
  CHECK(names_in(folder.file("final")) == "config.json model.safetensors");
  const auto loaded = nn::from_pretrained<nn::BertForSequenceClassification>(folder.file("final"));
  CHECK(loaded.report.text() == "");
  CHECK(hash_tensors(nn::state_dict(*loaded.model)) == run.hash());
}

TEST_CASE("save: a full disk stops the run and leaves no file of the save, in any of its files") {
  struct FileLimit {
    rlimit before{};
    void (*handler)(int);
    explicit FileLimit(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
      getrlimit(RLIMIT_FSIZE, &before);
      rlimit now = before;
      now.rlim_cur = bytes;
      setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() {
      setrlimit(RLIMIT_FSIZE, &before);
      std::signal(SIGXFSZ, handler);
    }
  };
  for (const rlim_t bytes : {100, 1500, 20000}) {
    CAPTURE(bytes);
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.save_strategy = SaveStrategy::steps;
    args.save_steps = 1;
    SmallRun run(args);
    std::string text;
    {
      const FileLimit limit(bytes);
      try {
        run.train();
      } catch (const IoError& error) {
        text = error.text;
      }
      if (bytes < 10000) CHECK_THROWS_AS(run.trainer->save_model(folder.file("final")), IoError);  // else the weights alone have room
    }
    CHECK(text.find(": File too large") != std::string::npos);
    CHECK(text.ends_with("."));
    CHECK(names_in(folder.path()) == "");
  }
}

TEST_CASE("evaluate: before any training the epoch is the integer 0") {
  const TempFolder folder;
  SmallRun run(quiet_args(folder.path()));
  const Metrics metrics = run.trainer->evaluate();
  CHECK(keys_of(metrics) == "eval_loss eval_model_preparation_time eval_runtime eval_samples_per_second eval_steps_per_second epoch");
  REQUIRE(metrics.find("epoch")->as_int() != nullptr);
  CHECK(*metrics.find("epoch")->as_int() == 0);
  CHECK(joined(run.events) == "prediction_step@0 log@0 evaluate@0");
  const PredictionOutput output = run.trainer->predict(run.eval_rows);
  CHECK(keys_of(output.metrics) == "test_loss test_model_preparation_time test_runtime test_samples_per_second test_steps_per_second");
  CHECK(run.trainer->state().log_history.size() == 1);
  run.train();
  CHECK(keys_of(run.trainer->evaluate()) == "eval_loss eval_runtime eval_samples_per_second eval_steps_per_second epoch");
}

TEST_CASE("predict: a row has the same bits in a batch of any size, however it is padded") {
  std::vector<float> alone;
  for (const int64_t batch : {1, 2, 5}) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.per_device_eval_batch_size = batch;
    SmallRun run(args);
    const Tensor logits = run.trainer->predict(run.rows).predictions.at(0);
    const std::vector<float> values(logits.data<float>(), logits.data<float>() + logits.numel());
    if (alone.empty()) alone = values;
    CHECK(values.size() == 30);
    CHECK(values == alone);
  }
}

TEST_CASE("evaluate: named datasets come one after another, each logged; the best is judged by a name of theirs") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.max_steps = 2;
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.metric_for_best_model = "short_loss";
  const data::ListDataset few = small_rows(3), more = small_rows(7);
  SmallRunOptions options;
  options.trainer.eval_datasets = {{"short", &few}, {"long", &more}};
  const auto model = small_classifier();
  const data::ListDataset rows = small_rows(10);
  options.trainer.train_dataset = &rows;
  options.trainer.data_collator = pad;
  Trainer trainer(*model, args, std::move(options.trainer));
  SmallRun::silence(trainer);
  trainer.train();
  CHECK(static_cast<double>(*trainer.state().best_metric) == std::min(number_at(trainer.state().log_history[0], "eval_short_loss"), number_at(trainer.state().log_history[2], "eval_short_loss")));
  CHECK(keys_of(timeless(trainer.state().log_history)[1]) == "eval_long_loss epoch step");
  const Metrics all = trainer.evaluate();
  CHECK(all.find("eval_short_loss") != nullptr);
  CHECK(all.find("eval_long_samples_per_second") != nullptr);
  CHECK(trainer.evaluate(NamedDatasets{{"own", &few}}, "p").find("p_own_loss") != nullptr);
  CHECK(trainer.evaluate("short").find("eval_short_loss") != nullptr);
  CHECK(trainer.evaluate("long", "late").find("late_long_loss") != nullptr);
  CHECK_THROWS_WITH_AS(trainer.evaluate("shrt"), "evaluate: there is no dataset shrt; the options have short, long.", ArgumentError);
  CHECK_THROWS_WITH_AS(trainer.evaluate(NamedDatasets{{"none", nullptr}}), "evaluate: there is no dataset behind the name none; give one.", ArgumentError);
}

TEST_CASE("evaluate: prediction_loss_only keeps no outputs; what metrics are to see besides is there") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.include_for_metrics = {"inputs", "loss"};
  args.per_device_eval_batch_size = 2;
  std::vector<std::string> seen;
  const auto note = [&](const EvalPrediction& p) {
    seen.push_back(str(p.predictions.size(), " ", p.batches.size(), " ", p.inputs.defined() ? describe(p.inputs) : "", " ", p.losses.defined() ? describe(p.losses) : ""));
    return Metrics{{"x", 1}};
  };
  const auto evaluated = [&](const TrainingArguments& with) {
    SmallRunOptions options;
    options.trainer.compute_metrics = note;
    SmallRun run(with, std::move(options));
    const Metrics metrics = run.trainer->evaluate();
    const PredictionOutput predicted = run.trainer->predict(run.eval_rows);
    return str(metrics.find("eval_x") != nullptr, " ", predicted.predictions.size(), " ", predicted.batches.size());
  };
  CHECK(evaluated(args) == "1 1 0");
  args.eval_do_concat_batches = false;
  CHECK(evaluated(args) == "1 0 3");
  args.prediction_loss_only = true;
  CHECK(evaluated(args) == "0 0 0");
  std::string all;
  for (const std::string& one : seen) all += one + "; ";
  CHECK(all == "1 0 i64[5,9] f32[5]; 1 0 i64[5,9] f32[5]; 0 3  ; 0 3  ; ");
}

TEST_CASE("use_cache: is what the config that is saved says, where it says it") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  SmallRun silent(args);
  CHECK(silent.model->config()->others.count("use_cache") == 0);
  SmallRunOptions options;
  options.model = small_classifier();
  options.model->config()->others["use_cache"] = "true";
  CHECK(SmallRun(args, std::move(options)).model->config()->others.at("use_cache") == "false");
}

TEST_CASE("remove_unused_columns: what the model does not take is left out, and not everything may be") {
  const TempFolder folder;
  const data::ListDataset rows({{{"text", data::Feature::list(std::vector<int64_t>{1})}}});
  TrainerOptions options;
  options.train_dataset = &rows;
  SmallRun run(quiet_args(folder.path()), with(std::move(options)));
  CHECK_THROWS_WITH_AS(run.train(),
                       "remove_unused_columns: the model takes none of the dataset's columns; it takes input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? "
                       "i64, position_ids[...]? i64, labels[...]?.",
                       ArgumentError);
}

}  // namespace rote::testing

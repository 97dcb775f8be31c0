// tests/trainer/resume_test.cpp — a run that goes on from a checkpoint is the run that was never interrupted; what cannot go on is refused.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "kernels/blas.h"
#include "optim/registry.h"
#include "tensor/file.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

// Saves and logs at every step; five updates an epoch of ten rows.
TrainingArguments saving_args(const std::string& folder) {
  TrainingArguments args = quiet_args(folder);
  args.num_train_epochs = 2;
  args.weight_decay = 0.1;
  args.warmup_steps = 2;
  args.logging_strategy = IntervalStrategy::steps;
  args.save_strategy = SaveStrategy::steps;
  args.logging_steps = args.save_steps = 1;
  args.include_num_input_tokens_seen = TokenCount::all;
  return args;
}

std::string checkpoint(const std::string& folder, int64_t step) { return str(folder, "/checkpoint-", step); }

// The history but for the sums over one call, train_loss, and the order of keys, which a file sorts.
std::vector<Logs> comparable(const Trainer& trainer) {
  std::vector<Logs> history = timeless(trainer.state().log_history);
  for (Logs& entry : history) {
    entry.erase("train_loss");
    entry.sort_by_name();
  }
  return history;
}

// Trains `args` whole and then once from each of its checkpoints, in other objects with another number of threads.
void check_resumes(const TrainingArguments& args, int64_t rows) {
  SmallRun whole(args, {.rows = rows});
  whole.train();
  const std::string hash = whole.hash();
  const std::vector<Logs> history = comparable(*whole.trainer);
  const std::vector<fs::path> folders = checkpoints_in(args.output_dir);
  REQUIRE(folders.size() >= 2);
  for (const fs::path& folder : folders) {
    CAPTURE(folder.string());
    const TempFolder elsewhere;
    TrainingArguments again = args;
    again.output_dir = elsewhere.path();
    SmallRunOptions options{.rows = rows};
    options.trainer.rote.num_threads = 1 + checkpoint_step(folder) % 3;
    SmallRun part(again, std::move(options));
    part.train(folder.string());
    CHECK(part.hash() == hash);
    CHECK(comparable(*part.trainer) == history);
    CHECK(part.trainer->state().global_step == whole.trainer->state().global_step);
  }
}

}  // namespace

TEST_CASE("resume: every step gives the bits of the uninterrupted run, weights and log (17-20, 24)") {
  const TempFolder folder;
  check_resumes(saving_args(folder.path()), 10);
}

TEST_CASE("resume: with accumulation and a short last window (16, 21)") {
  const TempFolder folder;
  TrainingArguments args = saving_args(folder.path());
  args.gradient_accumulation_steps = 2;
  args.num_train_epochs = 2.5;
  check_resumes(args, 9);
}

TEST_CASE("resume: with rows grouped by length") {
  const TempFolder folder;
  TrainingArguments args = saving_args(folder.path());
  args.train_sampling_strategy = data::SamplingStrategy::group_by_length;
  args.data_seed = 5;
  check_resumes(args, 12);
}

TEST_CASE("resume: from checkpoints of epochs, evaluations among them") {
  const TempFolder folder;
  TrainingArguments args = saving_args(folder.path());
  args.num_train_epochs = 3;
  args.save_strategy = SaveStrategy::epoch;
  args.eval_strategy = IntervalStrategy::epoch;
  args.metric_for_best_model = "loss";
  args.load_best_model_at_end = true;
  check_resumes(args, 10);
}

TEST_CASE("resume: with each optimizer by name, and with schedules that follow a metric") {
  for (const std::string& name : optim::optimizer_names()) {
    CAPTURE(name);
    const TempFolder folder;
    TrainingArguments args = saving_args(folder.path());
    args.optim = name;
    args.learning_rate = 1e-3;
    if (name == "sgd") args.optim_args = "momentum=0.9, nesterov=true";
    if (name == "rprop") args.weight_decay = 0;
    check_resumes(args, 4);
  }
  for (const std::string& name : optim::metric_schedule_names()) {
    CAPTURE(name);
    const TempFolder folder;
    TrainingArguments args = saving_args(folder.path());
    args.lr_scheduler_type = name;
    args.lr_scheduler_kwargs = ValueMap{{"patience", 0}, {"factor", 0.5}, {"min_lr", 1e-4}, {"threshold", 0.02}};
    args.eval_strategy = IntervalStrategy::steps;
    args.eval_steps = 1;
    check_resumes(args, 10);
  }
}

TEST_CASE("resume: the optimizer's state counts: weights alone go elsewhere") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  for (const char* name : {"optimizer.safetensors", "optimizer.json", "scheduler.json", "scaler.json", "rng_state.json"}) fs::remove(checkpoint(folder.path(), 4) + "/" + name);
  SmallRun part(saving_args(elsewhere.path()));
  part.train(checkpoint(folder.path(), 4));
  CHECK(part.hash() != whole.hash());
  // The schedule goes on, without a second warm-up (27).
  CHECK(number_at(part.trainer->state().log_history[4], "learning_rate") == number_at(whole.trainer->state().log_history[4], "learning_rate"));
}

TEST_CASE("resume: true takes the newest checkpoint, and needs one") {
  const TempFolder folder, empty;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  fs::remove_all(checkpoint(folder.path(), 10));
  SmallRun part(saving_args(folder.path()));
  part.train("true");
  CHECK(part.events[0] == "train_begin@9");
  CHECK(part.hash() == whole.hash());
  SmallRun none(saving_args(empty.path()));
  CHECK_THROWS_WITH_AS(none.train("true"), ("resume_from_checkpoint: " + empty.path() + " holds no folder checkpoint-<step>; leave the flag out to start anew.").c_str(),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(none.train("/nowhere/checkpoint-1"),
                       "resume_from_checkpoint: /nowhere/checkpoint-1 holds no trainer_state.json; give a folder checkpoint-<step>.", IoError);
}

TEST_CASE("resume: a run that is at its end makes no update (28)") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  TrainingArguments args = saving_args(elsewhere.path());
  for (const int64_t max_steps : {3, 2}) {
    args.max_steps = max_steps;
    SmallRun part(args);
    part.train(checkpoint(folder.path(), 3));
    CHECK(joined(part.events) == "train_begin@3 log@3 train_end@3");
  }
}

TEST_CASE("resume: a longer run takes the rates of its own schedule from the first update on (26, 27)") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  TrainingArguments args = saving_args(elsewhere.path());
  args.num_train_epochs = 4;
  SmallRun part(args);
  part.train(checkpoint(folder.path(), 10));
  CHECK(number_at(part.trainer->state().log_history[10], "learning_rate") == doctest::Approx(1e-2 * 10 / 18).epsilon(1e-14));
}

TEST_CASE("resume: the arguments of the new run hold (29, 30)") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  TrainingArguments args = saving_args(elsewhere.path());
  args.logging_steps = args.save_steps = 4;
  SmallRun part(args);
  part.train(checkpoint(folder.path(), 3));
  CHECK(part.trainer->state().save_steps == 4);
  std::string steps;
  for (const fs::path& saved : checkpoints_in(elsewhere.path())) steps += str(checkpoint_step(saved), " ");
  CHECK(steps == "4 8 10 ");
}

TEST_CASE("resume: other seeds, leaves, rows or windows are refused, and nothing has changed") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  struct Row {
    std::string name;
    std::function<void(TrainingArguments&, SmallRunOptions&)> change;
    std::string text;
  };
  const Row table[] = {
      {"seed", [](TrainingArguments& args, SmallRunOptions&) { args.seed = 1; }, "was written with --seed 42 and data seed 42, this run has 1 and 1; give the same seeds."},
      {"sample_leaf", [](TrainingArguments&, SmallRunOptions& o) { o.trainer.rote.sample_leaf = 2; }, "was written with --sample_leaf 1, this run has 2; its bits would differ from here on."},
      {"batch", [](TrainingArguments& args, SmallRunOptions&) { args.per_device_train_batch_size = 5; },
       "was written with updates of 2 rows, those of this run have 5; give the same batch size times accumulation, or --ignore_data_skip."},
      {"rows", [](TrainingArguments&, SmallRunOptions& o) { o.rows = 6; },
       "was written with epochs of 10 rows, this run has 6; give the same rows, or --ignore_data_skip."},
  };
  for (const Row& row : table) {
    CAPTURE(row.name);
    TrainingArguments args = saving_args(elsewhere.path());
    SmallRunOptions options;
    row.change(args, options);
    if (row.name == "rows") args.num_train_epochs = 4;
    SmallRun part(args, std::move(options));
    const std::string before = part.hash();
    CHECK_THROWS_WITH_AS(part.train(checkpoint(folder.path(), 7)), ("resume_from_checkpoint: " + checkpoint(folder.path(), 7) + " " + row.text).c_str(), StateError);
    CHECK(part.hash() == before);
    CHECK(part.trainer->state().global_step == 0);
    CHECK_FALSE(part.trainer->has_started());
  }
}

TEST_CASE("resume: a run whose first epoch a callback has cut goes on where it stood") {
  const TempFolder folder, elsewhere;
  const auto cut = [](SmallRun& run) {
    run.trainer->on(Event::step_end, [](const TrainerState& state, TrainerControl& control) { control.should_epoch_stop = state.global_step == 2; });
  };
  SmallRun whole(saving_args(folder.path()));
  cut(whole);
  whole.train();
  for (const int64_t step : {2, 4, 7}) {
    CAPTURE(step);
    SmallRun part(saving_args(elsewhere.path()));
    cut(part);
    part.train(checkpoint(folder.path(), step));
    CHECK(part.hash() == whole.hash());
  }
}

TEST_CASE("resume: a position that cannot be is refused by file and field") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  const struct { const char *file, *field, *value; } damages[] = {
      {"rng_state.json", "epoch_consumed", "-4"},  {"rng_state.json", "epoch_consumed", "3"},      {"rng_state.json", "epoch", "-1"},
      {"rng_state.json", "global_step", "6"},      {"rng_state.json", "consumed_samples", "-1"},   {"scheduler.json", "last_epoch", "5"},
      {"scheduler.json", "last_epoch", "4611686018427387904"}, {"trainer_state.json", "global_step", "-400"},
  };
  for (const auto& damage : damages) {
    CAPTURE(std::string(damage.file));
    CAPTURE(std::string(damage.field));
    const fs::path torn = fs::path(elsewhere.path()) / "torn";
    fs::remove_all(torn);
    fs::copy(checkpoint(folder.path(), 7), torn, fs::copy_options::recursive);
    std::string text = read_file((torn / damage.file).string());
    const size_t at = text.find(str('"', damage.field, "\": ")) + std::string(damage.field).size() + 4;
    text.replace(at, text.find_first_of(",\n", at) - at, damage.value);
    write_file((torn / damage.file).string(), text);
    SmallRun part(saving_args(elsewhere.path()));
    const std::string before = part.hash();
    CHECK_THROWS_AS(part.train(torn.string()), StateError);
    CHECK(part.hash() == before);
  }
}

TEST_CASE("resume: ignore_data_skip begins the epoch again") {
  const TempFolder folder, elsewhere;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  TrainingArguments args = saving_args(elsewhere.path());
  args.ignore_data_skip = true;
  SmallRun part(args);
  part.train(checkpoint(folder.path(), 7));
  CHECK(number_at(part.trainer->state().log_history[7], "epoch") == doctest::Approx(1.2).epsilon(1e-15));
}

TEST_CASE("resume: a checkpoint with any file cut short or missing is refused in one sentence, and nothing has changed") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = saving_args(folder.path());
  args.max_steps = 2;
  SmallRun whole(args);
  whole.train();
  args.output_dir = elsewhere.path();
  const fs::path sound = checkpoint(folder.path(), 1), torn = elsewhere.path() + "/torn";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(sound)) names.push_back(entry.path().filename().string());
  CHECK(names.size() == 9);
  SmallRun part(args);
  const std::string before = part.hash();
  for (const std::string& name : names)
    for (const char* damage : {"missing", "empty", "half", "three bytes short"}) {
      CAPTURE(name);
      CAPTURE(damage);
      const std::string kind = damage;
      const uintmax_t size = fs::file_size(sound / name);
      fs::remove_all(torn);
      fs::copy(sound, torn);
      if (kind == "missing") fs::remove(torn / name);
      else fs::resize_file(torn / name, kind == "empty" ? 0 : kind == "half" ? size / 2 : size - 3);
      std::string text;
      try {
        part.train(torn.string());
      } catch (const Error& error) {
        text = error.text;
      }
      CHECK(text.find(torn.string()) != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
      CHECK(text.ends_with("."));
      CHECK(part.hash() == before);
    }
  part.train(sound.string());
  CHECK(part.hash() == whole.hash());
}

TEST_CASE("resume: what a crash has left of a checkpoint is passed over and replaced") {
  const TempFolder folder;
  SmallRun whole(saving_args(folder.path()));
  whole.train();
  for (int64_t step = 6; step <= 10; ++step) fs::remove_all(checkpoint(folder.path(), step));
  fs::create_directory(folder.path() + "/.tmp-checkpoint-6");
  folder.file(".tmp-checkpoint-6/model.safetensors", "half");
  fs::create_directory(folder.path() + "/.tmp-checkpoint-3-deleted");
  SmallRun part(saving_args(folder.path()));
  part.train("true");
  CHECK(part.events[0] == "train_begin@5");
  CHECK(part.hash() == whole.hash());
  for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(entry.path().filename().string().rfind("checkpoint-", 0) == 0);
}

TEST_CASE("resume: a best of another folder takes no checkpoint of this one with it (48)") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = saving_args(folder.path());
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.metric_for_best_model = "score";
  args.save_total_limit = 1;
  args.max_steps = 5;
  const auto first_is_best = [] {  // each evaluation is worse than the one before
    SmallRunOptions options;
    options.trainer.compute_metrics = [value = 9.0](const EvalPrediction&) mutable { return Metrics{{"score", value -= 1}}; };
    return options;
  };
  SmallRun first(args, first_is_best());
  first.train();
  CHECK(checkpoints_in(folder.path()).size() == 1);
  args.output_dir = elsewhere.path();
  args.max_steps = 7;
  SmallRunOptions worse;
  worse.trainer.compute_metrics = [](const EvalPrediction&) { return Metrics{{"score", 0.0}}; };
  SmallRun second(args, std::move(worse));
  second.train(checkpoint(folder.path(), 1));
  CHECK(second.trainer->state().best_model_checkpoint == checkpoint(folder.path(), 1));
  REQUIRE(checkpoints_in(elsewhere.path()).size() == 1);
  CHECK(checkpoint_step(checkpoints_in(elsewhere.path())[0]) == 7);
}

TEST_CASE("resume: true takes the newest checkpoint that is good; where none is, the newest says why") {
  const TempFolder folder, whole_folder;
  SmallRun whole(saving_args(whole_folder.path()));
  whole.train();
  const TrainingArguments args = saving_args(folder.path());
  SmallRun(args).train();
  const auto last = checkpoint_step(*get_last_checkpoint(folder.path()));
  fs::resize_file(checkpoint(folder.path(), last) + "/optimizer.safetensors", 100);
  fs::remove(checkpoint(folder.path(), last - 1) + "/trainer_state.json");
  SmallRun again(args);
  int64_t begun_at = -1;
  again.trainer->on(Event::train_begin, [&](const TrainerState& state, TrainerControl&) { begun_at = state.global_step; });
  again.train("true");
  CHECK(begun_at == last - 2);
  CHECK(again.hash() == whole.hash());
  for (const fs::path& one : checkpoints_in(folder.path())) fs::resize_file(one / "model.safetensors", 50);
  SmallRun none(args);
  const std::string before = none.hash();
  CHECK_THROWS_AS(none.train("true"), IoError);
  CHECK(none.hash() == before);
}

TEST_CASE("resume: callbacks go on counting as they are made now, or with restore_callback_states_from_checkpoint as they were") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = saving_args(folder.path());
  args.learning_rate = 0;  // no evaluation improves on the first
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.metric_for_best_model = "loss";
  const auto stop_step = [&](const std::string& output_dir, int64_t patience, bool as_saved, const std::string& from) {
    TrainingArguments own = args;
    own.output_dir = output_dir;
    own.restore_callback_states_from_checkpoint = as_saved;
    SmallRunOptions options;
    options.trainer.callbacks = {callback<EarlyStoppingCallback>(EarlyStopping{.patience = patience})};
    SmallRun run(own, std::move(options));
    run.train(from);
    return run.trainer->state().global_step;
  };
  CHECK(stop_step(folder.path(), 5, false, "") == 6);
  CHECK(stop_step(elsewhere.path(), 3, false, checkpoint(folder.path(), 2)) == 4);
  CHECK(stop_step(elsewhere.path(), 3, true, checkpoint(folder.path(), 2)) == 6);
}

TEST_CASE("resume: a batch that was found too large is not tried again") {
  const TempFolder folder;
  TrainingArguments args = saving_args(folder.path());
  args.auto_find_batch_size = true;
  SmallRun whole(args);
  whole.train();
  const std::string file = checkpoint(folder.path(), 3) + "/trainer_state.json";
  std::string text = read_text(file);
  const std::string was = "\"train_batch_size\": 2";
  REQUIRE(text.find(was) != std::string::npos);
  text.replace(text.find(was), was.size(), "\"train_batch_size\": 1");
  std::FILE* out = std::fopen(file.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
  SmallRun again(args);
  again.train(checkpoint(folder.path(), 3));
  CHECK(*again.trainer->state().train_batch_size == 1);
  CHECK(again.hash() == whole.hash());
}

TEST_CASE("resume: the failures that early stopping has counted go on (25)") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = saving_args(folder.path());
  args.learning_rate = 0;  // no evaluation improves on the first
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.load_best_model_at_end = true;
  const auto stop_step = [&](const std::string& output_dir, const std::string& from) {
    TrainingArguments own = args;
    own.output_dir = output_dir;
    SmallRunOptions options;
    options.trainer.callbacks = {std::make_shared<EarlyStoppingCallback>(EarlyStopping{.patience = 4})};
    SmallRun run(own, std::move(options));
    run.train(from);
    return run.trainer->state().global_step;
  };
  CHECK(stop_step(folder.path(), "") == 5);
  CHECK(stop_step(elsewhere.path(), checkpoint(folder.path(), 3)) == 5);
}

TEST_CASE("resume: the fast mode names its library in the checkpoint, and neither mode goes on from the other") {
  if (blas_name().empty()) {
    MESSAGE("skipped: no libopenblas.so.0");
    return;
  }
  const TempFolder folders[2];
  const auto make = [&](Arithmetic kind) {
    SmallRunOptions options;
    options.trainer.rote.arithmetic = kind;
    return std::make_unique<SmallRun>(saving_args(folders[kind == Arithmetic::fast].path()), std::move(options));
  };
  make(Arithmetic::ac1)->train();
  const auto fast = make(Arithmetic::fast);
  fast->train();
  make(Arithmetic::fast)->train(checkpoint(folders[1].path(), 4));
  CHECK(read_text(checkpoint(folders[1].path(), 4) + "/training_args.json").find("\"arithmetic\": \"fast\"") != std::string::npos);
  const std::string of_fast = checkpoint(folders[1].path(), 4), of_ac1 = checkpoint(folders[0].path(), 4), name = "fast: " + blas_name();
  CHECK_THROWS_WITH_AS(make(Arithmetic::ac1)->train(of_fast),
                       ("resume_from_checkpoint: " + of_fast + " was written under the contract " + name + ", this run is of AC-1; its bits would differ from here on.").c_str(), StateError);
  CHECK_THROWS_WITH_AS(make(Arithmetic::fast)->train(of_ac1),
                       ("resume_from_checkpoint: " + of_ac1 + " was written under the contract AC-1, this run is of " + name + "; its bits would differ from here on.").c_str(), StateError);
  TrainingArguments args = saving_args(folders[0].path() + "/none");
  args.full_determinism = true;
  SmallRunOptions options;
  options.trainer.rote.arithmetic = Arithmetic::fast;
  CHECK_THROWS_WITH_AS(SmallRun(args, std::move(options)),
                       "arithmetic: fast is asked for with --full_determinism, but its bits depend on the library, the machine and the threads; leave out one of the two.", ArgumentError);
  CHECK_FALSE(fs::exists(args.output_dir));
}

}  // namespace rote::testing

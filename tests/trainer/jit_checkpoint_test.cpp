// tests/trainer/jit_checkpoint_test.cpp — SIGTERM during training: a checkpoint, a clean stop, and a resume with the bits of a run left alone.
#include "trainer/jit_checkpoint.h"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

TrainingArguments jit_args(const std::string& folder) {
  TrainingArguments args = quiet_args(folder);
  args.gradient_accumulation_steps = 2;
  args.num_train_epochs = 2;
  args.enable_jit_checkpoint = true;
  return args;
}

// The signal comes within update `step`, before it is made.
void raise_within(SmallRun& run, int64_t step) {
  run.trainer->on(Event::pre_optimizer_step, [step](const TrainerState& state, TrainerControl&) {
    if (state.global_step + 1 == step) std::raise(SIGTERM);
  });
}

int64_t told = 0;
void tell(int) { ++told; }

}  // namespace

TEST_CASE("jit checkpoint: SIGTERM ends the run after the update under way, with one checkpoint; resumed it has the bits of a run left alone") {
  const TempFolder whole_folder, folder;
  SmallRun whole(jit_args(whole_folder.path()));
  CHECK_FALSE(whole.train().interrupted);
  for (int64_t step = 1; step <= 5; ++step) {
    CAPTURE(step);
    TrainingArguments args = jit_args(folder.path() + "/" + std::to_string(step));
    SmallRun part(args);
    raise_within(part, step);
    const TrainOutput stopped = part.train();
    CHECK(stopped.interrupted);
    CHECK(stopped.global_step == step);
    CHECK(joined(part.events).ends_with(str("step_end@", step, " save@", step, step == 3 ? " epoch_end@3" : str(" epoch_end@", step), " log@", step, " train_end@", step)));
    REQUIRE(get_last_checkpoint(args.output_dir).has_value());
    CHECK(checkpoint_step(*get_last_checkpoint(args.output_dir)) == step);
    SmallRun rest(args);
    CHECK_FALSE(rest.train("true").interrupted);
    CHECK(rest.hash() == whole.hash());
  }
}

TEST_CASE("jit checkpoint: what is to be gone on with is neither replaced by the best nor cleaned away") {
  const TempFolder folder;
  TrainingArguments args = jit_args(folder.path());
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 1;
  args.save_total_limit = 1;
  args.load_best_model_at_end = true;
  args.metric_for_best_model = "score";
  SmallRunOptions options;
  options.trainer.compute_metrics = [value = 9.0](const EvalPrediction&) mutable { return Metrics{{"score", value -= 1}}; };  // the first is best
  SmallRun run(args, std::move(options));
  raise_within(run, 3);
  CHECK(run.train().interrupted);
  CHECK(checkpoint_step(*get_last_checkpoint(folder.path())) == 3);
}

TEST_CASE("jit checkpoint: a signal in the last update changes nothing; before and after training it does what it did") {
  const auto before = std::signal(SIGTERM, tell);
  told = 0;
  const TempFolder folder;
  SmallRun run(jit_args(folder.path()));
  std::raise(SIGTERM);
  CHECK(told == 1);
  raise_within(run, 6);
  CHECK_FALSE(run.train().interrupted);
  CHECK(told == 1);
  std::raise(SIGTERM);
  CHECK(told == 2);
  std::signal(SIGTERM, before);
}

TEST_CASE("jit checkpoint: without the argument the signal is not touched") {
  const TempFolder folder;
  SmallRun run(quiet_args(folder.path()));
  CHECK_FALSE(run.trainer->callbacks().has<JitCheckpointCallback>());
  TrainingArguments args = jit_args(folder.path());
  CHECK(SmallRun(args).trainer->callbacks().callback_list().rfind("DefaultFlowCallback\nJITCheckpointCallback", 0) == 0);
}

}  // namespace rote::testing

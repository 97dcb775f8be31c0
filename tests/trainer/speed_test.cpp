// tests/trainer/speed_test.cpp — what rates leave out, and the memory of stages.
#include "trainer/speed.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tensor/alloc.h"
#include "tensor/tensor.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

constexpr int64_t kBytes = int64_t{1} << 20;

int64_t whole_at(const Metrics& metrics, const std::string& key) { return static_cast<int64_t>(number_at(metrics, key)); }

}  // namespace

TEST_CASE("speed: rates are of the time that is not left out; none where nothing is left") {
  const Metrics metrics = speed_metrics("train", {.seconds = 4, .samples = 6, .steps = 3, .tokens = 12, .left_out = 1});
  CHECK(keys_of(metrics) == "train_runtime train_samples_per_second train_steps_per_second train_tokens_per_second");
  CHECK(number_at(metrics, "train_runtime") == 4);
  CHECK(number_at(metrics, "train_samples_per_second") == 2);
  CHECK(number_at(metrics, "train_steps_per_second") == 1);
  CHECK(number_at(metrics, "train_tokens_per_second") == 4);
  CHECK(keys_of(speed_metrics("train", {.seconds = 4, .samples = 6, .left_out = 4})) == "train_runtime");
}

TEST_CASE("stopwatch: all before the mark is left out, pauses are added where they are asked for") {
  Stopwatch watch;
  CHECK(watch.left_out() == 0);
  { const Stopwatch::Pause pause(watch, false); }
  CHECK(watch.left_out() == 0);
  {
    const Stopwatch::Pause pause(watch, true);
    for (int i = 0; i < 1000; ++i) full({64}, i);
  }
  const double paused = watch.left_out();
  CHECK(paused > 0);
  CHECK(paused <= watch.seconds());
  CHECK_FALSE(watch.is_marked());
  watch.mark();
  CHECK(watch.is_marked());
  CHECK(watch.left_out() >= paused);
}

TEST_CASE("memory: a stage tells what it left and what it needed beyond that; an inner stage is part of the outer one") {
  MemoryWatch watch(true);
  watch.begin("init");
  const Tensor kept = empty({kBytes / 4});
  watch.end_init();
  watch.begin("train");
  const Tensor more = empty({kBytes / 2});
  watch.begin("eval");
  empty({kBytes});
  Metrics inner, metrics;
  watch.end("eval", inner);
  CHECK(inner.empty());
  watch.end("train", metrics);
  CHECK(keys_of(metrics) == "init_mem_cpu_alloc_delta init_mem_cpu_peaked_delta train_mem_cpu_alloc_delta train_mem_cpu_peaked_delta before_init_mem_cpu");
  CHECK(whole_at(metrics, "init_mem_cpu_alloc_delta") >= kBytes);
  CHECK(whole_at(metrics, "init_mem_cpu_peaked_delta") == 0);
  CHECK(whole_at(metrics, "train_mem_cpu_alloc_delta") >= 2 * kBytes);
  CHECK(whole_at(metrics, "train_mem_cpu_peaked_delta") >= 4 * kBytes);
  watch.begin("eval");
  watch.end("eval", inner);
  CHECK(keys_of(inner) == "eval_mem_cpu_alloc_delta eval_mem_cpu_peaked_delta");

  MemoryWatch off(false);
  off.begin("init");
  off.end_init();
  off.begin("train");
  Metrics none;
  off.end("train", none);
  CHECK(none.empty());
}

TEST_CASE("skip_memory_metrics: false adds them to train, evaluate and predict, behind the rest") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.skip_memory_metrics = false;
  SmallRun run(args);
  const Metrics trained = run.train().metrics;
  CHECK(keys_of(trained).find("train_loss init_mem_cpu_alloc_delta") != std::string::npos);
  CHECK(keys_of(trained).ends_with("train_mem_cpu_peaked_delta before_init_mem_cpu epoch"));
  CHECK(number_at(trained, "train_mem_cpu_peaked_delta") > 0);
  CHECK(number_at(run.trainer->state().log_history.back(), "train_mem_cpu_alloc_delta") > 0);  // the moments
  CHECK(keys_of(run.trainer->evaluate()).ends_with("epoch eval_mem_cpu_alloc_delta eval_mem_cpu_peaked_delta"));
  CHECK(run.trainer->state().log_history.back().find("eval_mem_cpu_alloc_delta") == nullptr);
  CHECK(keys_of(run.trainer->predict(run.eval_rows).metrics).ends_with("test_mem_cpu_alloc_delta test_mem_cpu_peaked_delta"));
}

TEST_CASE("log_memory: what tensors hold, held at most and may hold, in GB, behind the rest of each log") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.max_steps = 1;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  SmallRunOptions options;
  options.trainer.rote.log_memory = true;
  SmallRun run(args, std::move(options));
  run.train();
  const std::vector<Logs>& history = run.trainer->state().log_history;
  CHECK(keys_of(history[0]) == "loss grad_norm learning_rate epoch memory_allocated max_memory_allocated total_memory_available step");
  CHECK(history.back().find("total_memory_available") != nullptr);
  const Tensor held = empty({int64_t{1} << 26});  // a quarter of a GB
  const Metrics now = memory_in_gb(int64_t{3} << 29);
  CHECK(number_at(now, "memory_allocated") >= 0.25);
  CHECK(number_at(now, "max_memory_allocated") >= number_at(now, "memory_allocated"));
  CHECK(number_at(now, "total_memory_available") == 1.5);
  CHECK(number_at(memory_in_gb(0), "total_memory_available") > 1.5);
}

TEST_CASE("throughput: warm-up and interruptions are left out of the rates, not of the runtime; tokens where asked for") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  const auto trained = [&](int64_t warmup, bool adjust, bool tokens) {
    SmallRunOptions options;
    options.trainer.rote.throughput_warmup_steps = warmup;
    options.trainer.rote.adjust_throughput = adjust;
    options.trainer.rote.include_tokens_per_second = tokens;
    SmallRun run(args, std::move(options));
    run.trainer->on(Event::step_begin, [&](const TrainerState& state, TrainerControl&) {  // the first two updates are slow
      for (int i = 0; i < (state.global_step < 2 && warmup == 2 ? 40 : 0); ++i) run_evaluation(*run.model, run.rows, {.batch_rows = 2, .data_collator = pad});
    });
    return run.train().metrics;
  };
  // Whether the rate is of `steps` over the runtime, which is rounded to 4 decimals; the rate to 3.
  const auto is_of = [](const Metrics& m, double steps) {
    const double rate = number_at(m, "train_steps_per_second"), runtime = number_at(m, "train_runtime");
    return std::abs(rate * runtime - steps) <= 6e-5 * rate + 1e-3 * runtime;
  };
  const Metrics plain = trained(0, false, false), warm = trained(2, false, true), adjusted = trained(0, true, false), beyond = trained(9, false, false);
  CHECK(plain.find("train_tokens_per_second") == nullptr);
  CHECK(number_at(warm, "train_tokens_per_second") > 0);
  CHECK(is_of(plain, 5));
  CHECK(number_at(warm, "train_steps_per_second") * number_at(warm, "train_runtime") > 10);  // three updates, over less than a third of the time
  CHECK(number_at(warm, "train_samples_per_second") == doctest::Approx(2 * number_at(warm, "train_steps_per_second")).epsilon(1e-4));
  CHECK_FALSE(is_of(adjusted, 5));  // evaluations take time
  CHECK(number_at(adjusted, "train_steps_per_second") * number_at(adjusted, "train_runtime") > 5);
  CHECK(is_of(beyond, 5));
}

}  // namespace rote::testing

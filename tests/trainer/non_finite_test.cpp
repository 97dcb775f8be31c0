// tests/trainer/non_finite_test.cpp — --on_nonfinite: what counts, what a skipped step leaves alone, the limit, the halved rate over a resume.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "autograd/ops.h"
#include "nn/conv.h"
#include "nn/loss.h"
#include "tensor/file.h"
#include "tests/trainer/small_run.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

// A linear layer behind a norm with running statistics. Rows are told apart by their first number: a forward breaks where `breaks` says so of one.
struct Tiny : nn::Model {
  nn::BatchNorm2d norm;
  nn::Linear layer;
  std::function<bool(double)> breaks, bursts;

  Tiny() : norm(2), layer(2, 2) { add_modules({{"norm", norm}, {"layer", layer}}); }
  nn::Signature signature() const override { return {.inputs = "x[B,2], labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    nn::ModelOutput out;
    Tensor x = in["x"];
    const double first = static_cast<double>(x.data<float>()[0]);
    if (breaks && breaks(first)) x = mul(mul(x, 1e38), 1e38);
    out.logits = layer(reshape(norm(reshape(x, {-1, 2, 1, 1})), {-1, 2}));
    if (in.contains("labels")) out.loss = nn::class_loss(out.logits, in["labels"], nn::divisor(signature(), in));
    if (bursts && bursts(first)) out.loss = add(out.loss, sum(mul(sub(out.logits, detach(out.logits)), 1e6)));
    return out;
  }
};

// Row i begins with i + 1.
data::ListDataset points(int64_t n) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i)
    rows.push_back({{"x", data::Feature::list(std::vector<float>{static_cast<float>(i + 1), static_cast<float>(i * 7 % 5) - 2})}, {"label", data::Feature::single(i % 2)}});
  return data::ListDataset(std::move(rows));
}

struct Job {
  NonFinitePolicy policy = NonFinitePolicy::stop;
  int64_t limit = 10;
  bool fp16 = false;
  int64_t scale_power = 16;
  std::function<bool(double)> breaks = {}, bursts = {};
  std::string resume = {};
  std::string lr_scheduler_type = "linear";
};

struct Done {
  std::string hash;
  TrainerState state;
  std::string fault;
  std::vector<std::string> hashes;  // of weights and statistics after each update
};

// Eight updates of two rows in order, logged and saved each.
Done train(const std::string& folder, const Job& job) {
  const data::ListDataset rows = points(16);
  manual_seed(1);
  Tiny model;
  model.breaks = job.breaks, model.bursts = job.bursts;
  TrainingArguments args = quiet_args(folder);
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  args.logging_strategy = IntervalStrategy::steps, args.logging_steps = 1;
  args.save_strategy = SaveStrategy::steps, args.save_steps = 1;
  args.learning_rate = 0.1;
  args.lr_scheduler_type = job.lr_scheduler_type;
  args.fp16 = job.fp16;
  TrainerOptions options{.train_dataset = &rows, .eval_dataset = &rows};
  if (job.lr_scheduler_type == "reduce_lr_on_plateau") args.eval_strategy = IntervalStrategy::steps;
  options.rote.on_nonfinite = job.policy, options.rote.max_nonfinite_steps = job.limit, options.rote.initial_scale_power = job.scale_power;
  Trainer trainer(model, args, std::move(options));
  SmallRun::silence(trainer);
  Done done;
  trainer.on(Event::step_end, [&](const TrainerState&, TrainerControl&) { done.hashes.push_back(hash_tensors(nn::state_dict(model))); });
  try {
    trainer.train({.resume_from_checkpoint = job.resume});
  } catch (const NonFiniteError& fault) {
    done.fault = fault.text;
  }
  done.hash = hash_tensors(nn::state_dict(model));
  done.state = trainer.state();
  return done;
}

// Of the first row of step `step`.
std::function<bool(double)> at_steps(std::vector<int64_t> steps) {
  return [steps = std::move(steps)](double first) { return std::find(steps.begin(), steps.end(), static_cast<int64_t>(first + 1) / 2) != steps.end(); };
}

std::vector<double> logged(const TrainerState& state, const std::string& key) {
  std::vector<double> numbers;
  for (const Logs& log : state.log_history)
    if (log.find("learning_rate") != nullptr) numbers.push_back(number_at(log, key));
  return numbers;
}

}  // namespace

TEST_CASE("--on_nonfinite stop: the first such step ends the run; what was saved is there") {
  const TempFolder folder;
  const Done done = train(folder.path(), {.breaks = at_steps({3})});
  CHECK(done.fault.find("non-finite: step 3: ") == 0);
  CHECK(done.fault.find("the step was not applied. A lower --learning_rate") != std::string::npos);
  CHECK(done.state.global_step == 2);
  CHECK(is_file(folder.path() + "/checkpoint-2/model.safetensors"));
  CHECK(is_file(folder.path() + "/overflow/step-3.txt"));
  CHECK(done.state.log_history[0].find("nonfinite_steps") == nullptr);
}

TEST_CASE("--on_nonfinite skip: weights, statistics, moments and schedule stay, the cursor moves; losses are the mean of the others") {
  const TempFolder folder;
  const Done done = train(folder.path(), {.policy = NonFinitePolicy::skip, .breaks = at_steps({3, 4, 6})});
  CHECK(done.fault == "");
  CHECK(done.state.global_step == 8);
  REQUIRE(done.hashes.size() == 8);
  CHECK(done.hashes[2] == done.hashes[1]);
  CHECK(done.hashes[3] == done.hashes[1]);
  CHECK(done.hashes[4] != done.hashes[1]);
  CHECK(done.hashes[5] == done.hashes[4]);
  CHECK(logged(done.state, "nonfinite_steps") == std::vector<double>{0, 0, 1, 2, 2, 3, 3, 3});
  const std::vector<double> rates = logged(done.state, "learning_rate");
  CHECK(rates[2] == rates[3]);
  CHECK(rates[3] == rates[4]);
  CHECK(rates[5] < rates[4]);
  for (const double loss : logged(done.state, "loss")) CHECK(std::isfinite(loss));
  const Value file = parse_json(read_file(folder.path() + "/checkpoint-8/scheduler.json"), "file");
  CHECK(number_at(*file.as_map(), "last_epoch") == 5);
  CHECK(done.state.log_history[0].find("learning_rate_factor") == nullptr);
}

TEST_CASE("--on_nonfinite: finite runs have the bits of stop, whatever the policy") {
  const TempFolder folder;
  const std::string hash = train(folder.path(), {}).hash;
  CHECK(train(folder.path(), {.policy = NonFinitePolicy::skip}).hash == hash);
  CHECK(train(folder.path(), {.policy = NonFinitePolicy::halve}).hash == hash);
}

TEST_CASE("--max_nonfinite_steps: so many in a row are skipped, one more ends the run by step, op and cure; 0 is no limit") {
  const TempFolder folder;
  const auto from_three = [](double first) { return first > 4; };
  const Done done = train(folder.path(), {.policy = NonFinitePolicy::skip, .limit = 2, .breaks = from_three});
  CHECK(done.state.global_step == 4);
  CHECK(done.fault.find("non-finite: step 5: inf in ") == 0);
  CHECK(done.fault.find(", mul's z f32[2,2] at [0,0], forward") != std::string::npos);
  CHECK(done.fault.find("the loss is nan, and 2 steps in a row before it were skipped, as many as --max_nonfinite_steps allows. A lower --learning_rate") != std::string::npos);
  // Those in a row are counted over a resume.
  const Done resumed = train(folder.path(), {.policy = NonFinitePolicy::skip, .limit = 2, .breaks = from_three, .resume = folder.path() + "/checkpoint-4"});
  CHECK(resumed.fault.find("non-finite: step 5: ") == 0);
  CHECK(train(folder.path(), {.policy = NonFinitePolicy::skip, .limit = 0, .breaks = from_three}).fault == "");
  CHECK(train(folder.path(), {.policy = NonFinitePolicy::skip, .limit = 1, .breaks = at_steps({2, 4, 6})}).fault == "");  // never two in a row
}

TEST_CASE("--on_nonfinite halve: each halves the rates from then on, over a resume too") {
  const TempFolder folder;
  for (const char* schedule : {"linear", "constant", "reduce_lr_on_plateau"}) {
    CAPTURE(schedule);
    Job job{.policy = NonFinitePolicy::halve, .breaks = at_steps({3, 6}), .lr_scheduler_type = schedule};
    const Done done = train(folder.path(), job);
    CHECK(done.fault == "");
    CHECK(logged(done.state, "learning_rate_factor") == std::vector<double>{1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25});
    const std::vector<double> rates = logged(done.state, "learning_rate");
    if (std::string(schedule) == "linear") CHECK(rates[3] == rates[2] / 2);  // the schedule did not move
    else CHECK(rates == std::vector<double>{0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025});
    for (const char* step : {"3", "5", "7"}) {
      job.resume = folder.path() + "/checkpoint-" + step;
      const Done resumed = train(folder.path(), job);
      CHECK(resumed.hash == done.hash);
      CHECK(resumed.state.log_history.size() == done.state.log_history.size());
      for (const char* key : {"loss", "learning_rate", "learning_rate_factor", "nonfinite_steps"}) CHECK(logged(resumed.state, key) == logged(done.state, key));
    }
  }
}

TEST_CASE("--on_nonfinite with --fp16: what a lower scale may cure does not count; at a scale of 1, and in the forward, it does") {
  const TempFolder folder;
  Job job{.policy = NonFinitePolicy::halve, .limit = 1, .fp16 = true, .bursts = at_steps({2, 3, 4})};
  const Done cured = train(folder.path(), job);
  CHECK(cured.fault == "");
  CHECK(logged(cured.state, "nonfinite_steps").back() == 0);
  CHECK(logged(cured.state, "learning_rate_factor").back() == 1);
  CHECK(logged(cured.state, "skipped_steps").back() == 3);
  CHECK(logged(cured.state, "loss_scale").back() == 8192);
  job.scale_power = 0;
  job.limit = 10;
  const Done floor = train(folder.path(), job);
  CHECK(floor.fault == "");
  CHECK(logged(floor.state, "nonfinite_steps").back() == 3);
  CHECK(logged(floor.state, "learning_rate_factor").back() == 0.125);
  job = {.policy = NonFinitePolicy::skip, .fp16 = true, .breaks = at_steps({3})};
  const Done forward = train(folder.path(), job);
  CHECK(forward.fault == "");
  CHECK(forward.hashes[2] == forward.hashes[1]);
  CHECK(logged(forward.state, "nonfinite_steps").back() == 1);
  CHECK(logged(forward.state, "skipped_steps").back() == 1);
  CHECK(logged(forward.state, "loss_scale").back() == 65536);
}

TEST_CASE("--on_nonfinite: a torn count in a checkpoint is refused") {
  const TempFolder folder;
  train(folder.path(), {.policy = NonFinitePolicy::halve, .breaks = at_steps({3})});
  const std::string from = folder.path() + "/checkpoint-3", file = from + "/scheduler.json", whole = read_file(file);
  struct Row {
    std::string part, in_place;
  };
  const Row table[] = {{"\"rate_factor\": 0.5", "\"rate_factor\": 2"}, {"\"in_a_row\": 1", "\"in_a_row\": 9"}, {"\"total\": 1", "\"total\": -1"}};
  for (const Row& row : table) {
    CAPTURE(row.in_place);
    std::string torn = whole;
    REQUIRE(torn.find(row.part) != std::string::npos);
    write_file(file, torn.replace(torn.find(row.part), row.part.size(), row.in_place));
    CHECK_THROWS_AS(train(folder.path(), {.policy = NonFinitePolicy::halve, .resume = from}), StateError);
  }
}

}  // namespace rote::testing

// tests/trainer/profile_test.cpp — the chrome trace of a window of steps.
#include "trainer/profile.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "tests/trainer/small_run.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

struct Trace {
  std::map<std::string, int64_t> names, categories;
  bool has_shapes = false, is_ordered = true;
};

// Every event lies after the first and takes some time.
Trace read_trace(const std::string& file) {
  const Value json = parse_json(read_text(file), file);
  REQUIRE(json.as_map() != nullptr);
  Trace trace;
  for (const Value& event : *json.as_map()->find("traceEvents")->as_list()) {
    const ValueMap& map = *event.as_map();
    ++trace.names[*map.find("name")->as_text()];
    ++trace.categories[*map.find("cat")->as_text()];
    trace.has_shapes = trace.has_shapes || map.find("args")->as_map()->find("shapes") != nullptr;
    double begun = -1, took = -1;
    map.find("ts")->number(begun);
    map.find("dur")->number(took);
    trace.is_ordered = trace.is_ordered && begun >= 0 && took >= 0 && *map.find("ph")->as_text() == "X";
  }
  return trace;
}

SmallRunOptions profiled(int64_t warmup, int64_t steps) {
  SmallRunOptions options;
  RoteArguments& rote = options.trainer.rote;
  rote.profiling_warmup_steps = rote.profiling_warmup_steps_eval = warmup;
  rote.profiling_steps = rote.profiling_steps_eval = steps;
  return options;
}

}  // namespace

TEST_CASE("profile: the asked updates are in the trace, each op forward and backward; the bits stay") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = quiet_args(folder.path());
  args.gradient_accumulation_steps = 2;
  SmallRun run(args, profiled(1, 2)), plain(quiet_args(elsewhere.path()));
  run.train();
  const Trace trace = read_trace(folder.path() + "/profile/train.json");
  CHECK(trace.is_ordered);
  CHECK(trace.has_shapes);
  CHECK(trace.names.count("step 1") == 0);
  CHECK(trace.names.at("step 2") == 1);
  CHECK(trace.names.at("step 3") == 1);
  CHECK(trace.names.at("forward and backward") == 3);  // the last update has one micro-batch
  CHECK(trace.names.at("optimizer") == 2);
  CHECK(trace.names.at("batch") == 3);
  CHECK(trace.names.at("layer_norm") > 6);
  CHECK(trace.categories.at("forward") >= trace.categories.at("backward"));
  plain.trainer->train();
  SmallRun again(quiet_args(elsewhere.path()), profiled(0, 3));
  again.train();
  CHECK(again.hash() == plain.hash());
}

TEST_CASE("profile: a run that is over sooner leaves what there is, one that does not come so far no file") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.max_steps = 2;
  SmallRun(args, profiled(2, 4)).train();
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/profile"));
  SmallRunOptions options = profiled(1, 4);
  options.trainer.rote.profiling_record_shapes = false;
  SmallRun(args, std::move(options)).train();
  const Trace trace = read_trace(folder.path() + "/profile/train.json");
  CHECK(trace.names.at("step 2") == 1);
  CHECK_FALSE(trace.has_shapes);
}

TEST_CASE("profile: evaluations and predictions of their own have a trace of their batches, those within training have none") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_eval_batch_size = 2;
  args.eval_on_start = true;
  SmallRun run(args, profiled(1, 1));
  run.train();
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/profile/eval.json"));
  run.trainer->evaluate();
  run.trainer->predict(run.eval_rows);
  for (const char* name : {"/profile/eval.json", "/profile/test.json"}) {
    const Trace trace = read_trace(folder.path() + name);
    CHECK(trace.names.at("step 2") == 1);
    CHECK(trace.categories.count("backward") == 0);
  }
}

}  // namespace rote::testing

// tests/trainer/trace_test.cpp — what a trace holds at each level, that it moves no bit, and that a resumed run goes on with it.
#include "trainer/trace.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "tensor/fingerprint.h"
#include "tests/trainer/traced_run.h"

namespace rote::testing {

namespace {

std::map<TraceRole, int64_t> roles_of_step(const std::string& file, int64_t wanted) {
  TraceReader reader(file);
  std::map<TraceRole, int64_t> roles;
  while (const std::optional<TraceStep> step = reader.next())
    for (const TraceRecord& record : step->records)
      if (step->step == wanted) ++roles[reader.names()[record.name].role];
  return roles;
}

}  // namespace

TEST_CASE("trace: each level holds those before it, and none moves a bit") {
  const TempFolder none, steps, modules, ops;
  const auto parameters = static_cast<int64_t>(small_classifier()->named_parameters().size());
  const std::string hash = run_traced(quiet_args(none.path()), {.level = TraceLevel::no});
  CHECK_FALSE(std::filesystem::exists(traced_file(none.path())));
  CHECK(run_traced(quiet_args(steps.path()), {.level = TraceLevel::steps}) == hash);
  CHECK(run_traced(quiet_args(modules.path()), {.level = TraceLevel::modules}) == hash);
  CHECK(run_traced(quiet_args(ops.path()), {.level = TraceLevel::ops}) == hash);
  std::map<TraceRole, int64_t> at = roles_of_step(traced_file(steps.path()), 2);
  CHECK(at[TraceRole::batch] % 2 == 0);  // of two micro-batches
  CHECK(at[TraceRole::batch] >= 4);
  CHECK(at[TraceRole::loss] == 1);
  CHECK(at[TraceRole::gradient] == parameters);
  CHECK(at[TraceRole::parameter] == parameters);
  CHECK(at.size() == 4);
  at = roles_of_step(traced_file(modules.path()), 2);
  CHECK(at[TraceRole::module] > 20);
  CHECK(at.size() == 5);
  const int64_t module_outputs = at[TraceRole::module];
  at = roles_of_step(traced_file(ops.path()), 2);
  CHECK(at[TraceRole::module] == module_outputs);
  CHECK(at[TraceRole::op] > 40);
  CHECK(at[TraceRole::op_backward] > 40);
  CHECK(roles_of_step(traced_file(ops.path()), 0) == std::map<TraceRole, int64_t>{{TraceRole::parameter, parameters}});
  CHECK(compare_traces(traced_file(steps.path()), traced_file(ops.path())).is_equal());
}

TEST_CASE("trace: its hashes are those of the tensors, and the last parameters those of the model") {
  const TempFolder folder;
  int64_t seen = 0, wrong = 0;
  std::map<std::string, uint64_t> last;
  std::vector<std::vector<uint64_t>> shown(6);
  const TraceWatch watch = [&](int64_t step, size_t record, const TraceName& name, const Tensor& x) {
    ++seen;
    REQUIRE(record == shown.at(static_cast<size_t>(step)).size());
    shown[static_cast<size_t>(step)].push_back(fingerprint(x));
    if (name.role == TraceRole::parameter) last[name.tensor] = fingerprint(x);
  };
  run_traced(quiet_args(folder.path()), {.watch = watch});
  TraceReader reader(traced_file(folder.path()));
  while (const std::optional<TraceStep> step = reader.next())
    for (size_t i = 0; i < step->records.size(); ++i)
      if (shown[static_cast<size_t>(step->step)][i] != step->records[i].hash) ++wrong;
  CHECK(seen > 1000);
  CHECK(wrong == 0);
}

TEST_CASE("trace: threads move no byte of it") {
  const TempFolder one, five;
  run_traced(quiet_args(one.path()), {.num_threads = 1});
  run_traced(quiet_args(five.path()), {.num_threads = 5});
  CHECK(read_text(traced_file(one.path())) == read_text(traced_file(five.path())));
}

TEST_CASE("trace: a run that goes on from a checkpoint leaves the trace of one that was never stopped") {
  const TempFolder whole, part;
  TrainingArguments args = quiet_args(whole.path());
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 2;
  run_traced(args, {});
  args.output_dir = part.path();
  run_traced(args, {});
  const std::string bytes = read_text(traced_file(whole.path()));
  CHECK(read_text(traced_file(part.path())) == bytes);
  for (const char* step : {"2", "4"}) {
    run_traced(args, {.resume = part.path() + "/checkpoint-" + step});
    CHECK(read_text(traced_file(part.path())) == bytes);
  }
  // In a folder without the part before, the trace begins with the parameters of the checkpoint.
  const TempFolder elsewhere;
  args.output_dir = elsewhere.path();
  run_traced(args, {.resume = part.path() + "/checkpoint-2"});
  const TraceComparison comparison = compare_traces(traced_file(elsewhere.path()), traced_file(whole.path()));
  CHECK(comparison.is_equal());
  CHECK(comparison.compared == 3);
}

}  // namespace rote::testing

// tests/trainer/trace_difference_test.cpp — one planted ulp is found: its step, op and element; and what is said of other causes.
#include "trainer/trace_difference.h"

#include <doctest/doctest.h>

#include "tensor/difference.h"
#include "tests/trainer/traced_run.h"

namespace rote::testing {

namespace {

constexpr char kPlace[] = "bert.encoder.layer.1.intermediate.intermediate_act_fn";

std::string told(const std::string& a, const std::string& b) { return describe(compare_traces(traced_file(a), traced_file(b)), "a", "b"); }

}  // namespace

TEST_CASE("trace difference: a planted ulp is named by step, op and element, at each level as far as it goes") {
  const TempFolder a, b, again;
  // Of the first token, which alone goes on to the classifier.
  const Plant plant{.step = 3, .op = "gelu", .module = kPlace, .element = 12};
  run_traced(quiet_args(a.path()), {});
  run_traced(quiet_args(b.path()), {.plant = plant});
  const TraceComparison found = compare_traces(traced_file(a.path()), traced_file(b.path()));
  REQUIRE(found.first);
  CHECK(found.first->step == 3);
  CHECK(found.first->is_of_one_tensor());
  CHECK(found.first->inputs_equal);
  CHECK(found.first->micro_batch == 1);
  CHECK(found.compared == 5);
  CHECK(found.differing == 3);
  CHECK(told(a.path(), b.path()) == str("3 of 5 steps differ, the first is step 3\nop gelu in ", kPlace, ": y, in micro-batch 1 of 2; its inputs are equal: this op did it\n"));

  Tensor left, right;
  run_traced(quiet_args(again.path()), {.watch = keep_record(left, 3, found.first->record)});
  run_traced(quiet_args(again.path()), {.plant = plant, .watch = keep_record(right, 3, found.first->other_record)});
  const std::optional<Difference> element = difference(left, right);
  REQUIRE(element);
  CHECK(element->elements == 1);
  CHECK(element->first == 12);
  CHECK(element->ulps == 1);

  run_traced(quiet_args(b.path()), {.level = TraceLevel::modules, .plant = plant});
  CHECK(told(a.path(), b.path()).find(str("\nmodule ", kPlace, ": output 0, in micro-batch 1 of 2; what ended before it is equal: this module did it\n")) != std::string::npos);
  run_traced(quiet_args(b.path()), {.level = TraceLevel::steps, .plant = plant});
  const std::string coarse = told(a.path(), b.path());
  CHECK(coarse.starts_with("3 of 5 steps differ, the first is step 3\n"));
  CHECK((coarse.find("\nloss; what was recorded before it is equal: the forward did it\n") != std::string::npos || coarse.find("the backward did it\n") != std::string::npos));
}

TEST_CASE("trace difference: equal runs are equal, one that is shorter says so") {
  const TempFolder a, b;
  TrainingArguments args = quiet_args(b.path());
  run_traced(quiet_args(a.path()), {.num_threads = 1});
  run_traced(args, {.num_threads = 3});
  CHECK(told(a.path(), b.path()) == "equal: 5 steps, by hashes of level ops\n");
  args.max_steps = 5;
  args.lr_scheduler_type = "constant";
  TrainingArguments shorter = args;
  run_traced(args, {});
  shorter.max_steps = 4;
  shorter.output_dir = a.path();
  run_traced(shorter, {});
  CHECK(told(a.path(), b.path()) == "equal: 4 steps, by hashes of level ops; b alone goes on for 1 more\n");
  CHECK_FALSE(compare_traces(traced_file(a.path()), traced_file(b.path())).is_equal());
  CHECK(compare_traces(traced_file(a.path()), traced_file(b.path()), 4).is_equal());
}

TEST_CASE("trace difference: the update, the data and another computation are told apart") {
  const TempFolder a, b;
  TrainingArguments args = quiet_args(b.path());
  run_traced(quiet_args(a.path()), {.level = TraceLevel::steps});
  args.weight_decay = 0.5;
  run_traced(args, {.level = TraceLevel::steps});
  CHECK(told(a.path(), b.path()).find("the first is step 1\nparameter bert.embeddings.word_embeddings.weight; all gradients are equal: the update did it") != std::string::npos);
  args.weight_decay = 0;
  args.data_seed = 9;
  run_traced(args, {.level = TraceLevel::steps});
  CHECK(told(a.path(), b.path()).find("\nbatch: input_ids, in micro-batch 1 of 2; the data differ\n") != std::string::npos);
  args = quiet_args(b.path());
  args.max_grad_norm = 1e-3;
  run_traced(args, {.level = TraceLevel::steps});
  CHECK(told(a.path(), b.path()).find("all gradients are equal: the update did it") != std::string::npos);
}

TEST_CASE("trace difference: an update cut into other micro-batches is compared by its gradients and parameters") {
  const TempFolder a, b;
  run_traced(quiet_args(a.path()), {});
  SmallRunOptions options{.rows = 20};
  options.trainer.rote.trace_hashes = TraceLevel::ops;
  TrainingArguments args = quiet_args(b.path());
  args.per_device_train_batch_size = 4;
  SmallRun(args, std::move(options)).train();
  CHECK(told(a.path(), b.path()) == "equal: 5 steps, by hashes of level ops; 5 are cut into other micro-batches, gradients and parameters alone are compared there\n");
}

TEST_CASE("trace difference: traces without a common step, and files that are none, are refused") {
  const TempFolder folder;
  {
    TraceWriter one(folder.file("one"), TraceLevel::steps, "AC-1", 0), two(folder.file("two"), TraceLevel::steps, "AC-1", 0);
    one.write({.step = 1, .link = 0, .records = {{one.names().id_of({TraceRole::loss, "", "", ""}), 5}}});
    two.write({.step = 2, .link = 0, .records = {{two.names().id_of({TraceRole::loss, "", "", ""}), 5}}});
  }
  CHECK_THROWS_WITH_AS(compare_traces(folder.file("one"), folder.file("two")), doctest::Contains("have no step in common; give the traces of two runs of the same steps."), IoError);
  CHECK(trace_of(folder.file("one")) == folder.file("one"));
  CHECK_FALSE(trace_of(folder.path()));
  CHECK_FALSE(trace_of(folder.file("text", "no trace at all")));
  CHECK_FALSE(trace_of(folder.file("missing")));
}

}  // namespace rote::testing

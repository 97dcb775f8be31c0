// tests/trainer/argument_files_test.cpp — files of arguments: .args files before the line, maps in JSON and YAML, --config below the line.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/argument_files.h"
#include "trainer/arguments.h"
#include "trainer/yaml_text.h"

using namespace rote;
using Words = std::vector<std::string>;

namespace {

std::string fault_of(const Words& words) {
  try {
    parse_words(words, Usage{.program = "p", .about = "", .config = line_over_file}, TrainingArguments{});
  } catch (const ArgumentError& fault) {
    return fault.what();
  }
  return "";
}

TrainingArguments args_of(const Words& words) {
  return std::get<0>(parse_words(words, Usage{.program = "p", .about = "", .config = line_over_file}, TrainingArguments{}).values);
}

}  // namespace

TEST_CASE(".args files: the program's own, one that is named, those of a flag; the line comes last") {
  const testing::TempFolder folder;
  folder.file("run.args", "--seed 5\n--max_steps\t9");
  const std::string program = folder.file("run"), one = folder.file("one.args", "--seed 71 --run_name \"x\""), two = folder.file("two.args", "--seed 81\n");
  CHECK(with_args_files({"--seed", "1"}, {.program = program}) == Words{"--seed", "5", "--max_steps", "9", "--seed", "1"});
  CHECK(with_args_files({}, {.program = program + ".v2"}) == Words{"--seed", "5", "--max_steps", "9"});
  CHECK(with_args_files({"a"}, {.program = program, .look_for_args_file = false}) == Words{"a"});
  CHECK(with_args_files({"a"}, {.program = folder.file("other")}) == Words{"a"});
  CHECK(with_args_files({}, {.program = program, .args_filename = two}) == Words{"--seed", "81"});
  CHECK(with_args_files({"x", "--cfg", one, "--cfg=" + two, "y"}, {.args_file_flag = "--cfg"}) == Words{"--seed", "71", "--run_name", "\"x\"", "--seed", "81", "x", "y"});
  CHECK_THROWS_AS(with_args_files({}, {.args_filename = folder.file("none.args")}), IoError);
  CHECK_THROWS_AS(with_args_files({"--cfg", folder.file("none.args")}, {.args_file_flag = "--cfg"}), IoError);
  CHECK_THROWS_WITH_AS(with_args_files({"--cfg"}, {.args_file_flag = "--cfg"}), "--cfg: needs a value, the file of arguments.", ArgumentError);
}

TEST_CASE("--config: the file gives any argument, the line wins") {
  const testing::TempFolder folder;
  const std::string json = folder.file("a.json", R"({"learning_rate": 1, "eval_strategy": "epoch", "seed": 7, "label_names": ["y"], "evaluation_strategy": "steps", "no_cuda": true})");
  const TrainingArguments args = args_of({"--config", json, "--seed", "8"});
  CHECK(args.learning_rate == 1);
  CHECK(args.eval_strategy == IntervalStrategy::epoch);
  CHECK(args.do_eval);
  CHECK(args.seed == 8);
  CHECK(args.use_cpu);
  CHECK(*args.label_names == Words{"y"});
}

TEST_CASE("--config: the line wins over the file under the older name as under the present one") {
  const testing::TempFolder folder;
  const std::string older = folder.file("a.json", R"({"group_by_length": true, "no_cuda": true, "adafactor": true, "warmup_ratio": 0.5, "per_gpu_train_batch_size": 2})");
  const TrainingArguments present = args_of({"--config", older, "--train_sampling_strategy", "sequential", "--use_cpu", "false", "--optim", "sgd", "--warmup_steps", "0", "--per_device_train_batch_size", "3"});
  CHECK(present.train_sampling_strategy == data::SamplingStrategy::sequential);
  CHECK_FALSE(present.use_cpu);
  CHECK(present.optim == "sgd");
  CHECK(present.warmup_steps == 0);
  CHECK(present.per_device_train_batch_size == 3);

  const std::string file = folder.file("b.json", R"({"train_sampling_strategy": "sequential", "use_cpu": true, "optim": "sgd", "warmup_steps": 500, "per_device_train_batch_size": 2, "activation_checkpointing": true})");
  const TrainingArguments by_older =
      args_of({"--config", file, "--group_by_length", "--no_cuda", "false", "--adafactor", "--warmup_ratio", "0.1", "--per_gpu_train_batch_size", "3", "--gradient_checkpointing", "false"});
  CHECK(by_older.train_sampling_strategy == data::SamplingStrategy::group_by_length);
  CHECK_FALSE(by_older.use_cpu);
  CHECK(by_older.optim == "adafactor");
  CHECK(by_older.warmup_steps == 0.1);
  CHECK(by_older.per_device_train_batch_size == 3);
  CHECK(by_older.checkpointed_layers() == 0);

  const TrainingArguments off = args_of({"--config", file, "--group_by_length", "false", "--adafactor", "false", "--warmup_ratio", "0"});
  CHECK(off.train_sampling_strategy == data::SamplingStrategy::sequential);  // a flag that is off asks for nothing else
  CHECK(off.optim == "sgd");
  CHECK(off.warmup_steps == 500);
  const std::string parts = folder.file("c.json", R"({"accelerator_config": {"even_batches": false}, "include_for_metrics": ["loss"]})");
  const TrainingArguments joined = args_of({"--config", parts, "--split_batches", "true", "--include_inputs_for_metrics"});
  CHECK(*std::get<ValueMap>(*joined.accelerator_config).find("even_batches") == Value(false));
  CHECK(joined.include_for_metrics == Words{"loss", "inputs"});
}

TEST_CASE("--config: faults name the file and the key, beside those of the line") {
  const testing::TempFolder folder;
  const std::string json = folder.file("a.json", R"({"learning_rat": 1, "seed": "seven", "max_grad_norm": -1, "optim": "sgdd", "torch_compile": true, "warmup_steps": 3})");
  CHECK(fault_of({"--config", json, "--max_steps", "ten", "--warmup_steps", "-1"}) ==
        json + ": learning_rat: no such argument; did you mean learning_rate?\n" + json +
            ": optim: there is no sgdd; did you mean sgd? The words are adamw_torch, adamw_torch_fused, adamw_anyprecision, sgd, adagrad, rmsprop, adafactor, lion_32bit, ademamix, adamw_hf, adam, "
            "sgdw, adadelta, adamax, nadam, radam, rprop, asgd.\n" +
            json + ": seed: got 'seven'; it must be a whole number.\n" + json + ": torch_compile: True cannot be used, since a step is not captured or compiled.\n--max_steps: got ten; it must be a whole number.\n--warmup_steps: is -1.0; it must be at least 0 and below 1000000000.\n" +
            json + ": max_grad_norm: is -1; it must be at least 0.");
}

TEST_CASE("--config: a file that cannot be read is one fault") {
  const testing::TempFolder folder;
  CHECK(fault_of({"--config", folder.file("none.json")}) == "read " + folder.file("none.json") + ": No such file or directory.");
  CHECK(fault_of({"--config", folder.file("a.txt", "{}")}) == folder.file("a.txt") + ": is no file of arguments; its name must end in .json, .yaml or .yml.");
  CHECK(fault_of({"--config", folder.file("b.json", "[1]")}) == folder.file("b.json") + ": holds no map of arguments; it must be names with their values.");
  CHECK(fault_of({"--config", folder.file("c.json", "{\n'a': 1}")}).find(folder.file("c.json") + ": is not JSON at line 2") == 0);
  CHECK(fault_of({"--config"}) == "--config: needs a value, a text, or nothing.");
}

TEST_CASE("--config: YAML, where the build reads it") {
  const testing::TempFolder folder;
  const std::string yaml = folder.file("a.yaml", "learning_rate: 1.0e-4\nuse_cpu: yes\noptim: sgd\n");
  if (!has_yaml()) {
    CHECK(fault_of({"--config", yaml}) == yaml + ": this build reads no YAML; give JSON, or build where libyaml-cpp-dev is installed.");
    return;
  }
  CHECK(args_of({"--config", yaml}).learning_rate == 1e-4);
  CHECK(args_of({"--config", yaml}).optim == "sgd");
  const std::string text = folder.file("b.yml", "learning_rate: 1e-4\n");
  CHECK(fault_of({"--config", text}) == text + ": learning_rate: got '1e-4'; it must be a number; YAML takes an exponent after a point only, as 1.0e-4.");
}

// tests/trainer/argument_rules_test.cpp — TrainingArguments: rules across rows, names of older versions, what has no effect and what cannot be used.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/arguments.h"
#include "trainer/data_arguments.h"
#include "trainer/parser.h"

using namespace rote;

namespace {

using T = TrainingArguments;
using Words = std::vector<std::string>;

const Usage kUsage{.program = "train", .about = ""};

Parsed<T> parsed(const Words& words) { return parse_words(words, kUsage, T{}); }
T args_of(const Words& words) { return std::get<0>(parsed(words).values); }

std::string fault_of(const Words& words) {
  try {
    parsed(words);
  } catch (const ArgumentError& fault) {
    return fault.what();
  }
  return "";
}

const ValueMap& config_of(const T& args) { return std::get<ValueMap>(*args.accelerator_config); }

}  // namespace

TEST_CASE("older names: the field they stand for takes the value, with a warning") {
  struct Row {
    const char* name;
    Words words;
    std::function<bool(const T&)> holds;
  };
  const Row table[] = {
      {"per_gpu_train_batch_size", {"--per_gpu_train_batch_size", "3"}, [](const T& a) { return a.per_device_train_batch_size == 3; }},
      {"per_gpu_eval_batch_size", {"--per-gpu-eval-batch-size=4"}, [](const T& a) { return a.per_device_eval_batch_size == 4; }},
      {"evaluation_strategy", {"--evaluation_strategy", "epoch"}, [](const T& a) { return a.eval_strategy == IntervalStrategy::epoch; }},
      {"warmup_ratio", {"--warmup_ratio", "0.1"}, [](const T& a) { return a.get_warmup_steps(506) == 51; }},
      {"warmup_ratio", {"--warmup_ratio", "1"}, [](const T& a) { return a.get_warmup_steps(506) == 506; }},
      {"warmup_ratio", {"--warmup_ratio", "0.1", "--warmup_steps", "7"}, [](const T& a) { return a.get_warmup_steps(506) == 7; }},
      {"no_cuda", {"--no_cuda"}, [](const T& a) { return a.use_cpu && !a.dataloader_pin_memory; }},
      {"no_cuda", {"--no_cuda", "false"}, [](const T& a) { return !a.use_cpu; }},
      {"adafactor", {"--adafactor"}, [](const T& a) { return a.optim == "adafactor"; }},
      {"group_by_length", {"--group_by_length"}, [](const T& a) { return a.train_sampling_strategy == data::SamplingStrategy::group_by_length; }},
      {"split_batches", {"--split_batches", "true"}, [](const T& a) { return *config_of(a).find("split_batches") == Value(true); }},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const auto all = parsed(row.words);
    CHECK(row.holds(std::get<0>(all.values)));
    REQUIRE(all.warnings.size() == 1);
    CHECK(all.warnings[0].find("--" + std::string(row.name) + ": is the older name of --") == 0);
  }
  CHECK(fault_of({"--warmup_ratio", "1.5"}) == "--warmup_ratio: is 1.5; it must be at least 0 and at most 1.");
  CHECK(fault_of({"--evaluation_strategy", "epochs"}) == "--eval_strategy: there is no epochs; did you mean epoch? The words are no, steps, epoch.");
  CHECK(args_of({"--warmup", "3"}).warmup_steps == 3);  // an older name makes no beginning ambiguous
}

TEST_CASE("older names: the present name wins in either order, on a line and in a map; parts of a field join it") {
  struct Row {
    Words older, present;
    ValueMap map;
    std::function<bool(const T&)> holds;
  };
  const Row table[] = {
      {{"--per_gpu_train_batch_size", "8"}, {"--per_device_train_batch_size", "4"}, {{"per_gpu_train_batch_size", 8}, {"per_device_train_batch_size", 4}},
       [](const T& a) { return a.per_device_train_batch_size == 4; }},
      {{"--no_cuda"}, {"--use_cpu", "false"}, {{"no_cuda", true}, {"use_cpu", false}}, [](const T& a) { return !a.use_cpu; }},
      {{"--adafactor"}, {"--optim", "sgd"}, {{"adafactor", true}, {"optim", "sgd"}}, [](const T& a) { return a.optim == "sgd"; }},
      {{"--group_by_length"}, {"--train_sampling_strategy", "sequential"}, {{"group_by_length", true}, {"train_sampling_strategy", "sequential"}},
       [](const T& a) { return a.train_sampling_strategy == data::SamplingStrategy::sequential; }},
      {{"--warmup_ratio", "0.5"}, {"--warmup_steps", "3"}, {{"warmup_ratio", 0.5}, {"warmup_steps", 3}}, [](const T& a) { return a.warmup_steps == 3; }},
  };
  for (const Row& row : table) {
    CAPTURE(row.older);
    Words first = row.older, last = row.present;
    first.insert(first.end(), row.present.begin(), row.present.end());
    last.insert(last.end(), row.older.begin(), row.older.end());
    for (const Words& words : {first, last}) {
      const auto all = parsed(words);
      CHECK(row.holds(std::get<0>(all.values)));
      CHECK(all.warnings == Words{row.older[0] + ": is the older name of " + row.present[0] + ", which is given too and wins."});
    }
    CHECK(row.holds(from_map<T>(row.map)));
  }
  CHECK(args_of({"--warmup_steps", "0", "--warmup_ratio", "0.1"}).warmup_steps == 0.1);  // the share stands in for no steps
  CHECK(args_of({"--include_inputs_for_metrics", "--include_for_metrics", "loss"}).include_for_metrics == Words{"loss", "inputs"});
  CHECK(*config_of(args_of({"--split_batches", "true", "--accelerator_config", "{\"even_batches\": false}"})).find("even_batches") == Value(false));
  CHECK(from_map<T>({{"activation_checkpointing", Value()}, {"gradient_checkpointing", true}}).gradient_checkpointing);
}

TEST_CASE("activation checkpointing: the older names hold the same, and the present ones win (1.2)") {
  const T by_older = args_of({"--gradient_checkpointing", "--gradient_checkpointing_kwargs", "{\"every_n_layers\": \"2\", \"use_reentrant\": false}"});
  CHECK(*by_older.activation_checkpointing);
  CHECK(by_older.checkpointed_layers() == 2);
  CHECK(by_older.activation_checkpointing_kwargs == by_older.gradient_checkpointing_kwargs);
  const T both = args_of({"--gradient_checkpointing", "--activation_checkpointing", "false"});
  CHECK_FALSE(*both.activation_checkpointing);
  CHECK_FALSE(both.gradient_checkpointing);
  CHECK(T{.gradient_checkpointing = true}.checkpointed_layers() == 1);
  CHECK_FALSE(*resolved(T{}).activation_checkpointing);
}

TEST_CASE("names without an effect take any value and say so once; the default says nothing") {
  const Words lines[] = {{"--ddp_timeout", "60"},          {"--dataloader_persistent_workers"}, {"--hub_model_id", "me/model"},        {"--log_level_replica", "error"},
                         {"--overwrite_output_dir"},       {"--use_legacy_prediction_loop"},  {"--no_average_tokens_across_devices"}, {"--torch_empty_cache_steps", "3"},
                         {"--half_precision_backend", "cpu_amp"}, {"--ray_scope", "all"}, {"--no_dataloader_pin_memory"}, {"--local_rank", "0"}};
  for (const Words& words : lines) {
    CAPTURE(words[0]);
    const auto all = parsed(words);
    REQUIRE(all.warnings.size() == 1);
    CHECK(all.warnings[0].find(" has no effect, since ") != std::string::npos);
  }
  CHECK(parsed({"--ddp_timeout", "1800", "--save_safetensors", "--half_precision_backend", "auto", "--log_on_each_node"}).warnings.empty());
  CHECK(args_of({"--ddp_timeout", "60"}).ddp_timeout == 60);
}

TEST_CASE("optim_args: weights in bfloat16 are for --bf16") {
  for (const char* words : {"split_master=true", "use_kahan_summation=true", "bf16_stochastic_round=true"}) {
    CHECK(fault_of({"--output_dir", "o", "--optim_args", words}).find(str("--optim_args: ", words, " keeps the weights in bfloat16, which is for training in it; set --bf16.")) != std::string::npos);
    CHECK(fault_of({"--output_dir", "o", "--bf16", "--optim_args", words}).empty());
  }
  CHECK(fault_of({"--output_dir", "o", "--optim", "adamw_anyprecision", "--optim_args", "momentum_dtype=bfloat16"}).empty());
}

TEST_CASE("half precision: one of bf16 and fp16, for training and for evaluations") {
  CHECK(args_of({"--bf16"}).autocast_dtype() == DType::bf16);
  CHECK(args_of({"--fp16"}).autocast_dtype() == DType::f16);
  CHECK_FALSE(args_of({}).autocast_dtype().has_value());
  CHECK(args_of({"--fp16_full_eval"}).full_eval_dtype() == DType::f16);
  CHECK(args_of({"--bf16_full_eval", "yes"}).full_eval_dtype() == DType::bf16);
  CHECK(fault_of({"--fp16", "--bf16", "--bf16_full_eval", "--fp16_full_eval"}) ==
        "--fp16: is given with --bf16; training computes in one of them, so give one.\n"
        "--fp16_full_eval: is given with --bf16_full_eval; the model takes one of them, so give one.");
}

TEST_CASE("names that cannot be used take their default, and any other value is refused with the reason") {
  const Words lines[] = {{"--tf32", "true"},
                         {"--use_liger_kernel"},
                         {"--torch_compile_mode", "max-autotune"},
                         {"--fsdp", "full_shard"},
                         {"--deepspeed", "ds.json"},
                         {"--push_to_hub"},
                         {"--debug", "tpu_metrics_debug"},
                         {"--no_save_safetensors"},
                         {"--past_index", "2"},
                         {"--half_precision_backend", "apex"},
                         {"--fp16_opt_level", "O2"},
                         {"--tpu_num_cores", "8"},
                         {"--optim", "adamw_8bit"},
                         {"--optim", "galore_adamw"},
                         {"--report_to", "wandb"},
                         {"--trackio_space_id", "me/space"}};
  for (const Words& words : lines) {
    CAPTURE(words[0]);
    const std::string fault = fault_of(words);
    CHECK(fault.find("--") == 0);
    CHECK(fault.find(" cannot be used, since ") != std::string::npos);
    CHECK(fault.find('\n') == std::string::npos);
  }
  CHECK(fault_of({"--fsdp"}) == "--fsdp: it cannot be used, since a run is one process.");
  CHECK(fault_of({"--fp16", "false", "--tf32", "no", "--past_index", "-1", "--project", "huggingface", "--fp16_opt_level", "O1", "--debug="}) == "");
  CHECK(fault_of({"--torch_compile", "--fsdp_config", "x"}).find("--torch_compile: True cannot be used, since a step is not captured or compiled.\n--fsdp_config: ") == 0);
}

TEST_CASE("optim: words of other libraries stand for the same update, or are refused") {
  const auto all = parsed({"--optim", "paged_lion_32bit"});
  CHECK(std::get<0>(all.values).optim == "paged_lion_32bit");
  CHECK(std::get<0>(all.values).optimizer_name() == "lion_32bit");
  CHECK(all.warnings == Words{"--optim: paged_lion_32bit stands for lion_32bit."});
  CHECK(T{.optim = "adamw_torch_xla"}.optimizer_name() == "adamw_torch");
  CHECK(T{.optim = "sgd"}.optimizer_name() == "sgd");
  T lomo{.optim = "lomo"};
  CHECK(resolve(lomo) == Words{"--optim: lomo cannot be used, since it is not built."});
}

TEST_CASE("accelerator_config: a map, JSON or a file, completed in order; num_steps is the accumulation") {
  CHECK(config_of(resolved(T{})).begin()->first == "split_batches");
  CHECK(config_of(resolved(T{})).size() == 7);
  CHECK(*config_of(args_of({"--accelerator_config", "{\"split_batches\": \"true\"}"})).find("split_batches") == Value(true));
  const testing::TempFolder folder;
  const std::string path = folder.file("a.json", "{\"gradient_accumulation_kwargs\": {\"num_steps\": 4}}");
  CHECK(args_of({"--accelerator_config", path}).gradient_accumulation_steps == 4);
  CHECK(resolved(resolved(T{.accelerator_config = ValueMap{{"even_batches", false}}})).accelerator_config == resolved(T{.accelerator_config = ValueMap{{"even_batches", false}}}).accelerator_config);
  CHECK(fault_of({"--accelerator_config", path, "--gradient_accumulation_steps", "2"}) ==
        "--accelerator_config: num_steps is 4, but --gradient_accumulation_steps is 2; give one of them.");
  CHECK(fault_of({"--accelerator_config", "{\"num_steps\": 4}"}).find("--accelerator_config: there is no num_steps; the names are split_batches, ") == 0);
  CHECK(fault_of({"--accelerator_config", "{\"use_seedable_sampler\": false}"}).find("--accelerator_config: use_seedable_sampler is false; it must be true") == 0);
  CHECK(fault_of({"--accelerator_config", "{\"gradient_accumulation_kwargs\": {\"num_steps\": 0}}"}) ==
        "--accelerator_config: num_steps is 0; it must be a whole number from 1 on, below 1048576.");
  CHECK(fault_of({"--accelerator_config", "{\"gradient_accumulation_kwargs\": {\"num_steps\": 1048576}}"}) ==
        "--accelerator_config: num_steps is 1048576; it must be a whole number from 1 on, below 1048576.");
  CHECK(args_of({"--accelerator_config", "{\"gradient_accumulation_kwargs\": {\"num_steps\": 1048575}}"}).gradient_accumulation_steps == 1048575);
  CHECK(fault_of({"--accelerator_config", "{broken"}).find("--accelerator_config: is not JSON; ") == 0);
  CHECK(fault_of({"--accelerator_config", folder.file("none.json")}) == "--accelerator_config: read " + folder.file("none.json") + ": No such file or directory.");
}

TEST_CASE("maps in texts: texts of numbers and truth values become these, at any depth, in every spelling (1.13)") {
  const ValueMap kwargs = *args_of({"--activation_checkpointing_kwargs={\"every_n_layers\": \"+2\"}"}).activation_checkpointing_kwargs;
  CHECK(*kwargs.find("every_n_layers") == Value(2));
  ValueMap map;
  REQUIRE(take(Value(R"({"a": "1e-5", "b": "-1", "c": "TRUE", "d": {"e": ["0.5", "False", "x1"]}, "f": null, "g": 3})"), map));
  CHECK(map == ValueMap{{"a", 1e-5}, {"b", -1}, {"c", true}, {"d", ValueMap{{"e", ValueList{0.5, false, "x1"}}}}, {"f", Value()}, {"g", 3}});
}

TEST_CASE("what a map gives: nothing is no list of trackers, and no delay; an unknown word is refused (1.13)") {
  CHECK(from_map<T>({{"report_to", Value()}}).report_to.empty());
  CHECK_THROWS_WITH_AS(from_map<T>({{"eval_delay", Value()}}), "--eval_delay: got None; it must be a number.", ArgumentError);
  CHECK_THROWS_WITH_AS(from_map<T>({{"max_grad_norm", Value()}}), "--max_grad_norm: got None; it must be a number.", ArgumentError);
  CHECK(fault_of({"--log_level", "loud"}).find("--log_level: there is no loud; choose one of detail, debug, ") == 0);
  CHECK(fault_of({"--train_sampling_strategy", "shuffled"}).find("--train_sampling_strategy: there is no shuffled; choose one of random, ") == 0);
}

TEST_CASE("loading: nothing fetches ahead without workers, and the CPU pins no memory") {
  CHECK(fault_of({"--dataloader_prefetch_factor", "2"}) ==
        "--dataloader_prefetch_factor: is given, but --dataloader_num_workers is 0; there is nothing that could fetch ahead.");
  CHECK(fault_of({"--dataloader_prefetch_factor", "2", "--dataloader_num_workers", "1"}) == "");
  CHECK_FALSE(resolved(T{.use_cpu = true}).dataloader_pin_memory);
  CHECK(fault_of({"--torch_empty_cache_steps", "0"}) == "--torch_empty_cache_steps: is 0; it must be at least 1.");
}

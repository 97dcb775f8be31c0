// tests/trainer/argument_text_test.cpp — text forms of arguments: to_dict, JSON, display, what trackers take, training_args.json.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/argument_text.h"
#include "trainer/json_text.h"
#include "trainer/rote_arguments.h"
#include "trainer/seq2seq_arguments.h"

using namespace rote;

namespace {

using T = TrainingArguments;

bool has_line(const std::string& text, const std::string& line) { return text.find("\n" + line + ",\n") != std::string::npos; }

}  // namespace

TEST_CASE("to_dict: the names, order and defaults of transformers 5.24") {
  CHECK(to_json_string(resolved(T{})) == R"({
  "output_dir": "trainer_output",
  "per_device_train_batch_size": 8,
  "num_train_epochs": 3.0,
  "max_steps": -1,
  "learning_rate": 5e-05,
  "lr_scheduler_type": "linear",
  "lr_scheduler_kwargs": null,
  "warmup_steps": 0,
  "optim": "adamw_torch_fused",
  "optim_args": null,
  "weight_decay": 0.0,
  "adam_beta1": 0.9,
  "adam_beta2": 0.999,
  "adam_epsilon": 1e-08,
  "optim_target_modules": null,
  "gradient_accumulation_steps": 1,
  "average_tokens_across_devices": true,
  "max_grad_norm": 1.0,
  "label_smoothing_factor": 0.0,
  "bf16": false,
  "fp16": false,
  "bf16_full_eval": false,
  "fp16_full_eval": false,
  "tf32": null,
  "activation_checkpointing": false,
  "activation_checkpointing_kwargs": null,
  "gradient_checkpointing": false,
  "gradient_checkpointing_kwargs": null,
  "torch_compile": false,
  "torch_compile_backend": null,
  "torch_compile_mode": null,
  "use_liger_kernel": false,
  "liger_kernel_config": null,
  "use_cache": false,
  "neftune_noise_alpha": null,
  "torch_empty_cache_steps": null,
  "auto_find_batch_size": false,
  "logging_strategy": "steps",
  "logging_steps": 500,
  "logging_first_step": false,
  "log_on_each_node": true,
  "logging_nan_inf_filter": true,
  "include_num_input_tokens_seen": "no",
  "log_level": "passive",
  "log_level_replica": "warning",
  "disable_tqdm": false,
  "report_to": [],
  "run_name": null,
  "project": "huggingface",
  "trackio_space_id": null,
  "trackio_bucket_id": null,
  "trackio_static_space_id": null,
  "eval_strategy": "no",
  "eval_steps": null,
  "eval_delay": 0,
  "per_device_eval_batch_size": 8,
  "prediction_loss_only": false,
  "eval_on_start": false,
  "eval_do_concat_batches": true,
  "eval_use_gather_object": false,
  "eval_accumulation_steps": null,
  "include_for_metrics": [],
  "batch_eval_metrics": false,
  "save_only_model": false,
  "save_strategy": "steps",
  "save_steps": 500,
  "save_on_each_node": false,
  "save_total_limit": null,
  "enable_jit_checkpoint": false,
  "push_to_hub": false,
  "hub_token": "<HUB_TOKEN>",
  "hub_private_repo": null,
  "hub_model_id": null,
  "hub_strategy": "every_save",
  "hub_always_push": false,
  "hub_revision": null,
  "load_best_model_at_end": false,
  "metric_for_best_model": null,
  "greater_is_better": null,
  "ignore_data_skip": false,
  "restore_callback_states_from_checkpoint": false,
  "full_determinism": false,
  "seed": 42,
  "data_seed": null,
  "use_cpu": false,
  "accelerator_config": {
    "split_batches": false,
    "dispatch_batches": null,
    "even_batches": true,
    "use_seedable_sampler": true,
    "non_blocking": false,
    "gradient_accumulation_kwargs": null
  },
  "parallelism_config": null,
  "dataloader_drop_last": false,
  "dataloader_num_workers": 0,
  "dataloader_pin_memory": true,
  "dataloader_persistent_workers": false,
  "dataloader_prefetch_factor": null,
  "dataloader_multiprocessing_context": null,
  "dataloader_in_order": true,
  "remove_unused_columns": true,
  "label_names": null,
  "train_sampling_strategy": "random",
  "length_column_name": "length",
  "ddp_find_unused_parameters": null,
  "ddp_bucket_cap_mb": null,
  "ddp_broadcast_buffers": null,
  "ddp_static_graph": null,
  "ddp_backend": null,
  "ddp_timeout": 1800,
  "fsdp": null,
  "fsdp_config": null,
  "deepspeed": null,
  "debug": [],
  "skip_memory_metrics": true,
  "do_train": false,
  "do_eval": false,
  "do_predict": false,
  "resume_from_checkpoint": null,
  "local_rank": -1
})");
  const ValueMap dict = to_dict(resolved(T{}));
  CHECK(dict.size() == 114);
  CHECK(json_text(dict) == to_json_string(resolved(T{})));
  for (const char* older : {"save_safetensors", "warmup_ratio", "no_cuda"}) CHECK(dict.find(older) == nullptr);
  const ValueMap seq2seq = to_dict(resolved(Seq2SeqTrainingArguments{}));
  CHECK(seq2seq.size() == 119);
  CHECK(std::prev(seq2seq.end())->first == "generation_config");
}

TEST_CASE("text forms: secrets are masked everywhere, set or not") {
  const T args = resolved(T{.hub_token = "secret"});
  for (const std::string& text : {to_json_string(args), display_text(args), json_text(to_sanitized_dict(args)), training_args_file(args, {})}) {
    CHECK(text.find("secret") == std::string::npos);
    CHECK(text.find("<HUB_TOKEN>") != std::string::npos);
  }
  CHECK(has_line(display_text(resolved(T{})), "hub_token=<HUB_TOKEN>"));
}

TEST_CASE("display text: sorted lines, Python's values, enums by class and name") {
  const std::string text = display_text(resolved(T{.lr_scheduler_type = "reduce_lr_on_plateau", .lr_scheduler_kwargs = ValueMap{{"factor", 0.5}}, .optim = "lion_32bit",
                                                   .run_name = "it's", .eval_strategy = IntervalStrategy::steps, .save_strategy = SaveStrategy::no}));
  CHECK(text.find("TrainingArguments(\naccelerator_config={'split_batches': False, 'dispatch_batches': None, ") == 0);
  CHECK(text.ends_with(",\n)"));
  for (const char* line : {"eval_strategy=IntervalStrategy.STEPS", "save_strategy=SaveStrategy.NO", "lr_scheduler_type=SchedulerType.REDUCE_ON_PLATEAU",
                           "lr_scheduler_kwargs={'factor': 0.5}", "optim=OptimizerNames.LION", "hub_strategy=HubStrategy.EVERY_SAVE", "log_level=passive",
                           "train_sampling_strategy=random", "run_name=it's", "debug=[]", "do_eval=True", "eval_steps=500"}) {
    CAPTURE(std::string(line));
    CHECK(has_line(text, line));
  }
  CHECK(display_text(resolved(Seq2SeqTrainingArguments{})).find("Seq2SeqTrainingArguments(\n") == 0);
}

TEST_CASE("to_sanitized_dict: flags, numbers and texts, all else as Python's text, and the sizes of a batch at the end") {
  const ValueMap dict = to_sanitized_dict(resolved(T{.per_device_train_batch_size = 3, .lr_scheduler_type = "cosine_with_restarts", .lr_scheduler_kwargs = ValueMap{{"num_cycles", 2}}}));
  CHECK(*dict.find("lr_scheduler_kwargs") == Value("{'num_cycles': 2}"));
  CHECK(*dict.find("run_name") == Value("None"));
  CHECK(*dict.find("report_to") == Value("[]"));
  CHECK(*dict.find("seed") == Value(42));
  CHECK(*dict.find("train_batch_size") == Value(3));
  CHECK(std::prev(dict.end())->first == "eval_batch_size");
}

TEST_CASE("training_args.json: both structs come back, unknown names are left alone, wrong types are named") {
  const TrainingArguments args = resolved(TrainingArguments{.output_dir = "é",
                                                            .warmup_steps = 0.1,
                                                            .eval_strategy = IntervalStrategy::epoch,
                                                            .label_names = {{"labels"}},
                                                            .train_sampling_strategy = data::SamplingStrategy::group_by_length});
  const RoteArguments rote{.num_threads = 2, .sample_leaf = 32};
  const std::string file = training_args_file(args, rote);
  CHECK(file.find("\"rote\": {\n    \"num_threads\": 2,\n    \"sample_leaf\": 32,\n    \"memory_limit\": 0,\n    \"arithmetic\": \"ac1\",\n") != std::string::npos);
  const auto [args_again, rote_again] = parse_training_args_file(file, "training_args.json");
  CHECK(training_args_file(args_again, rote_again) == file);

  CHECK(parse_training_args_file("{\"seed\": 7, \"bf16\": true}", "f").first.seed == 7);
  CHECK_THROWS_WITH_AS(parse_training_args_file("{\"seed\": 7.5, \"eval_strategy\": 3}", "f"),
                       "f: seed: got 7.5; it must be a whole number.\nf: eval_strategy: got 3; it must be one of no, steps, epoch.",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(from_map<TrainingArguments>({{"learning_rat", 0.1}}), "--learning_rat: no such argument; did you mean --learning_rate?",
                       ArgumentError);
  CHECK(from_map<TrainingArguments>({{"include_num_input_tokens_seen", true}, {"report_to", "none"}}).include_num_input_tokens_seen ==
        TokenCount::all);
}

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

TEST_CASE("to_dict: the order and the defaults of transformers 5.24") {
  const ValueMap dict = to_dict(resolved(T{}));
  CHECK(json_text(dict).find("{\n  \"output_dir\": \"trainer_output\",\n  \"per_device_train_batch_size\": 8,\n  \"num_train_epochs\": 3.0,\n  \"max_steps\": -1,\n"
                             "  \"learning_rate\": 5e-05,\n  \"lr_scheduler_type\": \"linear\",\n") == 0);
  CHECK(json_text(dict) == to_json_string(resolved(T{})));
  const char* order[] = {"optim_target_modules", "bf16", "torch_compile", "logging_steps", "report_to", "project", "eval_strategy", "save_steps", "push_to_hub",
                         "seed", "accelerator_config", "dataloader_num_workers", "fsdp", "debug", "do_train", "local_rank"};
  const ValueMap::Entry* at = dict.begin();
  for (const char* name : order) {
    CAPTURE(std::string(name));
    while (at != dict.end() && at->first != name) ++at;
    CHECK(at != dict.end());
  }
  CHECK(std::prev(dict.end())->first == "local_rank");
  for (const char* older : {"save_safetensors", "warmup_ratio", "no_cuda"}) CHECK(dict.find(older) == nullptr);
  CHECK(dict.find("accelerator_config")->as_map()->size() == 6);
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

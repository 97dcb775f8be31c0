// tests/command_faults_test.cpp — forty wrong command lines and files of arguments: one right sentence a fault, exit code 2, and nothing written.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/app.h"
#include "trainer/yaml_text.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

// `line` is added to a good command; `config` is the text of `file`, which the line may name by --config.
struct Wrong {
  const char* name;
  const char* line;
  const char* file;
  const char* config;
  std::vector<std::string> sentences;  // all of them, in order
};

const Wrong kTable[] = {
    // Typos.
    {"a misspelt name", "--learning_rat2 1", "", "", {"--learning_rat2: no such argument; did you mean --learning_rate?"}},
    {"a misspelt name with words", "--save_stratgy no", "", "", {"--save_stratgy: no such argument; did you mean --save_strategy (no, steps, epoch, …)?"}},
    {"a name of nothing", "--zzzzzzzzz 1", "", "", {"--zzzzzzzzz: no such argument; --help lists them."}},
    {"one dash", "-seed 1", "", "", {"-seed: no such argument; did you mean --seed?"}},
    {"a name with a value in it", "--seeed=1", "", "", {"--seeed=1: no such argument; did you mean --seed?"}},
    {"a beginning of several", "--logging_s 1", "", "", {"--logging_s: is the beginning of --logging_strategy, --logging_steps; write one of them in full."}},
    {"a misspelt word", "--save_strategy step", "", "", {"--save_strategy: there is no step; did you mean steps? The words are no, steps, epoch, best."}},
    {"a misspelt task", "--task text-clasification", "", "", {"--task: there is no text-clasification; did you mean text-classification? The words are "}},
    {"a stray word", "now", "", "", {"now: belongs to no argument; a value follows its --name."}},
    {"a flag turned off that is off", "--no_logging_first_step", "", "", {"--no_logging_first_step: no such argument; did you mean --logging_first_step?"}},
    // Types and ranges.
    {"words for a number", "--learning_rate fast", "", "", {"--learning_rate: got fast; it must be a number."}},
    {"a fraction for a whole number", "--max_steps 2.5", "", "", {"--max_steps: got 2.5; it must be a whole number."}},
    {"no value", "--seed --max_steps 3", "", "", {"--seed: needs a value, a whole number."}},
    {"an empty value", "--max_steps=", "", "", {"--max_steps: got an empty text; it must be a whole number."}},
    {"a word for a flag", "--use_cpu maybe", "", "", {"--use_cpu: got maybe; it must be true or false."}},
    {"a negative rate", "--learning_rate -1e-4", "", "", {"--learning_rate: is -0.0001; it must be at least 0."}},
    {"no rows in a batch", "--per_device_train_batch_size 0", "", "", {"--per_device_train_batch_size: is 0; it must be at least 1 and below 1048576."}},
    {"steps that are not whole", "--save_strategy steps --save_steps 2.5", "", "", {"--save_steps: is 2.5; above 1 it must be a whole number of steps, below 1 a share of the run."}},
    {"a seed of too many bits", "--seed 4294967296", "", "", {"--seed: is 4294967296; it must be at least 0 and below 4294967296."}},
    {"half a map", "--lr_scheduler_kwargs {num_cycles", "", "", {"--lr_scheduler_kwargs: got {num_cycles; it must be a map, as {\"name\": 0.5}, or nothing."}},
    {"a share above 1", "--warmup_ratio 1.5", "", "", {"--warmup_ratio: is 1.5; it must be at least 0 and at most 1."}},
    // Contradictions.
    {"the best without evaluations", "--load_best_model_at_end", "", "", {"--load_best_model_at_end: needs evaluations, but --eval_strategy is no; set it to the same as --save_strategy."}},
    {"no steps between logs", "--logging_steps 0", "", "", {"--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no."}},
    {"a metric's schedule without evaluations", "--lr_scheduler_type greedy", "", "", {"--lr_scheduler_type: greedy follows a metric, but --eval_strategy is no; set it to steps or epoch."}},
    {"fetching ahead without workers", "--dataloader_prefetch_factor 2", "", "", {"--dataloader_prefetch_factor: is given, but --dataloader_num_workers is 0; there is nothing that could fetch ahead."}},
    {"two accumulations", "--gradient_accumulation_steps 2 --accelerator_config '{\"gradient_accumulation_kwargs\": {\"num_steps\": 4}}'", "", "",
     {"--accelerator_config: num_steps is 4, but --gradient_accumulation_steps is 2; give one of them."}},
    {"an option that the schedule lacks", "--lr_scheduler_kwargs '{\"power\": 2}' --lr_scheduler_type cosine", "", "", {"--lr_scheduler_kwargs: schedule cosine: there is no power"}},
    {"two models", "--config_name model", "", "", {"--model_name_or_path: give a checkpoint to fine-tune, or --config_name for a new model, one of the two."}},
    {"an option that the optimizer lacks", "--optim sgd --optim_args momentun=0.9", "", "", {"--optim_args: sgd: there is no momentun, did you mean momentum? It takes "}},
    {"two ways to keep bfloat16 weights", "--bf16 --optim_args split_master=true,use_kahan_summation=true --max_steps 0.5", "", "",
     {"--max_steps: got 0.5; it must be a whole number.",
      "--optim_args: adamw_torch_fused: split_master and use_kahan_summation are both true; each is a way to keep what bfloat16 weights lose, give one."}},
    {"values that no option takes", "--optim_args split_master=maybe,moments_dtype=int8,beta1=x --logging_steps 0", "", "",
     {"--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no.", "--optim_args: adamw_torch_fused: beta1 is \"x\"; it must be a number.",
      "--optim_args: adamw_torch_fused: moments_dtype is \"int8\"; it must be float32 or bfloat16.", "--optim_args: adamw_torch_fused: split_master is \"maybe\"; it must be true or false."}},
    {"a number that the optimizer cannot take", "--optim_args beta1=2", "", "", {"--optim_args: AdamW: a beta is 2; it must lie in [0,1)."}},
    {"a word for a schedule's number", "--lr_scheduler_type polynomial --lr_scheduler_kwargs '{\"power\": \"two\"}'", "", "",
     {"--lr_scheduler_kwargs: schedule polynomial: power is \"two\"; it must be a number."}},
    {"moments that no dtype holds", "--optim_args moments_dtype=float8", "", "", {"--optim_args: adamw_torch_fused: moments_dtype is \"float8\"; it must be float32 or bfloat16."}},
    // What is not there.
    {"two half precisions", "--fp16 --bf16", "", "", {"--fp16: is given with --bf16; training computes in one of them, so give one."}},
    {"a compiled step", "--torch_compile", "", "", {"--torch_compile: True cannot be used, since a step is not captured or compiled."}},
    {"another library's optimizer", "--optim adamw_bnb_8bit", "", "", {"--optim: adamw_bnb_8bit cannot be used, since states of 8 or 4 bits are not built."}},
    {"a tracker", "--report_to wandb", "", "", {"--report_to: wandb cannot be used, since its writer is not there yet."}},
    {"a metric that no evaluation gives", "--metric_for_best_model eval_acuracy --eval_strategy epoch", "", "",
     {"--metric_for_best_model: no evaluation of this task gives acuracy; did you mean accuracy? It gives loss, accuracy, f1, runtime, samples_per_second, steps_per_second."}},
    {"shards", "--fsdp full_shard", "", "", {"--fsdp: full_shard cannot be used, since a run is one process."}},
    // Files.
    {"no file of arguments", "--config none.json", "", "", {"read none.json: No such file or directory."}},
    {"a file of another kind", "--config a.toml", "a.toml", "seed = 1", {"a.toml: is no file of arguments; its name must end in .json, .yaml or .yml."}},
    {"JSON in single quotes", "--config a.json", "a.json", "{\n  'seed': 1\n}", {"a.json: is not JSON at line 2; names and texts stand in double quotes, parts are parted by commas."}},
    {"JSON without names", "--config a.json", "a.json", "[1, 2]", {"a.json: holds no map of arguments; it must be names with their values."}},
    {"YAML that is cut off", "--config a.yaml", "a.yaml", "seed: 1\nlabel_names: [a\n", {"a.yaml:3: is not YAML, end of sequence flow not found; a line is name: value, a list is [a, b]."}},
    {"YAML with an open quote", "--config a.yaml", "a.yaml", "seed: 1\noutput_dir: 'out\n", {"a.yaml:3: a quote is not closed; the same quote ends the text."}},
    {"YAML's truth and numbers", "--config a.yaml", "a.yaml", "save_strategy: no\nlearning_rate: 1e-4\n",
     {"a.yaml: learning_rate: got '1e-4'; it must be a number; YAML takes an exponent after a point only, as 1.0e-4.", "a.yaml: save_strategy: there is no False; choose one of no, steps, epoch, best, in quotes."}},
    {"wrong values in a file", "--config a.json", "a.json", "{\"seed\": \"seven\", \"max_steps\": 1.5, \"save_strategy\": true, \"learning_rate\": null}",
     {"a.json: learning_rate: got None; it must be a number.", "a.json: max_steps: got 1.5; it must be a whole number.",
      "a.json: save_strategy: there is no True; choose one of no, steps, epoch, best, in quotes.", "a.json: seed: got 'seven'; it must be a whole number."}},
    {"a misspelt name in a file", "--config a.json", "a.json", "{\"learning_rte\": 1}", {"a.json: learning_rte: no such argument; did you mean learning_rate?"}},
    {"a range in a file, a type on the line", "--config a.json --seed x", "a.json", "{\"max_grad_norm\": -1}",
     {"--seed: got x; it must be a whole number.", "a.json: max_grad_norm: is -1; it must be at least 0."}},
    {"a name twice", "--config a.json", "a.json", "{\"seed\": 1, \"max_steps\": 2, \"seed\": 3}", {"a.json: seed is given twice; give it once."}},
    {"a name twice in YAML", "--config a.yaml", "a.yaml", "seed: 1\nmax_steps: 2\nseed: 3\n", {"a.yaml:3: seed is given twice; give it once."}},
    {"an alias beside its name", "--config a.json", "a.json", "{\"max_seq_length\": 16, \"max_length\": 8}",
     {"a.json: max_length: is another name of max_seq_length, which is given too; give one of them."}},
    {"a number that is too large", "--config a.json", "a.json", "{\"learning_rate\": 1e999}", {"a.json: holds a number that no double can take, 1e999; they end at 1.8e308."}},
    // Several at once.
    {"five at once", "--learning_rate fast --sede 1 --optim adamm --max_grad_norm -1 --torch_compile", "", "",
     {"--learning_rate: got fast; it must be a number.", "--sede: no such argument; did you mean --seed?", "--optim: there is no adamm; did you mean adam? The words are ",
      "--torch_compile: True cannot be used, since a step is not captured or compiled.", "--max_grad_norm: is -1.0; it must be at least 0."}},
};

}  // namespace

TEST_CASE("rote train: forty wrong command lines and files each end with exit code 2, one sentence a fault, and nothing written") {
  CHECK(std::size(kTable) >= 40);
  for (const Wrong& wrong : kTable) {
    CAPTURE(std::string(wrong.name));
    if (std::string(wrong.file).ends_with(".yaml") && !has_yaml()) continue;
    const AppFolder app;
    if (wrong.file[0]) app.folder.file(wrong.file, wrong.config);
    const AppResult result = app.train("out", wrong.line);
    CHECK(result.status == 2);
    CHECK(result.out == "");
    CHECK_FALSE(fs::exists(app.file("out")));
    std::vector<std::string> lines = lines_of(result.err);
    std::erase_if(lines, [](const std::string& line) { return contains(line, " is the older name of ") || contains(line, " has no effect, "); });
    CHECK_MESSAGE(lines.size() == wrong.sentences.size(), result.err);
    if (lines.empty()) continue;
    CHECK_MESSAGE(lines[0].starts_with("rote train: "), result.err);
    lines[0] = lines[0].substr(std::string("rote train: ").size());
    for (size_t i = 0; i < lines.size() && i < wrong.sentences.size(); ++i) {
      CHECK_MESSAGE(lines[i].starts_with(wrong.sentences[i]), lines[i]);
      CHECK_MESSAGE((lines[i].ends_with(".") || lines[i].ends_with("?")), lines[i]);
      CHECK_FALSE(contains(lines[i], "nvalid"));
    }
  }
}

TEST_CASE("rote train --config: a run told by a file is the run told by the line, and the line wins") {
  const AppFolder app;
  app.folder.file("run.json", R"({"model_name_or_path": "model", "train_file": "train.tsv", "max_seq_length": 16, "per_device_train_batch_size": 4, "num_train_epochs": 9,
      "learning_rate": 1e-2, "warmup_ratio": 0.1, "save_strategy": "no", "output_dir": "by_file"})");
  REQUIRE(app.train("by_line", "").status == 0);
  const AppResult by_file = app.rote("train --config run.json --num_train_epochs 2");
  REQUIRE_MESSAGE(by_file.status == 0, by_file.err);
  CHECK(contains(by_file.err, "run.json: warmup_ratio: is the older name of warmup_steps."));
  CHECK(app.hash("by_file") == app.hash("by_line"));
  app.folder.file("run.yaml", "model_name_or_path: by_file\nvalidation_file: test.tsv\n");
  if (!has_yaml()) return;
  const AppResult scores = app.rote("evaluate --config run.yaml");
  CHECK_MESSAGE(contains(scores.out, "eval_accuracy"), scores.err);
}

TEST_CASE("rote train --config: aliases are names, true resumes, and a file of anything else ends soon") {
  const AppFolder app;
  REQUIRE(app.train("line", "--max_length 12 --max_steps 3 --save_strategy steps --save_steps 2").status == 0);
  const std::string rest = "train --model_name_or_path model --train_file train.tsv --per_device_train_batch_size 4 --learning_rate 1e-2 --warmup_steps 0.1 --save_strategy no ";
  const auto trained = [&](const std::string& name, const std::string& text, const std::string& out) {
    app.folder.file(name, text);
    const AppResult result = app.rote(rest + "--config " + name + " --output_dir " + out);
    CHECK_MESSAGE(result.status == 0, result.err);
    return app.hash(out);
  };
  CHECK(trained("a.json", R"({"max_length": 12, "max_steps": 3})", "json") == app.hash("line"));
  CHECK(trained("b.json", R"({"block_size": 12, "max_steps": 3, "resume_from_checkpoint": true})", "line") == app.hash("json"));
  CHECK(trained("c.json", R"({"max_length": 12, "max_steps": 3, "resume_from_checkpoint": false})", "json") == app.hash("line"));
  if (has_yaml()) CHECK(trained("a.yaml", "max_length: 12\nmax_steps: 3\nresume_from_checkpoint: true\n", "line") == app.hash("json"));
  std::string few = "{", many = "{";
  for (int64_t i = 0; i < 30; ++i) few += str(i ? ", " : "", "\"none_of_ours_", i, "\": 1");
  for (int64_t i = 0; i < 100000; ++i) many += str(i ? ", " : "", "\"none_of_ours_", i, "\": 1");
  app.folder.file("few.json", few + "}");
  const AppResult told = app.rote(rest + "--config few.json --output_dir x");
  CHECK(lines_of(told.err).size() == 21);
  CHECK(contains(told.err, "few.json: 10 more names are no arguments."));
  app.folder.file("many.json", many + "}");
  CHECK(contains(app.rote(rest + "--config many.json --output_dir x", "ulimit -t 1").err, "many.json: has more than 1000 names; it is no file of arguments."));
  CHECK_FALSE(fs::exists(app.file("x")));
}

}  // namespace rote::testing

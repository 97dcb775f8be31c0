// tests/trainer/arguments_test.cpp — TrainingArguments: the rules of the rows, derived values. Rules across rows: argument_rules_test.cpp; text forms: argument_text_test.cpp.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/argument_text.h"
#include "trainer/data_arguments.h"
#include "trainer/rote_arguments.h"

using namespace rote;

namespace {

// The texts of all faults of `args`.
std::string faults_of(TrainingArguments args) {
  std::string text;
  for (const std::string& fault : resolve(args)) text += fault + "\n";
  return text;
}

}  // namespace

TEST_CASE("arguments: a number is printed as it was given") {
  const ValueMap map = to_map(TrainingArguments{.num_train_epochs = 2, .learning_rate = 1e-4, .warmup_steps = 0.1, .save_steps = 12.0});
  CHECK(*map.find("num_train_epochs") == Value(2));
  CHECK(*map.find("learning_rate") == Value(1e-4));
  CHECK(*map.find("warmup_steps") == Value(0.1));
  CHECK(*map.find("save_steps") == Value(12.0));
  CHECK(resolved(TrainingArguments{.save_steps = 12.0}).save_steps.whole);
}

TEST_CASE("arguments: warm-up below 1 is a share of the run, rounded up") {
  CHECK(TrainingArguments{}.get_warmup_steps(506) == 0);
  CHECK(TrainingArguments{.warmup_steps = 0.1}.get_warmup_steps(506) == 51);
  CHECK(TrainingArguments{.warmup_steps = 1}.get_warmup_steps(506) == 1);
  CHECK(TrainingArguments{.warmup_steps = 7.9}.get_warmup_steps(506) == 7);
}

TEST_CASE("arguments: what follows from the rest is filled in, and resolving twice changes nothing") {
  const TrainingArguments args = resolved(TrainingArguments{.logging_steps = 20,
                                                            .log_level = LogLevel::error,
                                                            .report_to = {"none"},
                                                            .eval_strategy = IntervalStrategy::steps,
                                                            .save_steps = 40,
                                                            .load_best_model_at_end = true});
  CHECK(args.do_eval);
  CHECK(*args.eval_steps == 20);
  CHECK(*args.metric_for_best_model == "loss");
  CHECK(*args.greater_is_better == false);
  CHECK(*args.disable_tqdm == false);  // an error level leaves the bar out and this as it is
  CHECK(args.report_to.empty());
  CHECK(args.best_metric_key() == "eval_loss");
  CHECK(to_json_string(resolved(args)) == to_json_string(args));
  CHECK(*resolved(TrainingArguments{.metric_for_best_model = "f1"}).greater_is_better == true);
  CHECK(*resolved(TrainingArguments{.metric_for_best_model = "acc", .greater_is_better = false}).greater_is_better == false);
  CHECK(TrainingArguments{.seed = 7}.sampler_seed() == 7);
  CHECK(TrainingArguments{.seed = 7, .data_seed = 8}.sampler_seed() == 8);
}

TEST_CASE("arguments: what is derived, of one process on one device (1.14)") {
  const TrainingArguments args = resolved(TrainingArguments{.per_device_train_batch_size = 3, .log_level = LogLevel::info, .per_device_eval_batch_size = 5, .ddp_timeout = 60});
  CHECK(args.train_batch_size() == 3);
  CHECK(args.eval_batch_size() == 5);
  CHECK(args.n_gpu() == 0);
  CHECK(args.world_size() == 1);
  CHECK(args.process_index() + args.local_process_index() == 0);
  CHECK(args.parallel_mode() == "not_parallel");
  CHECK(args.device() == "cpu");
  CHECK(args.should_log());
  CHECK(args.should_save());
  CHECK(args.get_process_log_level() == LogLevel::info);
  CHECK(args.ddp_timeout_delta() == 60);
}

TEST_CASE("arguments: a tilde in output_dir is the home folder") {
  const std::string dir = resolved(TrainingArguments{.output_dir = "~/runs"}).output_dir;
  CHECK(dir == std::string(getenv("HOME") ? getenv("HOME") : "~") + "/runs");
  CHECK(resolved(TrainingArguments{.output_dir = "a~b"}).output_dir == "a~b");
}

TEST_CASE("arguments: each rule refuses with one sentence that names the argument") {
  using T = TrainingArguments;
  const auto steps = IntervalStrategy::steps;
  CHECK(faults_of(T{}) == "");
  CHECK(faults_of(T{.per_device_train_batch_size = 0}) == "--per_device_train_batch_size: is 0; it must be at least 1 and below 1048576.\n");
  CHECK(faults_of(T{.gradient_accumulation_steps = 0}) == "--gradient_accumulation_steps: is 0; it must be at least 1 and below 1048576.\n");
  CHECK(faults_of(T{.num_train_epochs = -1}) == "--num_train_epochs: is -1; it must be at least 0 and below 1048576.\n");
  CHECK(faults_of(T{.learning_rate = -1e-4}) == "--learning_rate: is -0.0001; it must be at least 0.\n");
  CHECK(faults_of(T{.warmup_steps = -1}) == "--warmup_steps: is -1; it must be at least 0 and below 1000000000.\n");
  CHECK(faults_of(T{.max_grad_norm = -0.5}) == "--max_grad_norm: is -0.5; it must be at least 0.\n");
  CHECK(faults_of(T{.seed = -1}) == "--seed: is -1; it must be at least 0 and below 4294967296.\n");
  CHECK(faults_of(T{.lr_scheduler_type = "cosin"}) ==
        "--lr_scheduler_type: there is no cosin; did you mean cosine? The words are linear, cosine, cosine_with_restarts, polynomial, constant, "
        "constant_with_warmup, inverse_sqrt, cosine_with_min_lr, cosine_warmup_with_min_lr, warmup_stable_decay, reduce_lr_on_plateau, greedy.\n");
  CHECK(faults_of(T{.lr_scheduler_type = "greedy"}) == "--lr_scheduler_type: greedy follows a metric, but --eval_strategy is no; set it to steps or epoch.\n");
  CHECK(faults_of(T{.label_smoothing_factor = 1}) == "--label_smoothing_factor: is 1; it must be at least 0 and below 1.\n");
  CHECK(faults_of(T{.optim = "sgdx"}) == "--optim: there is no sgdx; did you mean sgd? The words are adamw_torch, adamw_torch_fused, adamw_anyprecision, sgd, adagrad, rmsprop, adafactor, "
        "lion_32bit, ademamix, adamw_hf, adam, sgdw, adadelta, adamax, nadam, radam, rprop, asgd.\n");
  CHECK(faults_of(T{.logging_steps = 0}) ==
        "--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no.\n");
  CHECK(faults_of(T{.logging_strategy = IntervalStrategy::epoch, .logging_steps = 0}) == "");
  CHECK(faults_of(T{.logging_steps = -1}) == "--logging_steps: is -1; it must be at least 0 and below 1000000000.\n");
  CHECK(faults_of(T{.logging_steps = 2.5}) == "--logging_steps: is 2.5; above 1 it must be a whole number of steps, below 1 a share of the run.\n");
  CHECK(faults_of(T{.save_steps = 1.5}).find("--save_steps: is 1.5;") == 0);
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 7.25}).find("--eval_steps: is 7.25;") == 0);
  CHECK(faults_of(T{.logging_strategy = IntervalStrategy::no, .logging_steps = 0, .eval_strategy = steps}).find("--eval_steps: is needed with") == 0);
  CHECK(faults_of(T{.report_to = {"wandb"}}) == "--report_to: wandb cannot be used, since its writer is not there yet.\n");
  CHECK(faults_of(T{.report_to = {"neptune"}}) == "--report_to: neptune cannot be used, since the service has ended.\n");
  CHECK(faults_of(T{.report_to = {"nune"}}) == "--report_to: there is no nune; did you mean none? The words are none, all, tensorboard, trackio.\n");
}

TEST_CASE("arguments: the best model needs evaluations that fall on saves") {
  using T = TrainingArguments;
  const auto steps = IntervalStrategy::steps;
  CHECK(faults_of(T{.load_best_model_at_end = true}) ==
        "--load_best_model_at_end: needs evaluations, but --eval_strategy is no; set it to the same as --save_strategy.\n");
  CHECK(faults_of(T{.eval_strategy = steps, .save_strategy = SaveStrategy::epoch, .load_best_model_at_end = true}) ==
        "--load_best_model_at_end: needs --eval_strategy and --save_strategy to be the same, but they are steps and epoch.\n");
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 20, .save_steps = 30, .load_best_model_at_end = true}) ==
        "--load_best_model_at_end: needs --save_steps to be a multiple of --eval_steps, but they are 30 and 20.\n");
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 0.1, .save_steps = 0.3, .load_best_model_at_end = true}) == "");
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 0.2, .save_steps = 0.3, .load_best_model_at_end = true}) != "");
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 0.5, .save_steps = 3, .load_best_model_at_end = true}) == "");
  CHECK(faults_of(T{.eval_strategy = steps, .eval_steps = 2, .save_steps = 0.5, .load_best_model_at_end = true}) ==
        "--load_best_model_at_end: needs --save_steps to be a multiple of --eval_steps, but they are 0.5 and 2.\n");
  CHECK(faults_of(T{.save_strategy = SaveStrategy::best, .metric_for_best_model = "loss"})
            .find("--save_strategy: is best, but --eval_strategy is no;") == 0);
  CHECK(faults_of(T{.eval_strategy = steps, .save_strategy = SaveStrategy::best}) ==
        "--metric_for_best_model: is needed with --save_strategy best; loss will do.\n");
  CHECK(faults_of(T{.eval_strategy = steps, .save_strategy = SaveStrategy::best, .metric_for_best_model = "f1"}) == "");
}

TEST_CASE("arguments: all faults are told at once") {
  CHECK_THROWS_WITH_AS(resolved(TrainingArguments{.per_device_train_batch_size = 0, .seed = -1}),
                       "--per_device_train_batch_size: is 0; it must be at least 1 and below 1048576.\n--seed: is -1; it must be at least 0 and below 4294967296.",
                       ArgumentError);
}

TEST_CASE("data arguments: columns may be given with commas, more than a pair is refused") {
  DataArguments args{.text_column_names = {"question,answer"}};
  CHECK(resolve(args).empty());
  CHECK(args.text_column_names == std::vector<std::string>{"question", "answer"});
  args.text_column_names = {"a", "b", "c"};
  CHECK(resolve(args) == std::vector<std::string>{"--text_column_names: names 3 columns; a model takes one text or a pair of two."});
}

// trainer/arguments.cpp — the rows of TrainingArguments and the rules across them. No parsing.
#include "trainer/arguments.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/check.h"
#include "optim/metric_schedule.h"
#include "optim/registry.h"
#include "optim/schedule.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"
#include "trainer/rote_arguments.h"

namespace rote {

namespace {

// Counts stay below this, so that products of two of them and a batch fit 64 bits.
constexpr int64_t kMany = int64_t{1} << 20;
constexpr int64_t kMostSteps = 1'000'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();  // as a bound it refuses itself and NaN

using T = TrainingArguments;

// Seeds are the 32 bits that the generator of the data order takes.
constexpr int64_t kSeedEnd = int64_t{1} << 32;

std::vector<Value> words(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// Writers for these come later; their names are known so that the refusal can say so.
const char* const kReporters[] = {"tensorboard", "wandb",   "mlflow",   "comet_ml",   "clearml", "swanlab", "trackio",
                                  "dvclive",     "dagshub", "azure_ml", "codecarbon", "flyte",   "kubeflow"};

std::string reporter_fault(const std::string& name) {
  if (name == "neptune") return "--report_to: neptune cannot be used, the service has ended; only none is there.";
  for (const char* known : kReporters)
    if (name == known) return "--report_to: " + name + " has no writer yet; only none is there.";
  const std::string none = "none";
  return "--report_to: there is no reporter " + name + "; did you mean " + none + "?";
}

void resolve_reporters(T& args, std::vector<std::string>& faults) {
  std::vector<std::string> kept;
  for (const std::string& name : args.report_to) {
    if (name == "none" || name == "all") continue;  // all = every writer that is there
    faults.push_back(reporter_fault(name));
    kept.push_back(name);
  }
  args.report_to = kept;
}

void resolve_output_dir(T& args) {
  const char* home = std::getenv("HOME");
  if (home && (args.output_dir == "~" || args.output_dir.starts_with("~/"))) args.output_dir = home + args.output_dir.substr(1);
}

// From 1 on a number of steps is whole, and is kept as an integer.
void check_whole(const char* name, Number& steps, std::vector<std::string>& faults) {
  if (!(steps > 1)) return;
  if (std::isfinite(steps) && steps == std::floor(steps)) steps.whole = true;
  else faults.push_back(str("--", name, ": is ", python_float(steps), "; above 1 it must be a whole number of steps, below 1 a share of the run."));
}

void resolve_steps(T& args, std::vector<std::string>& faults) {
  if (args.eval_strategy != IntervalStrategy::no) args.do_eval = true;
  const bool eval_by_step = args.eval_strategy == IntervalStrategy::steps;
  if (eval_by_step && (!args.eval_steps || *args.eval_steps == 0)) {
    if (args.logging_steps > 0) args.eval_steps = args.logging_steps;
    else faults.push_back("--eval_steps: is needed with --eval_strategy steps, since --logging_steps gives none either.");
  }
  if (args.logging_strategy == IntervalStrategy::steps) {
    if (args.logging_steps == 0)
      faults.push_back("--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no.");
    check_whole("logging_steps", args.logging_steps, faults);
  }
  if (eval_by_step && args.eval_steps) check_whole("eval_steps", *args.eval_steps, faults);
  if (args.save_strategy == SaveStrategy::steps) check_whole("save_steps", args.save_steps, faults);
}

// Saves must fall on evaluations, or the best step of the run may have no folder.
bool is_multiple(double save_steps, double eval_steps) {
  if (save_steps < 1 && eval_steps < 1) {
    const double scale = 1e6;  // shares are compared as millionths: 0.3 is no multiple of 0.1 in binary
    return std::fmod(std::round(save_steps * scale), std::round(eval_steps * scale)) == 0;
  }
  return std::fmod(save_steps, eval_steps) == 0;
}

std::vector<std::string> schedule_words() {
  std::vector<std::string> all = optim::schedule_names();
  all.insert(all.end(), optim::metric_schedule_names().begin(), optim::metric_schedule_names().end());
  return all;
}

bool follows_metric(const std::string& schedule) {
  const std::vector<std::string>& names = optim::metric_schedule_names();
  return std::find(names.begin(), names.end(), schedule) != names.end();
}

void resolve_best_model(T& args, std::vector<std::string>& faults) {
  const bool evaluates = args.eval_strategy != IntervalStrategy::no;
  if (args.save_strategy == SaveStrategy::best && !evaluates)
    faults.push_back("--save_strategy: is best, but --eval_strategy is no; only an evaluation can find the best, so set it to steps or epoch.");
  if (args.load_best_model_at_end && args.save_strategy != SaveStrategy::best) {
    const std::string eval = word_of(args.eval_strategy), save = word_of(args.save_strategy);
    if (!evaluates)
      faults.push_back("--load_best_model_at_end: needs evaluations, but --eval_strategy is no; set it to the same as --save_strategy.");
    else if (eval != save)
      faults.push_back("--load_best_model_at_end: needs --eval_strategy and --save_strategy to be the same, but they are " + eval + " and " + save +
                       ".");
    else if (eval == "steps" && args.eval_steps && *args.eval_steps > 0 && !is_multiple(args.save_steps, *args.eval_steps))
      faults.push_back(str("--load_best_model_at_end: needs --save_steps to be a multiple of --eval_steps, but they are ",
                           python_str(args.save_steps), " and ", python_str(*args.eval_steps), "."));
  }
  const bool by_metric = follows_metric(args.lr_scheduler_type);
  if (by_metric && !evaluates)
    faults.push_back("--lr_scheduler_type: " + args.lr_scheduler_type + " follows a metric, but --eval_strategy is no; set it to steps or epoch.");
  if ((args.load_best_model_at_end || by_metric) && !args.metric_for_best_model) args.metric_for_best_model = "loss";
  if (args.save_strategy == SaveStrategy::best && !args.metric_for_best_model)
    faults.push_back("--metric_for_best_model: is needed with --save_strategy best; loss will do.");
  if (args.metric_for_best_model && !args.greater_is_better) args.greater_is_better = !args.metric_for_best_model->ends_with("loss");
}

std::vector<std::string> resolve_all(T& args) {
  std::vector<std::string> faults;
  resolve_output_dir(args);
  if (!args.disable_tqdm) args.disable_tqdm = args.log_level == LogLevel::error || args.log_level == LogLevel::critical;
  if (args.activation_checkpointing_kwargs)
    for (const auto& [name, value] : *args.activation_checkpointing_kwargs)
      if (name != "every_n_layers" || value.as_int() == nullptr || *value.as_int() < 1)
        faults.push_back("--activation_checkpointing_kwargs: has " + name + " " + json_text(value) + "; it takes every_n_layers, a whole number from 1 on.");
  if (!std::isfinite(args.num_train_epochs))
    faults.push_back("--num_train_epochs: is " + python_float(args.num_train_epochs) + "; it must be finite, and --max_steps bounds a run too.");
  resolve_steps(args, faults);
  resolve_best_model(args, faults);
  resolve_reporters(args, faults);
  return faults;
}

ArgumentTable<T> make_table() {
  return {
      "training",
      {
          field(&T::output_dir, {.name = "output_dir", .help = "folder for checkpoints and the final model"}),
          field(&T::per_device_train_batch_size,
                {.name = "per_device_train_batch_size", .help = "size of a micro-batch", .unit = "rows", .at_least = 1, .below = kMany}),
          field(&T::num_train_epochs,
                {.name = "num_train_epochs", .help = "length of the run; a fraction cuts the last one", .unit = "epochs", .at_least = 0, .below = kMany}),
          field(&T::max_steps, {.name = "max_steps", .help = "length of the run; above 0 it overrides the epochs", .unit = "updates", .below = kMany}),
          field(&T::learning_rate, {.name = "learning_rate", .help = "rate that the schedule scales", .at_least = 0}),
          field(&T::lr_scheduler_type, {.name = "lr_scheduler_type", .help = "schedule of the rate", .words = words(schedule_words())}),
          field(&T::lr_scheduler_kwargs, {.name = "lr_scheduler_kwargs", .help = "options of the schedule, as {\"num_cycles\": 2}"}),
          field(&T::warmup_steps,
                {.name = "warmup_steps", .help = "linear rise from 0, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::optim, {.name = "optim", .help = "optimizer", .words = words(optim::optimizer_names())}),
          field(&T::optim_args, {.name = "optim_args", .help = "options of the optimizer, as momentum=0.9,nesterov=true"}),
          field(&T::weight_decay, {.name = "weight_decay", .help = "decay of weights, none of biases and norms"}),
          field(&T::adam_beta1, {.name = "adam_beta1", .help = "decay of the mean of gradients"}),
          field(&T::adam_beta2, {.name = "adam_beta2", .help = "decay of the mean of squared gradients"}),
          field(&T::adam_epsilon, {.name = "adam_epsilon", .help = "added to the root of that mean"}),
          field(&T::gradient_accumulation_steps, {.name = "gradient_accumulation_steps", .help = "micro-batches of one update", .at_least = 1, .below = kMany}),
          field(&T::max_grad_norm, {.name = "max_grad_norm", .help = "norm to which gradients are clipped, 0 for no clipping", .at_least = 0}),
          field(&T::label_smoothing_factor,
                {.name = "label_smoothing_factor", .help = "share of a target that is spread over all classes", .at_least = 0, .below = 1}),
          field(&T::activation_checkpointing,
                {.name = "activation_checkpointing", .help = "layers keep their inputs only and run again in backward: less memory, the same bits"}),
          field(&T::activation_checkpointing_kwargs, {.name = "activation_checkpointing_kwargs", .help = "{\"every_n_layers\": 2} for every second layer"}),
          field(&T::use_cache, {.name = "use_cache", .help = "what the saved config.json says of use_cache, where it says it"}),
          field(&T::neftune_noise_alpha, {.name = "neftune_noise_alpha", .help = "noise on the embeddings of training rows (NEFTune)", .at_least = 0, .below = kInfinity}),
          field(&T::auto_find_batch_size,
                {.name = "auto_find_batch_size", .help = "smaller micro-batches, more of them an update, where memory does not reach (--memory_limit)"}),
          field(&T::logging_strategy, {.name = "logging_strategy", .help = "when to log"}),
          field(&T::logging_steps,
                {.name = "logging_steps", .help = "between two logs, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::logging_first_step, {.name = "logging_first_step", .help = "log after update 1 as well"}),
          field(&T::logging_nan_inf_filter,
                {.name = "logging_nan_inf_filter", .help = "leave batches with a non-finite loss out of eval_loss; eval_nonfinite_steps counts them"}),
          field(&T::include_num_input_tokens_seen,
                {.name = "include_num_input_tokens_seen", .help = "count and log input tokens", .flag_word = "all"}),
          field(&T::log_level, {.name = "log_level", .help = "error and critical leave the progress bar out"}),
          field(&T::disable_tqdm, {.name = "disable_tqdm", .help = "print log lines instead of a progress bar"}),
          field(&T::report_to, {.name = "report_to", .help = "trackers to write to: none", .one_word = true}),
          field(&T::run_name, {.name = "run_name", .help = "name of the run for trackers"}),
          field(&T::eval_strategy, {.name = "eval_strategy", .help = "when to evaluate during training"}),
          field(&T::eval_steps, {.name = "eval_steps",
                                 .help = "between two evaluations, below 1 a share of the run; else logging_steps",
                                 .unit = "updates",
                                 .at_least = 0,
                                 .below = kMostSteps}),
          field(&T::eval_delay, {.name = "eval_delay", .help = "no evaluation before this point", .unit = "updates or epochs", .below = kInfinity}),
          field(&T::per_device_eval_batch_size,
                {.name = "per_device_eval_batch_size", .help = "size of a batch in evaluation", .unit = "rows", .at_least = 1, .below = kMany}),
          field(&T::prediction_loss_only, {.name = "prediction_loss_only", .help = "evaluate the loss alone"}),
          field(&T::eval_on_start, {.name = "eval_on_start", .help = "evaluate before the first update"}),
          field(&T::eval_do_concat_batches, {.name = "eval_do_concat_batches", .help = "metrics see all rows at once; else a list of batches"}),
          field(&T::eval_accumulation_steps,
                {.name = "eval_accumulation_steps", .help = "batches between moves to host memory", .at_least = 1, .action = FieldAction::ignore, .reason = "outputs are in host memory"}),
          field(&T::include_for_metrics, {.name = "include_for_metrics", .help = "what metrics see beside outputs and labels", .words = {"inputs", "loss"}}),
          field(&T::batch_eval_metrics, {.name = "batch_eval_metrics", .help = "metrics are computed batch by batch, nothing is kept"}),
          field(&T::save_only_model, {.name = "save_only_model", .help = "checkpoints without what a resume needs"}),
          field(&T::save_strategy, {.name = "save_strategy", .help = "when to save a checkpoint"}),
          field(&T::save_steps,
                {.name = "save_steps", .help = "between two checkpoints, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::save_total_limit, {.name = "save_total_limit", .help = "checkpoints to keep, the newest and the best always"}),
          field(&T::enable_jit_checkpoint, {.name = "enable_jit_checkpoint", .help = "on SIGTERM save a checkpoint after the update under way, then end"}),
          field(&T::load_best_model_at_end, {.name = "load_best_model_at_end", .help = "end with the weights of the best evaluation"}),
          field(&T::metric_for_best_model, {.name = "metric_for_best_model", .help = "what the best is judged by, loss where it is needed"}),
          field(&T::greater_is_better, {.name = "greater_is_better", .help = "direction of that metric, else by whether its name ends in loss"}),
          field(&T::ignore_data_skip, {.name = "ignore_data_skip", .help = "resume at the start of the epoch, not within"}),
          field(&T::restore_callback_states_from_checkpoint,
                {.name = "restore_callback_states_from_checkpoint", .help = "callbacks take their options too from the checkpoint, not only what they counted"}),
          field(&T::full_determinism, {.name = "full_determinism", .help = "demand what holds in any case: no bit hangs on threads or machine"}),
          field(&T::seed, {.name = "seed", .help = "seed of weights, dropout and data order", .at_least = 0, .below = kSeedEnd}),
          field(&T::data_seed, {.name = "data_seed", .help = "seed of the data order, else seed", .at_least = 0, .below = kSeedEnd}),
          field(&T::use_cpu, {.name = "use_cpu", .help = "stay on the CPU where a GPU is there"}),
          field(&T::dataloader_drop_last, {.name = "dataloader_drop_last", .help = "leave out a short last batch of a training epoch"}),
          field(&T::remove_unused_columns, {.name = "remove_unused_columns", .help = "drop columns that the model does not take"}),
          field(&T::label_names, {.name = "label_names", .help = "columns that count as labels, else those the model declares"}),
          field(&T::train_sampling_strategy, {.name = "train_sampling_strategy", .help = "order of the training rows"}),
          field(&T::length_column_name, {.name = "length_column_name", .help = "column of lengths for group_by_length, else they are counted"}),
          field(&T::skip_memory_metrics, {.name = "skip_memory_metrics", .help = "leave bytes allocated and peaks out of the metrics"}),
          field(&T::do_train, {.name = "do_train", .help = "for scripts: train"}),
          field(&T::do_eval, {.name = "do_eval", .help = "for scripts: evaluate, set by eval_strategy"}),
          field(&T::do_predict, {.name = "do_predict", .help = "for scripts: predict"}),
          field(&T::resume_from_checkpoint, {.name = "resume_from_checkpoint", .help = "checkpoint folder to go on from, true: the newest good one"}),
      },
      resolve_all,
  };
}

}  // namespace

const ArgumentTable<TrainingArguments>& TrainingArguments::table() {
  static const ArgumentTable<TrainingArguments> rows = make_table();
  return rows;
}

int64_t TrainingArguments::get_warmup_steps(int64_t total) const {
  if (warmup_steps >= 1) return static_cast<int64_t>(warmup_steps);
  return static_cast<int64_t>(std::ceil(static_cast<double>(total) * warmup_steps));
}

std::string TrainingArguments::best_metric_key() const {
  ROTE_ASSERT(metric_for_best_model.has_value(), "best_metric_key is asked only where a metric is named");
  return metric_for_best_model->starts_with("eval_") ? *metric_for_best_model : "eval_" + *metric_for_best_model;
}

int64_t TrainingArguments::checkpointed_layers() const {
  if (!activation_checkpointing) return 0;
  const Value* every = activation_checkpointing_kwargs ? activation_checkpointing_kwargs->find("every_n_layers") : nullptr;
  return every != nullptr ? *every->as_int() : 1;
}

std::string to_json_string(const TrainingArguments& args) { return json_text(to_map(args)); }

std::string training_args_file(const TrainingArguments& args, const RoteArguments& rote) {
  ValueMap map = to_map(args);
  map.set("rote", to_map(rote));
  return json_text(map) + "\n";
}

std::pair<TrainingArguments, RoteArguments> parse_training_args_file(const std::string& text, const std::string& who) {
  const Value read = parse_json(text, who);
  const ValueMap* map = read.as_map();
  ROTE_CHECK(map, ArgumentError, who, ": holds no map of arguments; it must be a training_args.json that Rote wrote.");
  const FromMap options{.allow_extra_keys = true, .who = who};
  std::pair<TrainingArguments, RoteArguments> out{from_map<TrainingArguments>(*map, options), {}};
  if (const Value* rote = map->find("rote"); rote && rote->as_map()) out.second = from_map<RoteArguments>(*rote->as_map(), options);
  return out;
}

}  // namespace rote

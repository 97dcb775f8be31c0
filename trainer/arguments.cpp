// trainer/arguments.cpp — the rows of TrainingArguments, in the order of to_dict, then the names of older versions. Rules across rows: argument_rules.cpp.
#include "trainer/arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/metric_schedule.h"
#include "optim/registry.h"
#include "optim/schedule.h"
#include "trainer/argument_reasons.h"

namespace rote {

namespace {

// Counts stay below this, so that products of two of them and a batch fit 64 bits.
constexpr int64_t kMany = int64_t{1} << 20;
constexpr int64_t kMostSteps = 1'000'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();  // as a bound it refuses itself and NaN

using T = TrainingArguments;

// Seeds are the 32 bits that the generator of the data order takes.
constexpr int64_t kSeedEnd = int64_t{1} << 32;

const std::vector<std::string>& schedule_words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = optim::schedule_names();
    names.insert(names.end(), optim::metric_schedule_names().begin(), optim::metric_schedule_names().end());
    return names;
  }();
  return all;
}

constexpr FieldAction kMap = FieldAction::map, kIgnore = FieldAction::ignore, kReject = FieldAction::reject;

constexpr const char* kNoHub = "since nothing is pushed to a hub";
constexpr const char* kNoPython = "since it is a Python package";
constexpr const char* kNoSpace = "since it needs the Hugging Face hub";
constexpr const char* kNoWorkers = "since batches are made by the threads of the process";
constexpr const char* k8Bit = "since states of 8 or 4 bits are not built";
constexpr const char* kLowRank = "since low-rank optimizers are not built";
constexpr const char* kLayerwise = "since layer-wise updates are not built";
constexpr const char* kOwnAutocast = "since the engine has an autocast of its own";
constexpr const char* kNotBuilt = "since it is not built";

constexpr WordRule kOptimRules[] = {
    {"adamw_torch_xla", kMap, "adamw_torch"},
    {"adamw_torch_npu_fused", kMap, "adamw_torch"},
    {"paged_adamw_32bit", kMap, "adamw_torch"},
    {"paged_lion_32bit", kMap, "lion_32bit"},
    {"paged_ademamix_32bit", kMap, "ademamix"},
    {"rmsprop_bnb", kMap, "rmsprop"},
    {"rmsprop_bnb_32bit", kMap, "rmsprop"},
    {"adamw_bnb_8bit", kReject, k8Bit},
    {"adamw_8bit", kReject, k8Bit},
    {"ademamix_8bit", kReject, k8Bit},
    {"lion_8bit", kReject, k8Bit},
    {"paged_adamw_8bit", kReject, k8Bit},
    {"paged_ademamix_8bit", kReject, k8Bit},
    {"paged_lion_8bit", kReject, k8Bit},
    {"rmsprop_bnb_8bit", kReject, k8Bit},
    {"adamw_torch_4bit", kReject, k8Bit},
    {"adamw_torch_8bit", kReject, k8Bit},
    {"galore_adamw", kReject, kLowRank},
    {"galore_adamw_8bit", kReject, kLowRank},
    {"galore_adafactor", kReject, kLowRank},
    {"galore_adamw_layerwise", kReject, kLayerwise},
    {"galore_adamw_8bit_layerwise", kReject, kLayerwise},
    {"galore_adafactor_layerwise", kReject, kLayerwise},
    {"apollo_adamw", kReject, kLowRank},
    {"apollo_adamw_layerwise", kReject, kLayerwise},
    {"lomo", kReject, kNotBuilt},
    {"adalomo", kReject, kNotBuilt},
    {"grokadamw", kReject, kNotBuilt},
    {"schedule_free_radam", kReject, kNotBuilt},
    {"schedule_free_adamw", kReject, kNotBuilt},
    {"schedule_free_sgd", kReject, kNotBuilt},
    {"stable_adamw", kReject, kNotBuilt},
    {"adamw_apex_fused", kReject, "since apex is a Python package; adamw_torch is the same update"},
};
constexpr const char* kNoWriter = "since its writer is not there yet";
constexpr WordRule kReporterRules[] = {
    {"wandb", kReject, kNoWriter},       {"mlflow", kReject, kNoWriter},   {"comet_ml", kReject, kNoWriter},
    {"clearml", kReject, kNoWriter},     {"swanlab", kReject, kNoWriter}, {"dvclive", kReject, kNoWriter},
    {"dagshub", kReject, kNoWriter},     {"azure_ml", kReject, kNoWriter}, {"codecarbon", kReject, kNoWriter}, {"flyte", kReject, kNoWriter},
    {"kubeflow", kReject, kNoWriter},    {"neptune", kReject, "since the service has ended"},
};
constexpr WordRule kTf32Rules[] = {{"True", kReject, "since the CPU computes in float32"}};
constexpr WordRule kDebugRules[] = {{"tpu_metrics_debug", kReject, kNoDevice}};
constexpr WordRule kSafetensorsRules[] = {{"False", kReject, "since weights are saved as safetensors, never as a pickle"}};
constexpr WordRule kBackendRules[] = {{"cpu_amp", kIgnore, kOwnAutocast}, {"hpu_amp", kIgnore, kOwnAutocast}, {"apex", kReject, kNoPython}};
constexpr WordRule kOptLevelRules[] = {{"O0", kReject, kNoPython}, {"O2", kReject, kNoPython}, {"O3", kReject, kNoPython}};

const std::vector<std::string>& reporter_words() {
  static const std::vector<std::string> words = {"none", "all", "tensorboard", "trackio"};
  return words;
}
const std::vector<std::string>& metric_words() {
  static const std::vector<std::string> words = {"inputs", "loss"};
  return words;
}
const std::vector<std::string>& debug_words() {
  static const std::vector<std::string> words = {"underflow_overflow"};
  return words;
}
const std::vector<std::string>& auto_word() {
  static const std::vector<std::string> words = {"auto"};
  return words;
}
const std::vector<std::string>& o1_word() {
  static const std::vector<std::string> words = {"O1"};
  return words;
}
// A share of 1 is the whole run, not one update.
void warm_up_by_ratio(T& args, const Number& ratio) {
  if (args.warmup_steps == 0) args.warmup_steps = ratio < 1 ? ratio : Number(std::nextafter(1.0, 0.0));
}

void include_inputs(T& args, const bool& on) {
  std::vector<std::string>& names = args.include_for_metrics;
  if (on && std::find(names.begin(), names.end(), "inputs") == names.end()) names.push_back("inputs");
}

void split_batches(T& args, const bool& on) {
  if (!args.accelerator_config) args.accelerator_config = ValueMap();
  if (ValueMap* config = std::get_if<ValueMap>(&*args.accelerator_config)) config->set("split_batches", on);
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
          field(&T::lr_scheduler_type, {.name = "lr_scheduler_type", .help = "schedule of the rate", .words = schedule_words, .enum_name = "SchedulerType"}),
          field(&T::lr_scheduler_kwargs, {.name = "lr_scheduler_kwargs", .help = "options of the schedule, as {\"num_cycles\": 2}"}),
          field(&T::warmup_steps,
                {.name = "warmup_steps", .help = "linear rise from 0, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::optim, {.name = "optim", .help = "optimizer", .words = optim::optimizer_names, .rules = kOptimRules, .enum_name = "OptimizerNames"}),
          field(&T::optim_args, {.name = "optim_args", .help = "options of the optimizer, as momentum=0.9,nesterov=true or moments_dtype=bfloat16,split_master=true"}),
          field(&T::weight_decay, {.name = "weight_decay", .help = "decay of weights, none of biases and norms"}),
          field(&T::adam_beta1, {.name = "adam_beta1", .help = "decay of the mean of gradients"}),
          field(&T::adam_beta2, {.name = "adam_beta2", .help = "decay of the mean of squared gradients"}),
          field(&T::adam_epsilon, {.name = "adam_epsilon", .help = "added to the root of that mean"}),
          memberless<T>({.name = "optim_target_modules", .action = kReject, .reason = kLowRank}, Value()),
          field(&T::gradient_accumulation_steps, {.name = "gradient_accumulation_steps", .help = "micro-batches of one update", .at_least = 1, .below = kMany}),
          field(&T::average_tokens_across_devices, {.name = "average_tokens_across_devices", .action = kIgnore, .reason = kOneProcess}),
          field(&T::max_grad_norm, {.name = "max_grad_norm", .help = "norm to which gradients are clipped, 0 for no clipping", .at_least = 0}),
          field(&T::label_smoothing_factor,
                {.name = "label_smoothing_factor", .help = "share of a target that is spread over all classes", .at_least = 0, .below = 1}),
          field(&T::bf16, {.name = "bf16", .help = "compute matrix products and attention in bfloat16; weights stay in float32"}),
          field(&T::fp16, {.name = "fp16", .help = "the same in float16, with a loss scale"}),
          field(&T::bf16_full_eval, {.name = "bf16_full_eval", .help = "evaluate with the whole model in bfloat16"}),
          field(&T::fp16_full_eval, {.name = "fp16_full_eval", .help = "the same in float16"}),
          field(&T::tf32, {.name = "tf32", .rules = kTf32Rules, .action = kIgnore, .reason = "since the CPU computes in float32"}),
          field(&T::activation_checkpointing,
                {.name = "activation_checkpointing", .help = "layers keep their inputs only and run again in backward: less memory, the same bits",
                 .bare = true}),
          field(&T::activation_checkpointing_kwargs, {.name = "activation_checkpointing_kwargs", .help = "{\"every_n_layers\": 2} for every second layer"}),
          field(&T::gradient_checkpointing, {.name = "gradient_checkpointing", .action = kMap, .maps_to = "activation_checkpointing"}),
          field(&T::gradient_checkpointing_kwargs, {.name = "gradient_checkpointing_kwargs", .action = kMap, .maps_to = "activation_checkpointing_kwargs"}),
          memberless<T>({.name = "torch_compile", .action = kReject, .reason = kNoCapture}, false),
          memberless<T>({.name = "torch_compile_backend", .action = kReject, .reason = kNoCapture}, Value()),
          memberless<T>({.name = "torch_compile_mode", .action = kReject, .reason = kNoCapture}, Value()),
          memberless<T>({.name = "use_liger_kernel", .action = kReject, .reason = kNoPython}, false),
          memberless<T>({.name = "liger_kernel_config", .action = kReject, .reason = kNoPython}, Value()),
          field(&T::use_cache, {.name = "use_cache", .help = "what the saved config.json says of use_cache, where it says it"}),
          field(&T::neftune_noise_alpha, {.name = "neftune_noise_alpha", .help = "noise on the embeddings of training rows (NEFTune)", .at_least = 0, .below = kInfinity}),
          field(&T::torch_empty_cache_steps, {.name = "torch_empty_cache_steps", .at_least = 1, .action = kIgnore, .reason = "since the CPU has no device cache"}),
          field(&T::auto_find_batch_size,
                {.name = "auto_find_batch_size", .help = "smaller micro-batches, more of them an update, where memory does not reach (--memory_limit)"}),
          field(&T::logging_strategy, {.name = "logging_strategy", .help = "when to log", .enum_name = "IntervalStrategy"}),
          field(&T::logging_steps,
                {.name = "logging_steps", .help = "between two logs, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::logging_first_step, {.name = "logging_first_step", .help = "log after update 1 as well"}),
          field(&T::log_on_each_node, {.name = "log_on_each_node", .action = kIgnore, .reason = kOneProcess}),
          field(&T::logging_nan_inf_filter,
                {.name = "logging_nan_inf_filter", .help = "leave batches with a non-finite loss out of eval_loss; eval_nonfinite_steps counts them"}),
          field(&T::include_num_input_tokens_seen,
                {.name = "include_num_input_tokens_seen", .help = "count and log input tokens", .flag_word = "all"}),
          field(&T::log_level, {.name = "log_level", .help = "info tells the plan of a run; error and critical leave the progress bar out"}),
          field(&T::log_level_replica, {.name = "log_level_replica", .action = kIgnore, .reason = kOneProcess}),
          field(&T::disable_tqdm, {.name = "disable_tqdm", .help = "print log lines instead of a progress bar"}),
          field(&T::report_to, {.name = "report_to", .help = "trackers to write to", .words = reporter_words, .rules = kReporterRules, .one_word = true}),
          field(&T::run_name, {.name = "run_name", .help = "name of the run for trackers"}),
          field(&T::project, {.name = "project", .help = "of the run, for trackio"}),
          memberless<T>({.name = "trackio_space_id", .action = kReject, .reason = kNoSpace}, Value()),
          memberless<T>({.name = "trackio_bucket_id", .action = kReject, .reason = kNoSpace}, Value()),
          memberless<T>({.name = "trackio_static_space_id", .action = kReject, .reason = kNoSpace}, Value()),
          field(&T::eval_strategy, {.name = "eval_strategy", .help = "when to evaluate during training", .enum_name = "IntervalStrategy"}),
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
          field(&T::eval_use_gather_object, {.name = "eval_use_gather_object", .action = kIgnore, .reason = kOneProcess}),
          field(&T::eval_accumulation_steps, {.name = "eval_accumulation_steps", .at_least = 1, .action = kIgnore, .reason = "since outputs are in host memory"}),
          field(&T::include_for_metrics, {.name = "include_for_metrics", .help = "what metrics see beside outputs and labels", .words = metric_words}),
          field(&T::batch_eval_metrics, {.name = "batch_eval_metrics", .help = "metrics are computed batch by batch, nothing is kept"}),
          field(&T::save_only_model, {.name = "save_only_model", .help = "checkpoints without what a resume needs"}),
          field(&T::save_strategy, {.name = "save_strategy", .help = "when to save a checkpoint", .enum_name = "SaveStrategy"}),
          field(&T::save_steps,
                {.name = "save_steps", .help = "between two checkpoints, below 1 a share of the run", .unit = "updates", .at_least = 0, .below = kMostSteps}),
          field(&T::save_on_each_node, {.name = "save_on_each_node", .action = kIgnore, .reason = kOneProcess}),
          field(&T::save_total_limit, {.name = "save_total_limit", .help = "checkpoints to keep, the newest and the best always"}),
          field(&T::enable_jit_checkpoint, {.name = "enable_jit_checkpoint", .help = "on SIGTERM save a checkpoint after the update under way, then end"}),
          memberless<T>({.name = "push_to_hub", .action = kReject, .reason = kNoHub}, false),
          field(&T::hub_token, {.name = "hub_token", .action = kIgnore, .reason = kNoHub}),
          field(&T::hub_private_repo, {.name = "hub_private_repo", .action = kIgnore, .reason = kNoHub}),
          field(&T::hub_model_id, {.name = "hub_model_id", .action = kIgnore, .reason = kNoHub}),
          field(&T::hub_strategy, {.name = "hub_strategy", .action = kIgnore, .reason = kNoHub, .enum_name = "HubStrategy"}),
          field(&T::hub_always_push, {.name = "hub_always_push", .action = kIgnore, .reason = kNoHub}),
          field(&T::hub_revision, {.name = "hub_revision", .action = kIgnore, .reason = kNoHub}),
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
          field(&T::accelerator_config, {.name = "accelerator_config", .help = "as {\"gradient_accumulation_kwargs\": {\"num_steps\": 4}}, or a .json file"}),
          memberless<T>({.name = "parallelism_config", .action = kReject, .reason = kOneProcess}, Value()),
          field(&T::dataloader_drop_last, {.name = "dataloader_drop_last", .help = "leave out a short last batch of a training epoch"}),
          field(&T::dataloader_num_workers, {.name = "dataloader_num_workers", .help = "threads that make the next batches, none of them another one", .at_least = 0, .below = 1025}),
          field(&T::dataloader_pin_memory, {.name = "dataloader_pin_memory", .action = kIgnore, .reason = kNoWorkers}),
          field(&T::dataloader_persistent_workers, {.name = "dataloader_persistent_workers", .action = kIgnore, .reason = kNoWorkers}),
          field(&T::dataloader_prefetch_factor, {.name = "dataloader_prefetch_factor", .help = "batches ahead, for each of these threads; by default 2", .at_least = 1, .below = kMany}),
          memberless<T>({.name = "dataloader_multiprocessing_context", .action = kReject, .reason = kNoWorkers}, Value()),
          field(&T::dataloader_in_order, {.name = "dataloader_in_order", .action = kIgnore, .reason = "since batches always come in order"}),
          field(&T::remove_unused_columns, {.name = "remove_unused_columns", .help = "drop columns that the model does not take"}),
          field(&T::label_names, {.name = "label_names", .help = "columns that count as labels, else those the model declares"}),
          field(&T::train_sampling_strategy, {.name = "train_sampling_strategy", .help = "order of the training rows"}),
          field(&T::length_column_name, {.name = "length_column_name", .help = "column of lengths for group_by_length and batch_rebalance, else they are counted"}),
          field(&T::ddp_find_unused_parameters, {.name = "ddp_find_unused_parameters", .action = kIgnore, .reason = kOneProcess}),
          field(&T::ddp_bucket_cap_mb, {.name = "ddp_bucket_cap_mb", .action = kIgnore, .reason = kOneProcess}),
          field(&T::ddp_broadcast_buffers, {.name = "ddp_broadcast_buffers", .action = kIgnore, .reason = kOneProcess}),
          field(&T::ddp_static_graph, {.name = "ddp_static_graph", .action = kIgnore, .reason = kOneProcess}),
          memberless<T>({.name = "ddp_backend", .action = kReject, .reason = kOneProcess}, Value()),
          field(&T::ddp_timeout, {.name = "ddp_timeout", .unit = "seconds", .action = kIgnore, .reason = kOneProcess}),
          memberless<T>({.name = "fsdp", .action = kReject, .reason = kOneProcess}, Value()),
          memberless<T>({.name = "fsdp_config", .action = kReject, .reason = kOneProcess}, Value()),
          memberless<T>({.name = "deepspeed", .action = kReject, .reason = kOneProcess}, Value()),
          field(&T::debug, {.name = "debug", .help = "underflow_overflow: frames of all forwards, printed where Inf or NaN first shows; the run ends there",
                            .words = debug_words, .rules = kDebugRules, .enum_name = "DebugOption", .one_word = true}),
          field(&T::skip_memory_metrics, {.name = "skip_memory_metrics", .help = "leave bytes allocated and peaks out of the metrics"}),
          field(&T::do_train, {.name = "do_train", .help = "for scripts: train"}),
          field(&T::do_eval, {.name = "do_eval", .help = "for scripts: evaluate, set by eval_strategy"}),
          field(&T::do_predict, {.name = "do_predict", .help = "for scripts: predict"}),
          field(&T::resume_from_checkpoint, {.name = "resume_from_checkpoint", .help = "checkpoint folder to go on from, true: the newest good one", .or_true = true}),
          field(&T::local_rank, {.name = "local_rank", .action = kIgnore, .reason = kOneProcess}),
          older_name<T>({.name = "per_gpu_train_batch_size", .maps_to = "per_device_train_batch_size"}),
          older_name<T>({.name = "per_gpu_eval_batch_size", .maps_to = "per_device_eval_batch_size"}),
          older_name<T>({.name = "evaluation_strategy", .maps_to = "eval_strategy"}),
          older_name<T, Number>({.name = "warmup_ratio", .at_least = 0, .at_most = 1, .maps_to = "warmup_steps"}, warm_up_by_ratio),
          older_name<T, bool>({.name = "no_cuda", .maps_to = "use_cpu"}, [](T& args, const bool& on) { args.use_cpu = on; }),
          older_name<T, bool>({.name = "adafactor", .maps_to = "optim"}, [](T& args, const bool& on) { if (on) args.optim = "adafactor"; }),
          older_name<T, bool>({.name = "group_by_length", .maps_to = "train_sampling_strategy"},
          [](T& args, const bool& on) { if (on) args.train_sampling_strategy = data::SamplingStrategy::group_by_length; }),
          older_name<T, bool>({.name = "include_inputs_for_metrics", .maps_to = "include_for_metrics", .adds = true}, include_inputs),
          older_name<T, bool>({.name = "split_batches", .maps_to = "accelerator_config", .adds = true}, split_batches),
          field(&T::logging_dir, {.name = "logging_dir", .help = "of TensorBoard's files; by default output_dir/runs/TIME_HOST", .beside = true}),
          memberless<T>({.name = "overwrite_output_dir", .action = kIgnore, .reason = "since a run goes on only by --resume_from_checkpoint", .beside = true}, false),
          memberless<T>({.name = "save_safetensors", .rules = kSafetensorsRules, .action = kIgnore, .reason = "since weights are always saved as safetensors", .beside = true}, true),
          memberless<T>({.name = "use_mps_device", .action = kReject, .reason = kNoDevice, .beside = true}, false),
          memberless<T>({.name = "use_ipex", .action = kReject, .reason = kNoPython, .beside = true}, false),
          memberless<T>({.name = "jit_mode_eval", .action = kReject, .reason = kNoCapture, .beside = true}, false),
          memberless<T>({.name = "tpu_num_cores", .action = kReject, .reason = kNoDevice, .beside = true}, Value()),
          memberless<T>({.name = "tpu_metrics_debug", .action = kReject, .reason = kNoDevice, .beside = true}, false),
          memberless<T>({.name = "mp_parameters", .action = kReject, .reason = kOneProcess, .beside = true}, std::string()),
          memberless<T>({.name = "torchdynamo", .action = kReject, .reason = kNoCapture, .beside = true}, Value()),
          memberless<T>({.name = "fp16_opt_level", .words = o1_word, .rules = kOptLevelRules, .action = kIgnore, .reason = kOwnAutocast, .beside = true}, std::string("O1")),
          memberless<T>({.name = "half_precision_backend", .words = auto_word, .rules = kBackendRules, .action = kIgnore, .reason = kOwnAutocast, .beside = true}, std::string("auto")),
          memberless<T>({.name = "fp16_backend", .words = auto_word, .rules = kBackendRules, .action = kIgnore, .reason = kOwnAutocast, .beside = true}, std::string("auto")),
          memberless<T>({.name = "past_index", .action = kReject, .reason = "since no memory is carried between steps", .beside = true}, int64_t{-1}),
          memberless<T>({.name = "fsdp_min_num_params", .action = kReject, .reason = kOneProcess, .beside = true}, int64_t{0}),
          memberless<T>({.name = "fsdp_transformer_layer_cls_to_wrap", .action = kReject, .reason = kOneProcess, .beside = true}, Value()),
          memberless<T>({.name = "tp_size", .action = kReject, .reason = kOneProcess, .beside = true}, int64_t{0}),
          memberless<T>({.name = "use_legacy_prediction_loop", .action = kIgnore, .reason = "since there is one loop", .beside = true}, false),
          memberless<T>({.name = "push_to_hub_model_id", .action = kIgnore, .reason = kNoHub, .beside = true}, Value()),
          memberless<T>({.name = "push_to_hub_organization", .action = kIgnore, .reason = kNoHub, .beside = true}, Value()),
          memberless<T>({.name = "push_to_hub_token", .action = kIgnore, .reason = kNoHub, .beside = true}, Value()),
          memberless<T>({.name = "ray_scope", .action = kIgnore, .reason = "since there is no search of hyperparameters", .beside = true}, std::string("last")),
      },
      apply_rules,
  };
}

}  // namespace

const ArgumentTable<TrainingArguments>& TrainingArguments::table() {
  static const ArgumentTable<TrainingArguments> rows = make_table();
  return rows;
}

}  // namespace rote

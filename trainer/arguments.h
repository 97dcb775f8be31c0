// trainer/arguments.h — TrainingArguments: what a training run is told, under the names of the Hugging Face Trainer. No rows (arguments.cpp), no rules
// across them (argument_rules.cpp), no parser.
//
// A plain aggregate: fill what differs, in this order, then let resolved() check it and fill in what follows from the rest. The Trainer does so itself.
//   TrainingArguments args = resolved(TrainingArguments{.output_dir = "out", .max_steps = 2000});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/dtype.h"
#include "optim/options.h"
#include "trainer/data/sampler.h"
#include "trainer/fields.h"
#include "trainer/seed.h"

namespace rote {

enum class IntervalStrategy { no, steps, epoch };
enum class SaveStrategy { no, steps, epoch, best };
enum class TokenCount { no, all, non_padding };
enum class HubStrategy { end, every_save, checkpoint, all_checkpoints };
enum class LogLevel { detail, debug, info, warning, error, critical, passive };

inline WordList words_of(IntervalStrategy) { return {"no", "steps", "epoch"}; }
inline WordList words_of(SaveStrategy) { return {"no", "steps", "epoch", "best"}; }
inline WordList words_of(TokenCount) { return {"no", "all", "non_padding"}; }
inline WordList words_of(HubStrategy) { return {"end", "every_save", "checkpoint", "all_checkpoints"}; }
inline WordList words_of(LogLevel) { return {"detail", "debug", "info", "warning", "error", "critical", "passive"}; }

// A field of which only the default can be used is a row without a member here. Steps are updates of the weights. A number of steps below 1 is a share of all updates of the run.
struct TrainingArguments {
  static constexpr const char* kName = "TrainingArguments";

  std::string output_dir = "trainer_output";
  int64_t per_device_train_batch_size = 8;
  Number num_train_epochs = 3.0;
  int64_t max_steps = -1;
  Number learning_rate = 5e-5;
  std::string lr_scheduler_type = "linear";
  std::optional<ValueMap> lr_scheduler_kwargs = {};
  Number warmup_steps = 0;
  std::string optim = "adamw_torch_fused";
  std::optional<std::string> optim_args = {};
  Number weight_decay = 0.0;
  Number adam_beta1 = 0.9;
  Number adam_beta2 = 0.999;
  Number adam_epsilon = 1e-8;
  int64_t gradient_accumulation_steps = 1;
  bool average_tokens_across_devices = true;
  Number max_grad_norm = 1.0;
  Number label_smoothing_factor = 0.0;
  bool bf16 = false;
  bool fp16 = false;
  bool bf16_full_eval = false;
  bool fp16_full_eval = false;
  std::optional<bool> tf32 = {};
  std::optional<bool> activation_checkpointing = {};  // absent: what the older name below says; resolved() makes both names and both maps the same
  std::optional<ValueMap> activation_checkpointing_kwargs = {};
  bool gradient_checkpointing = false;
  std::optional<ValueMap> gradient_checkpointing_kwargs = {};
  bool use_cache = false;
  std::optional<Number> neftune_noise_alpha = {};
  std::optional<int64_t> torch_empty_cache_steps = {};
  bool auto_find_batch_size = false;
  IntervalStrategy logging_strategy = IntervalStrategy::steps;
  Number logging_steps = 500;
  bool logging_first_step = false;
  bool log_on_each_node = true;
  bool logging_nan_inf_filter = true;
  TokenCount include_num_input_tokens_seen = TokenCount::no;
  LogLevel log_level = LogLevel::passive;
  LogLevel log_level_replica = LogLevel::warning;
  std::optional<bool> disable_tqdm = {};  // absent: resolved() says false
  std::vector<std::string> report_to = {};
  std::optional<std::string> run_name = {};
  std::string project = "huggingface";
  std::optional<std::string> logging_dir = {};
  IntervalStrategy eval_strategy = IntervalStrategy::no;
  std::optional<Number> eval_steps = {};  // absent: resolved() takes logging_steps where it is needed
  Number eval_delay = 0;
  int64_t per_device_eval_batch_size = 8;
  bool prediction_loss_only = false;
  bool eval_on_start = false;
  bool eval_do_concat_batches = true;
  bool eval_use_gather_object = false;
  std::optional<int64_t> eval_accumulation_steps = {};
  std::vector<std::string> include_for_metrics = {};
  bool batch_eval_metrics = false;
  bool save_only_model = false;
  SaveStrategy save_strategy = SaveStrategy::steps;
  Number save_steps = 500;
  bool save_on_each_node = false;
  std::optional<int64_t> save_total_limit = {};
  bool enable_jit_checkpoint = false;
  std::optional<std::string> hub_token = {};
  std::optional<bool> hub_private_repo = {};
  std::optional<std::string> hub_model_id = {};
  HubStrategy hub_strategy = HubStrategy::every_save;
  bool hub_always_push = false;
  std::optional<std::string> hub_revision = {};
  bool load_best_model_at_end = false;
  std::optional<std::string> metric_for_best_model = {};
  std::optional<bool> greater_is_better = {};
  bool ignore_data_skip = false;
  bool restore_callback_states_from_checkpoint = false;
  bool full_determinism = false;
  int64_t seed = 42;
  std::optional<int64_t> data_seed = {};
  bool use_cpu = false;
  std::optional<std::variant<ValueMap, std::string>> accelerator_config = {};  // a map, JSON or a file of it; resolved() completes the map
  bool dataloader_drop_last = false;
  int64_t dataloader_num_workers = 0;
  bool dataloader_pin_memory = true;
  bool dataloader_persistent_workers = false;
  std::optional<int64_t> dataloader_prefetch_factor = {};
  bool dataloader_in_order = true;
  bool remove_unused_columns = true;
  std::optional<std::vector<std::string>> label_names = {};
  data::SamplingStrategy train_sampling_strategy = data::SamplingStrategy::random;
  std::string length_column_name = "length";
  std::optional<bool> ddp_find_unused_parameters = {};
  std::optional<int64_t> ddp_bucket_cap_mb = {};
  std::optional<bool> ddp_broadcast_buffers = {};
  std::optional<bool> ddp_static_graph = {};
  int64_t ddp_timeout = 1800;  // seconds
  std::vector<std::string> debug = {};
  bool skip_memory_metrics = true;
  bool do_train = false;
  bool do_eval = false;
  bool do_predict = false;
  std::optional<std::string> resume_from_checkpoint = {};
  int64_t local_rank = -1;

  // Grouped setters: argument_groups.h.
  TrainingArguments& set_training(const struct TrainingGroup& group);
  TrainingArguments& set_evaluate(const struct EvaluateGroup& group);
  TrainingArguments& set_testing(const struct TestingGroup& group);
  TrainingArguments& set_save(const struct SaveGroup& group);
  TrainingArguments& set_logging(const struct LoggingGroup& group);
  TrainingArguments& set_optimizer(const struct OptimizerGroup& group);
  TrainingArguments& set_lr_scheduler(const struct LrSchedulerGroup& group);
  TrainingArguments& set_dataloader(const struct DataloaderGroup& group);
  TrainingArguments& set_push_to_hub(const struct PushToHubGroup& group);  // throws ArgumentError: nothing is pushed from here

  // Warm-up updates of a run of `total` updates: the whole part of a value from 1 on, else that share of the run, rounded up.
  int64_t get_warmup_steps(int64_t total) const;
  // Seed of the order of the training rows.
  int64_t sampler_seed() const { return data_seed.value_or(seed); }
  // metric_for_best_model as it is called in the evaluation's metrics, with `eval_` in front. REQUIRES: it is set.
  std::string best_metric_key() const;
  // Of how many layers the first keeps its inputs only: every_n_layers; 0: activation checkpointing is off.
  int64_t checkpointed_layers() const;
  bool debugs_overflow() const;  // --debug underflow_overflow
  std::optional<DType> autocast_dtype() const;   // of mixed precision in training and evaluation; none: f32
  std::optional<DType> full_eval_dtype() const;  // that the whole model takes for an evaluation outside of training
  // The optimizer that `optim` stands for: adamw_torch for adamw_torch_xla.
  std::string optimizer_name() const;
  // lr_scheduler_kwargs as words.
  optim::Options schedule_options() const;

  // One process on one device, until there are more.
  int64_t n_gpu() const { return 0; }
  int64_t world_size() const { return 1; }
  int64_t process_index() const { return 0; }
  int64_t local_process_index() const { return 0; }
  std::string parallel_mode() const { return "not_parallel"; }
  std::string device() const { return "cpu"; }
  bool should_log() const { return true; }
  bool should_save() const { return true; }
  int64_t train_batch_size() const { return per_device_train_batch_size; }  // rows of a micro-batch
  int64_t eval_batch_size() const { return per_device_eval_batch_size; }
  LogLevel get_process_log_level() const { return log_level; }
  int64_t ddp_timeout_delta() const { return ddp_timeout; }  // seconds
  // auto first = args.main_process_first(); what follows in its scope the first process does before the others, who then find it done.
  distributed_zero_first main_process_first() const { return distributed_zero_first(static_cast<int>(local_rank)); }

  static const ArgumentTable<TrainingArguments>& table();
};

// What follows from the rest, filled in, and the faults across fields: the rules of the table.
std::vector<std::string> apply_rules(TrainingArguments& args);

}  // namespace rote

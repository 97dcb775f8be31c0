// trainer/arguments.h — TrainingArguments: what a training run is told, under the names of the Hugging Face Trainer. No rows (arguments.cpp), no parser.
//
// A plain aggregate: fill what differs, in this order, then let resolved() check it and fill in what follows from the rest. The Trainer does so itself.
//   TrainingArguments args = resolved(TrainingArguments{.output_dir = "out", .max_steps = 2000});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/data/sampler.h"
#include "trainer/fields.h"

namespace rote {

enum class IntervalStrategy { no, steps, epoch };
enum class SaveStrategy { no, steps, epoch, best };
enum class TokenCount { no, all, non_padding };
enum class LogLevel { detail, debug, info, warning, error, critical, passive };

inline WordList words_of(IntervalStrategy) { return {"no", "steps", "epoch"}; }
inline WordList words_of(SaveStrategy) { return {"no", "steps", "epoch", "best"}; }
inline WordList words_of(TokenCount) { return {"no", "all", "non_padding"}; }
inline WordList words_of(LogLevel) { return {"detail", "debug", "info", "warning", "error", "critical", "passive"}; }

// Steps are updates of the weights. A number of steps below 1 is a share of all updates of the run.
struct TrainingArguments {
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
  Number max_grad_norm = 1.0;
  Number label_smoothing_factor = 0.0;
  bool activation_checkpointing = false;
  std::optional<ValueMap> activation_checkpointing_kwargs = {};
  bool use_cache = false;
  std::optional<Number> neftune_noise_alpha = {};
  bool auto_find_batch_size = false;
  IntervalStrategy logging_strategy = IntervalStrategy::steps;
  Number logging_steps = 500;
  bool logging_first_step = false;
  bool logging_nan_inf_filter = true;
  TokenCount include_num_input_tokens_seen = TokenCount::no;
  LogLevel log_level = LogLevel::passive;
  std::optional<bool> disable_tqdm = {};  // absent: resolved() follows log_level
  std::vector<std::string> report_to = {};
  std::optional<std::string> run_name = {};
  IntervalStrategy eval_strategy = IntervalStrategy::no;
  std::optional<Number> eval_steps = {};  // absent: resolved() takes logging_steps where it is needed
  Number eval_delay = 0;
  int64_t per_device_eval_batch_size = 8;
  bool prediction_loss_only = false;
  bool eval_on_start = false;
  bool eval_do_concat_batches = true;
  std::optional<int64_t> eval_accumulation_steps = {};
  std::vector<std::string> include_for_metrics = {};
  bool batch_eval_metrics = false;
  bool save_only_model = false;
  SaveStrategy save_strategy = SaveStrategy::steps;
  Number save_steps = 500;
  std::optional<int64_t> save_total_limit = {};
  bool enable_jit_checkpoint = false;
  bool load_best_model_at_end = false;
  std::optional<std::string> metric_for_best_model = {};
  std::optional<bool> greater_is_better = {};
  bool ignore_data_skip = false;
  bool restore_callback_states_from_checkpoint = false;
  bool full_determinism = false;
  int64_t seed = 42;
  std::optional<int64_t> data_seed = {};
  bool use_cpu = false;
  bool dataloader_drop_last = false;
  bool remove_unused_columns = true;
  std::optional<std::vector<std::string>> label_names = {};
  data::SamplingStrategy train_sampling_strategy = data::SamplingStrategy::random;
  std::string length_column_name = "length";
  bool skip_memory_metrics = true;
  bool do_train = false;
  bool do_eval = false;
  bool do_predict = false;
  std::optional<std::string> resume_from_checkpoint = {};

  // Warm-up updates of a run of `total` updates: the whole part of a value from 1 on, else that share of the run, rounded up.
  int64_t get_warmup_steps(int64_t total) const;
  // Seed of the order of the training rows.
  int64_t sampler_seed() const { return data_seed.value_or(seed); }
  // metric_for_best_model as it is called in the evaluation's metrics, with `eval_` in front. REQUIRES: it is set.
  std::string best_metric_key() const;
  // Of how many layers the first keeps its inputs only: every_n_layers; 0: activation checkpointing is off.
  int64_t checkpointed_layers() const;

  static const ArgumentTable<TrainingArguments>& table();
};

struct RoteArguments;

// The map of all fields as JSON, indent 2, in the order of the struct. Floats as Python spells them.
std::string to_json_string(const TrainingArguments& args);

// training_args.json of a checkpoint: the same map with Rote's own settings under `rote`.
std::string training_args_file(const TrainingArguments& args, const RoteArguments& rote);
// Reads it back. Names that this version does not know are left alone. `who` begins the error text. Throws ArgumentError.
std::pair<TrainingArguments, RoteArguments> parse_training_args_file(const std::string& text, const std::string& who);

}  // namespace rote

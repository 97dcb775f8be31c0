// trainer/argument_groups.cpp — the grouped setters, field by field.
#include "trainer/argument_groups.h"

#include "kernels/check.h"

namespace rote {

using T = TrainingArguments;

T& T::set_training(const TrainingGroup& group) {
  do_train = true;
  learning_rate = group.learning_rate;
  per_device_train_batch_size = group.batch_size;
  weight_decay = group.weight_decay;
  num_train_epochs = group.num_epochs;
  max_steps = group.max_steps;
  gradient_accumulation_steps = group.gradient_accumulation_steps;
  seed = group.seed;
  activation_checkpointing = group.gradient_checkpointing.value_or(group.activation_checkpointing);
  gradient_checkpointing = *activation_checkpointing;
  return *this;
}

T& T::set_evaluate(const EvaluateGroup& group) {
  ROTE_CHECK(group.strategy != IntervalStrategy::steps || group.steps != 0, ArgumentError,
             "set_evaluate: steps is 0 with the strategy steps; give a number of steps, or another strategy.");
  eval_strategy = group.strategy;
  do_eval = group.strategy != IntervalStrategy::no;
  eval_steps = group.steps;
  per_device_eval_batch_size = group.batch_size;
  eval_accumulation_steps = group.accumulation_steps;
  eval_delay = group.delay;
  prediction_loss_only = group.loss_only;
  return *this;
}

T& T::set_testing(const TestingGroup& group) {
  do_predict = true;
  per_device_eval_batch_size = group.batch_size;
  prediction_loss_only = group.loss_only;
  return *this;
}

T& T::set_save(const SaveGroup& group) {
  ROTE_CHECK(group.strategy != SaveStrategy::steps || group.steps != 0, ArgumentError,
             "set_save: steps is 0 with the strategy steps; give a number of steps, or another strategy.");
  save_strategy = group.strategy;
  save_steps = group.steps;
  save_total_limit = group.total_limit;
  save_on_each_node = group.on_each_node;
  return *this;
}

T& T::set_logging(const LoggingGroup& group) {
  logging_strategy = group.strategy;
  logging_steps = group.steps;
  report_to = group.report_to;
  log_level = group.level;
  logging_first_step = group.first_step;
  logging_nan_inf_filter = group.nan_inf_filter;
  log_on_each_node = group.on_each_node;
  log_level_replica = group.replica_level;
  return *this;
}

T& T::set_optimizer(const OptimizerGroup& group) {
  optim = group.name;
  learning_rate = group.learning_rate;
  weight_decay = group.weight_decay;
  adam_beta1 = group.beta1;
  adam_beta2 = group.beta2;
  adam_epsilon = group.epsilon;
  optim_args = group.args;
  return *this;
}

T& T::set_lr_scheduler(const LrSchedulerGroup& group) {
  lr_scheduler_type = group.name;
  num_train_epochs = group.num_epochs;
  max_steps = group.max_steps;
  warmup_steps = group.warmup_steps;
  return *this;
}

T& T::set_dataloader(const DataloaderGroup& group) {
  per_device_train_batch_size = group.train_batch_size;
  per_device_eval_batch_size = group.eval_batch_size;
  dataloader_drop_last = group.drop_last;
  dataloader_num_workers = group.num_workers;
  dataloader_pin_memory = group.pin_memory;
  dataloader_persistent_workers = group.persistent_workers;
  dataloader_prefetch_factor = group.prefetch_factor;
  dataloader_in_order = group.in_order;
  auto_find_batch_size = group.auto_find_batch_size;
  ignore_data_skip = group.ignore_data_skip;
  data_seed = group.sampler_seed;
  return *this;
}

T& T::set_push_to_hub(const PushToHubGroup& group) {
  throw ArgumentError(str("set_push_to_hub: ", group.model_id.empty() ? "a model" : group.model_id,
                          " cannot be pushed from here; save_model() writes a folder that the hub's own client uploads as it is."));
}

}  // namespace rote

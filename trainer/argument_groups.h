// trainer/argument_groups.h — the grouped setters of TrainingArguments: what each sets, with the defaults of its fields. No rule (argument_rules.cpp).
//
//   TrainingArguments args;
//   args.set_training({.learning_rate = 1e-4, .batch_size = 16}).set_evaluate({.strategy = IntervalStrategy::epoch});
// A setter sets all of its group: what is not named goes back to the default. Each throws ArgumentError for what contradicts itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/arguments.h"

namespace rote {

// Sets do_train as well.
struct TrainingGroup {
  Number learning_rate = 5e-5;
  int64_t batch_size = 8;
  Number weight_decay = 0.0;
  Number num_epochs = 3.0;
  int64_t max_steps = -1;
  int64_t gradient_accumulation_steps = 1;
  int64_t seed = 42;
  bool activation_checkpointing = false;
  std::optional<bool> gradient_checkpointing = {};  // its older name, which counts where it is given
};

// Sets do_eval by the strategy.
struct EvaluateGroup {
  IntervalStrategy strategy = IntervalStrategy::no;
  Number steps = 500;
  int64_t batch_size = 8;
  std::optional<int64_t> accumulation_steps = {};
  Number delay = 0;
  bool loss_only = false;
};

// Sets do_predict as well.
struct TestingGroup {
  int64_t batch_size = 8;
  bool loss_only = false;
};

struct SaveGroup {
  SaveStrategy strategy = SaveStrategy::steps;
  Number steps = 500;
  std::optional<int64_t> total_limit = {};
  bool on_each_node = false;
};

struct LoggingGroup {
  IntervalStrategy strategy = IntervalStrategy::steps;
  Number steps = 500;
  std::vector<std::string> report_to = {};
  LogLevel level = LogLevel::passive;
  bool first_step = false;
  bool nan_inf_filter = true;
  bool on_each_node = true;
  LogLevel replica_level = LogLevel::warning;
};

struct PushToHubGroup {
  std::string model_id;
  HubStrategy strategy = HubStrategy::every_save;
  std::optional<std::string> token = {};
  std::optional<bool> private_repo = {};
  bool always_push = false;
  std::optional<std::string> revision = {};
};

struct OptimizerGroup {
  std::string name = "adamw_torch";
  Number learning_rate = 5e-5;
  Number weight_decay = 0;
  Number beta1 = 0.9;
  Number beta2 = 0.999;
  Number epsilon = 1e-8;
  std::optional<std::string> args = {};
};

struct LrSchedulerGroup {
  std::string name = "linear";
  Number num_epochs = 3.0;
  int64_t max_steps = -1;
  Number warmup_steps = 0;
};

struct DataloaderGroup {
  int64_t train_batch_size = 8;
  int64_t eval_batch_size = 8;
  bool drop_last = false;
  int64_t num_workers = 0;
  bool pin_memory = true;
  bool persistent_workers = false;
  std::optional<int64_t> prefetch_factor = {};
  bool in_order = true;
  bool auto_find_batch_size = false;
  bool ignore_data_skip = false;
  std::optional<int64_t> sampler_seed = {};
};

}  // namespace rote

// trainer/state.h — TrainerState, what a run has come to, and TrainerControl, what callbacks ask of it. No loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/fields.h"
#include "trainer/value.h"

namespace rote {

struct TrainingArguments;

using Logs = ValueMap;
using Metrics = ValueMap;

struct TrainerControl {
  bool should_training_stop = false;
  bool should_epoch_stop = false;
  bool should_save = false;
  bool should_evaluate = false;
  bool should_log = false;

  static const ArgumentTable<TrainerControl>& table();
};

// Saved as trainer_state.json; field names and defaults are the Hugging Face Trainer's.
struct TrainerState {
  Number epoch = 0;  // finished share: 1.5 is the middle of the second; the integer 0 before the first update
  int64_t global_step = 0;
  int64_t max_steps = 0;
  Number logging_steps = 500;
  Number eval_steps = 500;
  Number save_steps = 500;
  std::optional<int64_t> train_batch_size = {};
  int64_t num_train_epochs = 0;
  int64_t num_input_tokens_seen = 0;
  Number total_flos = 0;
  std::vector<Logs> log_history = {};
  std::optional<Number> best_metric = {};
  std::optional<int64_t> best_global_step = {};
  std::optional<std::string> best_model_checkpoint = {};
  bool is_local_process_zero = true;
  bool is_world_process_zero = true;
  bool is_hyper_param_search = false;
  std::optional<std::string> trial_name = {};
  Value trial_params = {};
  ValueMap stateful_callbacks = {};  // class name -> {args, attributes}, or a list of them

  // The number last logged under `key`; NaN where there is none, so that every comparison with it fails.
  double last(const std::string& key) const;
  // The intervals of `args` for a run of `total` updates: shares become updates, rounded up.
  void compute_steps(const TrainingArguments& args, int64_t total);

  // JSON with sorted keys, indent 2 and a line feed at the end. Throws IoError when the file cannot be written.
  std::string to_json() const;
  void save_to_json(const std::string& path) const;

  static const ArgumentTable<TrainerState>& table();
};

struct LoadedState {
  TrainerState state;
  std::vector<std::string> unknown_keys;  // left alone; worth a warning
};

// `who` begins the error text. Missing keys take defaults. Throws ArgumentError for text that is no state.
LoadedState parse_state(const std::string& text, const std::string& who);
// Throws IoError when the file cannot be read.
LoadedState load_state_from_json(const std::string& path);

}  // namespace rote

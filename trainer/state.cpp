// trainer/state.cpp — the rows of TrainerState and TrainerControl, and trainer_state.json.
#include "trainer/state.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/arguments.h"
#include "trainer/json_text.h"

namespace rote {

const ArgumentTable<TrainerControl>& TrainerControl::table() {
  using C = TrainerControl;
  static const ArgumentTable<C> rows = {
      "control",
      {
          field(&C::should_training_stop, {.name = "should_training_stop", .help = "stop after this step"}),
          field(&C::should_epoch_stop, {.name = "should_epoch_stop", .help = "stop this epoch after this step"}),
          field(&C::should_save, {.name = "should_save", .help = "save a checkpoint after this step"}),
          field(&C::should_evaluate, {.name = "should_evaluate", .help = "evaluate after this step"}),
          field(&C::should_log, {.name = "should_log", .help = "log after this step"}),
      },
  };
  return rows;
}

const ArgumentTable<TrainerState>& TrainerState::table() {
  using S = TrainerState;
  static const ArgumentTable<S> rows = {
      "state",
      {
          field(&S::epoch, {.name = "epoch", .help = "finished share of epochs"}),
          field(&S::global_step, {.name = "global_step", .help = "updates made"}),
          field(&S::max_steps, {.name = "max_steps", .help = "updates of the whole run"}),
          field(&S::logging_steps, {.name = "logging_steps", .help = "updates between logs"}),
          field(&S::eval_steps, {.name = "eval_steps", .help = "updates between evaluations"}),
          field(&S::save_steps, {.name = "save_steps", .help = "updates between checkpoints"}),
          field(&S::train_batch_size, {.name = "train_batch_size", .help = "rows of a micro-batch"}),
          field(&S::num_train_epochs, {.name = "num_train_epochs", .help = "epochs begun in the whole run"}),
          field(&S::num_input_tokens_seen, {.name = "num_input_tokens_seen", .help = "input tokens, where they are counted"}),
          field(&S::total_flos, {.name = "total_flos", .help = "floating-point operations of the model"}),
          field(&S::log_history, {.name = "log_history", .help = "every log entry"}),
          field(&S::best_metric, {.name = "best_metric", .help = "best value of metric_for_best_model"}),
          field(&S::best_global_step, {.name = "best_global_step", .help = "step of that value"}),
          field(&S::best_model_checkpoint, {.name = "best_model_checkpoint", .help = "folder of that step"}),
          field(&S::is_local_process_zero, {.name = "is_local_process_zero", .help = "first process of this machine"}),
          field(&S::is_world_process_zero, {.name = "is_world_process_zero", .help = "first process of all"}),
          field(&S::is_hyper_param_search, {.name = "is_hyper_param_search", .help = "part of a search"}),
          field(&S::trial_name, {.name = "trial_name", .help = "trial of that search"}),
          field(&S::trial_params, {.name = "trial_params", .help = "values of that trial"}),
          field(&S::stateful_callbacks, {.name = "stateful_callbacks", .help = "exported states by class"}),
      },
  };
  return rows;
}

double TrainerState::last(const std::string& key) const {
  double number = std::numeric_limits<double>::quiet_NaN();
  for (auto entry = log_history.rbegin(); entry != log_history.rend(); ++entry) {
    const Value* value = entry->find(key);
    if (value && value->number(number)) break;
  }
  return number;
}

void TrainerState::compute_steps(const TrainingArguments& args, int64_t total) {
  const auto updates = [total](Number steps) {
    return steps < 1 ? Number(static_cast<int64_t>(std::ceil(static_cast<double>(total) * steps))) : steps;
  };
  logging_steps = updates(args.logging_steps);
  if (args.eval_steps) eval_steps = updates(*args.eval_steps);
  save_steps = updates(args.save_steps);
}

std::string TrainerState::to_json() const { return json_text(to_map(*this), {.indent = 2, .sort_keys = true}) + "\n"; }

void TrainerState::save_to_json(const std::string& path) const {
  write_file(path, to_json());
}

LoadedState parse_state(const std::string& text, const std::string& who) {
  const Value read = parse_json(text, who);
  const ValueMap* map = read.as_map();
  ROTE_CHECK(map, ArgumentError, who, ": holds no map; it must be the trainer_state.json of a checkpoint.");
  LoadedState out{from_map<TrainerState>(*map, {.allow_extra_keys = true, .who = who}), {}};
  for (const auto& [key, value] : *map)
    if (!find_field<TrainerState>(key)) out.unknown_keys.push_back(key);
  return out;
}

LoadedState load_state_from_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  ROTE_CHECK(in.good(), IoError, path, ": could not be read; a checkpoint that can be resumed has this file.");
  std::ostringstream text;
  text << in.rdbuf();
  return parse_state(text.str(), path);
}

}  // namespace rote

// trainer/callbacks.cpp — default flow, log lines, early stopping.
#include "trainer/callbacks.h"

#include <cmath>
#include <cstdio>
#include <iostream>

#include "kernels/check.h"
#include "trainer/arguments.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

bool is_due(int64_t step, double interval) { return interval > 0 && std::fmod(static_cast<double>(step), interval) == 0; }

}  // namespace

bool is_logged_by_step(const TrainingArguments& args, const TrainerState& state, int64_t step) {
  return (step == 1 && args.logging_first_step) || (args.logging_strategy == IntervalStrategy::steps && is_due(step, state.logging_steps));
}

void DefaultFlowCallback::on_step_end(const CallbackContext& context, TrainerControl& control) {
  const TrainingArguments& args = context.args;
  const TrainerState& state = context.state;
  const int64_t step = state.global_step;
  const bool may_evaluate = args.eval_strategy == IntervalStrategy::steps && args.eval_delay <= static_cast<double>(step);

  if (is_logged_by_step(args, state, step)) control.should_log = true;
  if (may_evaluate && is_due(step, state.eval_steps)) control.should_evaluate = true;
  if (args.save_strategy == SaveStrategy::steps && is_due(step, state.save_steps)) control.should_save = true;
  if (step < state.max_steps) return;

  control.should_training_stop = true;
  if (may_evaluate) control.should_evaluate = true;
  if (args.save_strategy == SaveStrategy::steps) control.should_save = true;
}

void DefaultFlowCallback::on_epoch_end(const CallbackContext& context, TrainerControl& control) {
  const TrainingArguments& args = context.args;
  if (args.logging_strategy == IntervalStrategy::epoch) control.should_log = true;
  if (args.eval_strategy == IntervalStrategy::epoch && args.eval_delay <= context.state.epoch) control.should_evaluate = true;
  if (args.save_strategy == SaveStrategy::epoch) control.should_save = true;
}

std::string log_line(const Logs& logs, int64_t longest) {
  ValueMap shown;
  for (const auto& [name, value] : logs) {
    if (name == "total_flos") continue;
    const std::string* text = value.as_text();
    if (const double* number = value.as_float()) shown.set(name, general_float(*number, 4));
    else if (text && longest >= 0 && code_points(*text) > longest)
      shown.set(name,
                str("[String too long to display, length: ", code_points(*text), " > ", longest, ". Consider increasing `max_str_len` if needed.]"));
    else shown.set(name, value);
  }
  return python_repr(shown);
}

PrinterCallback::PrinterCallback() : out_(&std::cout) {}

void PrinterCallback::on_log(const CallbackContext& context, TrainerControl&) {
  if (context.state.is_local_process_zero && context.logs) *out_ << log_line(*context.logs) << std::endl;
}

void EarlyStoppingCallback::on_train_begin(const CallbackContext& context, TrainerControl&) {
  const TrainingArguments& args = context.args;
  ROTE_CHECK(args.metric_for_best_model, ArgumentError, "early stopping: has no metric to watch; set --metric_for_best_model, loss for example.");
  ROTE_CHECK(args.eval_strategy != IntervalStrategy::no, ArgumentError,
             "early stopping: has no evaluations to watch; set --eval_strategy to steps or epoch.");
  if (!args.load_best_model_at_end)
    std::fprintf(stderr, "early stopping: the run ends with its last weights, not its best; --load_best_model_at_end would change that.\n");
}

void EarlyStoppingCallback::on_evaluate(const CallbackContext& context, TrainerControl& control) {
  const std::string key = context.args.best_metric_key();
  const Value* found = context.metrics ? context.metrics->find(key) : nullptr;
  double value = 0;
  if (!found || !found->number(value)) {
    std::fprintf(stderr, "early stopping: the evaluation gave no %s, so this one does not count.\n", key.c_str());
    return;
  }
  const std::optional<Number>& best = context.state.best_metric;
  const bool greater = context.args.greater_is_better.value_or(false);
  const bool improved = !best || ((greater ? value > *best : value < *best) && std::abs(value - *best) > options_.threshold);
  failures_ = improved ? 0 : failures_ + 1;
  if (failures_ >= options_.patience) control.should_training_stop = true;
}

std::optional<CallbackState> EarlyStoppingCallback::exported() const {
  return CallbackState{{{"early_stopping_patience", options_.patience}, {"early_stopping_threshold", options_.threshold}},
                       {{"early_stopping_patience_counter", failures_}}};
}

void EarlyStoppingCallback::restore(const CallbackState& state) {
  const auto number = [](const ValueMap& map, const char* name, double otherwise) {
    const Value* value = map.find(name);
    double read = otherwise;
    if (value) value->number(read);
    return read;
  };
  options_.patience = static_cast<int64_t>(number(state.args, "early_stopping_patience", static_cast<double>(options_.patience)));
  options_.threshold = number(state.args, "early_stopping_threshold", options_.threshold);
  failures_ = static_cast<int64_t>(number(state.attributes, "early_stopping_patience_counter", 0));
}

}  // namespace rote

// trainer/callbacks.h — the built-in callbacks that draw nothing: the default flow, the printer, early stopping. The progress bar: progress.h.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "trainer/callback.h"

namespace rote {

// Whether the default flow logs behind update `step`: by its number, not because an epoch ends.
bool is_logged_by_step(const TrainingArguments& args, const TrainerState& state, int64_t step);

// Turns strategies and intervals into flags: log, evaluate, save, stop at the last step. Intervals are the state's, strategies the arguments'.
class DefaultFlowCallback : public TrainerCallback {
 public:
  std::string name() const override { return "DefaultFlowCallback"; }
  void on_step_end(const CallbackContext& context, TrainerControl& control) override;
  void on_epoch_end(const CallbackContext& context, TrainerControl& control) override;
};

// A log entry as Python prints a dict, floats with four digits: {'loss': '0.3172', 'epoch': '0.5'}. total_flos is left out.
// Texts longer than `longest` code points are replaced by a notice; below 0 none is.
std::string log_line(const Logs& logs, int64_t longest = -1);

// One line a log entry, for runs without a progress bar.
class PrinterCallback : public TrainerCallback {
 public:
  PrinterCallback();  // to the output
  explicit PrinterCallback(std::ostream& out) : out_(&out) {}
  std::string name() const override { return "PrinterCallback"; }
  void on_log(const CallbackContext& context, TrainerControl& control) override;

 private:
  std::ostream* out_;
};

struct EarlyStopping {
  int64_t patience = 1;    // evaluations without improvement
  double threshold = 0.0;  // an improvement by no more than this counts as none
};

// Stops when metric_for_best_model has not improved on the best for `patience` evaluations. A NaN is no improvement; the first value is one.
// It compares with the best of the evaluations before, which moves by any improvement: many that are smaller than the threshold count as failures.
class EarlyStoppingCallback : public TrainerCallback {
 public:
  explicit EarlyStoppingCallback(EarlyStopping options = {}) : options_(options) {}
  std::string name() const override { return "EarlyStoppingCallback"; }
  // Throws ArgumentError without a metric or without evaluations.
  void on_train_begin(const CallbackContext& context, TrainerControl& control) override;
  void on_evaluate(const CallbackContext& context, TrainerControl& control) override;
  std::optional<CallbackState> exported() const override;
  void restore(const CallbackState& state) override;

 private:
  EarlyStopping options_;
  int64_t failures_ = 0;
};

}  // namespace rote

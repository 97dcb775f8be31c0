// trainer/progress.h — ProgressCallback: a bar with rate, time left and last loss on a terminal, plain lines elsewhere. No other callback.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "trainer/callback.h"

namespace rote {

struct Progress {
  int64_t done = 0, total = 0;
  int64_t since = 0;             // where this process began, so that the rate is its own
  double seconds = 0;            // since then
  std::optional<double> loss{};  // last one logged
};

// `50/506 [00:15<02:21, 3.22it/s, loss=0.4321]`: done, spent and left time, rate.
std::string progress_text(const Progress& progress);
// The same behind a bar of ten cells: ` 10%|█         | 50/506 [00:15<02:21, 3.22it/s]`
std::string progress_bar(const Progress& progress);

struct ProgressOptions {
  int64_t max_str_len = 100;                    // longer texts in log lines become a notice
  std::ostream* bars = nullptr;                 // else the error stream
  std::ostream* lines = nullptr;                // log lines; else the output
  std::optional<bool> terminal{};               // else whether the error stream is one
  std::function<double()> seconds = nullptr;    // a clock; else the machine's
};

// On a terminal the bar is redrawn in place, at most ten times a second; elsewhere each logged loss gives one line. Writes on the main process only.
class ProgressCallback : public TrainerCallback {
 public:
  explicit ProgressCallback(ProgressOptions options = {});
  std::string name() const override { return "ProgressCallback"; }
  void on_train_begin(const CallbackContext& context, TrainerControl& control) override;
  void on_step_end(const CallbackContext& context, TrainerControl& control) override;
  void on_prediction_step(const CallbackContext& context, TrainerControl& control) override;
  void on_evaluate(const CallbackContext& context, TrainerControl& control) override;
  void on_predict(const CallbackContext& context, TrainerControl& control) override;
  void on_log(const CallbackContext& context, TrainerControl& control) override;
  void on_train_end(const CallbackContext& context, TrainerControl& control) override;

 private:
  struct Bar {
    Progress progress;
    double begun = 0;
  };
  void draw(Bar& bar, bool now);
  void clear();
  void end_evaluation();

  ProgressOptions options_;
  std::optional<Bar> training_, evaluation_;
  double last_drawn_ = -1;
};

}  // namespace rote

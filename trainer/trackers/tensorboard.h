// trainer/trackers/tensorboard.h — --report_to tensorboard: what a run logs as event files, which `tensorboard --logdir OUTPUT_DIR/runs` shows.
#pragma once

#include <memory>
#include <string>

#include "trainer/callback.h"
#include "trainer/trackers/event_file.h"

namespace rote {

// Files go to TENSORBOARD_LOGGING_DIR, else --logging_dir, else OUTPUT_DIR/runs/<Mon><dd>_<HH>-<MM>-<SS>_<host>, by local time.
// A training begins a file, which what is logged after it goes to as well. A disk that takes no more costs one warning and the rest of the file, never
// the run.
class TensorBoardCallback : public TrainerCallback {
 public:
  explicit TensorBoardCallback(EventFileOptions options = {}) : options_(std::move(options)) {}

  void on_train_begin(const CallbackContext& context, TrainerControl&) override;
  void on_log(const CallbackContext& context, TrainerControl&) override;

 private:
  void open(const CallbackContext& context);
  void write(const CallbackContext& context, const std::function<void(EventFile&)>& add);

  EventFileOptions options_;
  std::unique_ptr<EventFile> file_;
  bool failed_ = false;
};

}  // namespace rote

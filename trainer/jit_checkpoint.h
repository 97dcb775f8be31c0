// trainer/jit_checkpoint.h — a checkpoint when the process is told to end (SIGTERM). Saving itself: resume.cpp.
#pragma once

#include "trainer/callback.h"

namespace rote {

// While a run trains, SIGTERM lets the update under way end as it would have, then asks for a checkpoint and for the end of the run; resumed
// from there, the run has the bits of one that was left alone. Before and after training the signal does what it did.
class JitCheckpointCallback : public TrainerCallback {
 public:
  ~JitCheckpointCallback() override { put_back(); }
  std::string name() const override { return "JITCheckpointCallback"; }
  void on_train_begin(const CallbackContext& context, TrainerControl& control) override;
  void on_step_end(const CallbackContext& context, TrainerControl& control) override;
  void on_train_end(const CallbackContext& context, TrainerControl& control) override;
  // Whether the signal has come since training began.
  static bool was_asked();

 private:
  void put_back();

  void (*before_)(int) = nullptr;
  bool installed_ = false;
};

}  // namespace rote

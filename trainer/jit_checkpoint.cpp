#include "trainer/jit_checkpoint.h"

#include <csignal>
#include <cstdio>

namespace rote {

namespace {

volatile std::sig_atomic_t asked = 0;

void note_signal(int) { asked = 1; }

}  // namespace

bool JitCheckpointCallback::was_asked() { return asked != 0; }

void JitCheckpointCallback::on_train_begin(const CallbackContext&, TrainerControl&) {
  put_back();
  asked = 0;
  before_ = std::signal(SIGTERM, note_signal);
  installed_ = true;
}

void JitCheckpointCallback::on_step_end(const CallbackContext& context, TrainerControl& control) {
  if (!was_asked()) return;
  control.should_save = control.should_training_stop = true;
  std::fprintf(stderr, "SIGTERM: saving a checkpoint of step %lld, then the run ends; --resume_from_checkpoint goes on from there\n",
               static_cast<long long>(context.state.global_step));
}

void JitCheckpointCallback::on_train_end(const CallbackContext&, TrainerControl&) { put_back(); }

void JitCheckpointCallback::put_back() {
  if (installed_) std::signal(SIGTERM, before_);
  installed_ = false;
}

}  // namespace rote

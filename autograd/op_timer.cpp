#include "autograd/op_timer.h"

namespace rote {

namespace {
thread_local OpTimer* current = nullptr;
}  // namespace

OpTimer::OpTimer(std::function<void(const OpSpan&)> tell) : tell_(std::move(tell)), outer_(current) { current = this; }
OpTimer::~OpTimer() { current = outer_; }

TimedOp::TimedOp(const char* op, Phase phase, int path, const std::vector<Shape>& shapes) : span_{op, phase, path, shapes, {}, {}}, timer_(current) {
  if (timer_ != nullptr) span_.begun = std::chrono::steady_clock::now();
}

TimedOp::~TimedOp() {
  if (timer_ == nullptr) return;
  span_.ended = std::chrono::steady_clock::now();
  timer_->tell_(span_);
}

}  // namespace rote

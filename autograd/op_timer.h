// autograd/op_timer.h — how long each op takes, forward and backward, told while somebody asks. Writes nothing: trainer/profile.h does.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "autograd/mode.h"
#include "tensor/shape.h"

namespace rote {

// One run of an op's kernels; of an op that is made of ops, theirs lie within. Times are those of the steady clock.
struct OpSpan {
  const char* op;
  Phase phase;
  int path;  // of the module, interned: status_path()
  const std::vector<Shape>& shapes;  // of the inputs of the forward
  std::chrono::steady_clock::time_point begun, ended;
};

// Is told of each op of its thread while it lives. Timers do not nest: an inner one is told in place of the outer.
class OpTimer {
 public:
  explicit OpTimer(std::function<void(const OpSpan&)> tell);  // must not throw
  ~OpTimer();
  OpTimer(const OpTimer&) = delete;
  OpTimer& operator=(const OpTimer&) = delete;

 private:
  friend class TimedOp;
  std::function<void(const OpSpan&)> tell_;
  OpTimer* outer_;
};

// Stands around an op's kernels. Costs a look at one thread-local pointer where nobody asks.
class TimedOp {
 public:
  TimedOp(const char* op, Phase phase, int path, const std::vector<Shape>& shapes);
  ~TimedOp();
  TimedOp(const TimedOp&) = delete;
  TimedOp& operator=(const TimedOp&) = delete;

 private:
  OpSpan span_;
  OpTimer* timer_;
};

}  // namespace rote

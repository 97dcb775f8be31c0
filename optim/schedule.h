// optim/schedule.h — learning-rate factors as functions of the step. Holds no state, no optimizer, no clock.
//
// A Schedule maps completed updates (from 0) to the factor of the initial rate that the next update uses. It is a closed form of the step, so a
// resumed run needs nothing but its step. Value type; any thread may call it. The same bits on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rote::optim {

class Schedule {
 public:
  explicit Schedule(std::function<double(int64_t)> factor) : factor_(std::move(factor)) {}

  // f64; `step` counts updates from 0.
  double factor(int64_t step) const { return factor_(step); }

 private:
  std::function<double(int64_t)> factor_;
};

Schedule constant();

// From 1 to 0 over `steps` updates, then 0:  f(t) = max(0, (steps - t) / max(1, steps))
Schedule linear(int64_t steps);

struct CosineOptions {
  double num_cycles = 0.5;  // 0.5: one descent; past `steps` it rises again
};

// f(t) = max(0, (1 + cos(2 pi · num_cycles · t / max(1, steps))) / 2).  Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5
Schedule cosine(int64_t steps, CosineOptions options = {});

// A rise from 0 to 1 over `steps` updates, f(t) = t / steps, and then another schedule from its own step 0.
// Departs from the paper of large batches (arXiv:1706.02677), as the Hugging Face Trainer does: the first update has rate 0.
class Warmup {
 public:
  explicit Warmup(int64_t steps) : steps_(steps) {}
  Schedule then(Schedule after) const;

 private:
  int64_t steps_;
};

inline Warmup warmup(int64_t steps) { return Warmup(steps); }

// --- By name, as arguments give them ---

struct ScheduleLength {
  int64_t warmup_steps = 0;
  int64_t total_steps = 0;  // of the run, the warm-up among them
};

using ScheduleOptions = std::map<std::string, double>;

const std::vector<std::string>& schedule_names();

// Throws ArgumentError for an unknown name, an option that the schedule does not have, or negative lengths.
Schedule make_schedule(const std::string& name, ScheduleLength length, const ScheduleOptions& options = {});

}  // namespace rote::optim

// optim/schedule.h — learning rates as functions of the step. Holds no state, no optimizer, no clock. By a metric: metric_schedule.h.
//
// A Schedule maps completed updates (from 0) to the rate that the next update uses. It is a closed form of the step, so a resumed run needs nothing
// but its step. Value type; any thread may call it. The same bits on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "optim/options.h"

namespace rote::optim {

class Schedule {
 public:
  // Of a factor of the initial rate.
  explicit Schedule(std::function<double(int64_t step)> factor)
      : rate_([factor = std::move(factor)](int64_t step, double initial) { return initial * factor(step); }) {}
  // Of rates that are no multiples of the initial one; momentum: what the optimizer's is at a step, where it moves too.
  static Schedule of_rates(std::function<double(int64_t step, double initial)> rate, std::function<double(int64_t step)> momentum = {});

  // f64; `step` counts updates from 0.
  double rate(int64_t step, double initial) const { return rate_(step, initial); }
  double factor(int64_t step) const { return rate_(step, 1); }
  bool moves_momentum() const { return static_cast<bool>(momentum_); }
  double momentum(int64_t step) const { return momentum_(step); }

 private:
  Schedule() = default;

  std::function<double(int64_t, double)> rate_;
  std::function<double(int64_t)> momentum_;
};

Schedule constant();

// From 1 to 0 over `steps` updates, then 0:  f(t) = max(0, (steps - t) / max(1, steps))
Schedule linear(int64_t steps);

struct CosineOptions {
  double num_cycles = 0.5;  // 0.5: one descent; past `steps` it rises again
  double floor = 0;         // f·(1 - floor) + floor
};

// f(t) = max(0, (1 + cos(2 pi · num_cycles · t / max(1, steps))) / 2).  Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5
Schedule cosine(int64_t steps, CosineOptions options = {});

// `cycles` descents from 1 to 0, each by half a cosine, then 0.
Schedule cosine_with_restarts(int64_t steps, double cycles = 1);

// From 1 to `floor` over `steps` updates by ((1 - floor)·(1 - t/steps)^power + floor), then `floor`.
struct PolynomialOptions {
  double floor = 0;
  double power = 1;
};
Schedule polynomial(int64_t steps, PolynomialOptions options = {});

// f(t) = 1 / sqrt((t + timescale) / timescale)
Schedule inverse_sqrt(double timescale);

// How a phase passes from 0 to 1, by its share q: linear q, cosine (1 - cos(pi·q))/2, one_minus_sqrt 1 - sqrt(1 - q). A decay is 1 - that of q, but
// for one_minus_sqrt, which is 1 - sqrt(q), and cosine, which is (1 + cos(2 pi · num_cycles · q))/2.
enum class Curve { linear, cosine, one_minus_sqrt };
struct WarmupStableDecayOptions {
  int64_t warmup_steps = 0, stable_steps = 0, decay_steps = 0;
  Curve warmup = Curve::linear, decay = Curve::cosine;
  double min_lr_ratio = 0;  // where warm-up begins and decay ends
  double num_cycles = 0.5;
};
// Rise, plateau at 1, fall.  Hu et al. 2024, arXiv:2404.06395
Schedule warmup_stable_decay(WarmupStableDecayOptions options);

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
  double lr = 0;            // the initial rate, for schedules whose options are rates (lr_end, min_lr)
};

// Names of --lr_scheduler_type that are functions of the step.
const std::vector<std::string>& schedule_names();

// Throws ArgumentError for an unknown name, an option that the schedule does not have or that has no sense, or negative lengths.
Schedule make_schedule(const std::string& name, ScheduleLength length, const Options& options = {});

namespace detail {
// part / whole, where a whole of nothing counts as one.
inline double share(int64_t part, int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole < 1 ? 1 : whole); }
}  // namespace detail

}  // namespace rote::optim

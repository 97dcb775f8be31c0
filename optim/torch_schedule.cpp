#include "optim/torch_schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "kernels/check.h"
#include "kernels/math64.h"

namespace rote::optim {

namespace {

using std::numbers::pi;
using detail::share;

// From `first` to `last` as q goes from 0 to 1.
double anneal(bool linear, double first, double last, double q) {
  return linear ? first + (last - first) * q : last + (first - last) / 2 * (1 + math64::cos(pi * q));
}

double cosine_between(double low, double high, double q) { return low + (high - low) * (1 + math64::cos(pi * q)) / 2; }

void check_count(const char* who, const char* name, int64_t value) {
  ROTE_CHECK(value >= 1, ArgumentError, "schedule ", who, ": ", name, " is ", value, "; it must be at least 1.");
}

}  // namespace

Schedule step_lr(int64_t step_size, double gamma) {
  check_count("StepLR", "step_size", step_size);
  return Schedule([=](int64_t t) { return math64::pow(gamma, static_cast<double>(t / step_size)); });
}

Schedule multi_step_lr(std::vector<int64_t> milestones, double gamma) {
  return Schedule([milestones = std::move(milestones), gamma](int64_t t) {
    return math64::pow(gamma, static_cast<double>(std::count_if(milestones.begin(), milestones.end(), [t](int64_t m) { return m <= t; })));
  });
}

Schedule exponential_lr(double gamma) {
  return Schedule([gamma](int64_t t) { return math64::pow(gamma, static_cast<double>(t)); });
}

Schedule constant_lr(double factor, int64_t total_iters) {
  return Schedule([=](int64_t t) { return t < total_iters ? factor : 1.0; });
}

Schedule linear_lr(LinearLrOptions o) {
  check_count("LinearLR", "total_iters", o.total_iters);
  return Schedule([o](int64_t t) { return o.start_factor + (o.end_factor - o.start_factor) * share(std::min(t, o.total_iters), o.total_iters); });
}

Schedule polynomial_lr(int64_t total_iters, double power) {
  check_count("PolynomialLR", "total_iters", total_iters);
  return Schedule([=](int64_t t) { return math64::pow(1 - share(std::min(t, total_iters), total_iters), power); });
}

Schedule cosine_annealing_lr(int64_t T_max, double eta_min) {
  check_count("CosineAnnealingLR", "T_max", T_max);
  return Schedule::of_rates([=](int64_t t, double lr) { return cosine_between(eta_min, lr, share(t, T_max)); });
}

Schedule cosine_annealing_warm_restarts(WarmRestartsOptions o) {
  check_count("CosineAnnealingWarmRestarts", "T_0", o.T_0);
  check_count("CosineAnnealingWarmRestarts", "T_mult", o.T_mult);
  return Schedule::of_rates([o](int64_t t, double lr) {
    int64_t cycle = o.T_0, at = t;
    if (o.T_mult == 1) at %= cycle;
    for (; at >= cycle; cycle *= o.T_mult) at -= cycle;
    return cosine_between(o.eta_min, lr, share(at, cycle));
  });
}

Schedule one_cycle_lr(OneCycleOptions o) {
  check_count("OneCycleLR", "total_steps", o.total_steps);
  ROTE_CHECK(o.pct_start >= 0 && o.pct_start <= 1, ArgumentError, "schedule OneCycleLR: pct_start is ", o.pct_start, "; it must lie in [0,1].");
  struct Phase {
    double end, first, last, first_momentum, last_momentum;
  };
  const double first = o.max_lr / o.div_factor, last = first / o.final_div_factor, steps = static_cast<double>(o.total_steps), rise = o.pct_start * steps - 1;
  std::vector<Phase> phases = {{rise, first, o.max_lr, o.max_momentum, o.base_momentum}};
  if (o.three_phase) {
    phases.push_back({2 * o.pct_start * steps - 2, o.max_lr, first, o.base_momentum, o.max_momentum});
    phases.push_back({steps - 1, first, last, o.max_momentum, o.max_momentum});
  } else {
    phases.push_back({steps - 1, o.max_lr, last, o.base_momentum, o.max_momentum});
  }
  const auto at = [phases, o](int64_t step, bool momentum) {
    const double t = std::min(static_cast<double>(step), static_cast<double>(o.total_steps - 1));
    double begin = 0;
    for (size_t i = 0;; ++i) {
      const Phase& p = phases[i];
      if (t > p.end && i + 1 < phases.size()) {
        begin = p.end;
        continue;
      }
      const double q = (t - begin) / (p.end - begin);
      return momentum ? anneal(o.linear, p.first_momentum, p.last_momentum, q) : anneal(o.linear, p.first, p.last, q);
    }
  };
  std::function<double(int64_t)> momentum;
  if (o.cycle_momentum) momentum = [at](int64_t t) { return at(t, true); };
  return Schedule::of_rates([at](int64_t t, double) { return at(t, false); }, momentum);
}

Schedule cyclic_lr(CyclicOptions o) {
  const int64_t down = o.step_size_down.value_or(o.step_size_up);
  check_count("CyclicLR", "step_size_up", o.step_size_up);
  check_count("CyclicLR", "step_size_down", down);
  const double total = static_cast<double>(o.step_size_up + down), ratio = static_cast<double>(o.step_size_up) / total;
  // How far up the swing of this step is, 0 … 1, with the mode's fading.
  const auto swing = [=](int64_t step) {
    const double t = static_cast<double>(step), cycle = std::floor(1 + t / total), x = 1 + t / total - cycle;
    const double height = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
    if (o.mode == CycleMode::triangular2) return height / math64::pow(2, cycle - 1);
    return o.mode == CycleMode::exp_range ? height * math64::pow(o.gamma, t) : height;
  };
  std::function<double(int64_t)> momentum;
  if (o.cycle_momentum) momentum = [=](int64_t t) { return o.max_momentum - (o.max_momentum - o.base_momentum) * swing(t); };
  return Schedule::of_rates([=](int64_t t, double) { return o.base_lr + (o.max_lr - o.base_lr) * swing(t); }, momentum);
}

// --- By name, with torch's options and defaults ---

namespace {

Schedule make_step(OptionReader& from) {
  int64_t step_size = 0;
  double gamma = 0.1;
  from.take("step_size", step_size);
  from.take("gamma", gamma);
  return step_lr(step_size, gamma);
}

Schedule make_multi_step(OptionReader& from) {
  std::vector<int64_t> milestones;
  double gamma = 0.1;
  from.take("milestones", milestones);
  from.take("gamma", gamma);
  return multi_step_lr(milestones, gamma);
}

Schedule make_exponential(OptionReader& from) {
  double gamma = 1;
  from.take("gamma", gamma);
  return exponential_lr(gamma);
}

Schedule make_constant(OptionReader& from) {
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
  from.take("factor", factor);
  from.take("total_iters", total_iters);
  return constant_lr(factor, total_iters);
}

Schedule make_linear(OptionReader& from) {
  LinearLrOptions o;
  from.take("start_factor", o.start_factor);
  from.take("end_factor", o.end_factor);
  from.take("total_iters", o.total_iters);
  return linear_lr(o);
}

Schedule make_polynomial(OptionReader& from) {
  int64_t total_iters = 5;
  double power = 1;
  from.take("total_iters", total_iters);
  from.take("power", power);
  return polynomial_lr(total_iters, power);
}

Schedule make_cosine_annealing(OptionReader& from) {
  int64_t T_max = 0;
  double eta_min = 0;
  from.take("T_max", T_max);
  from.take("eta_min", eta_min);
  return cosine_annealing_lr(T_max, eta_min);
}

Schedule make_warm_restarts(OptionReader& from) {
  WarmRestartsOptions o{.T_0 = 0};
  from.take("T_0", o.T_0);
  from.take("T_mult", o.T_mult);
  from.take("eta_min", o.eta_min);
  return cosine_annealing_warm_restarts(o);
}

Schedule make_one_cycle(OptionReader& from) {
  OneCycleOptions o;
  int64_t epochs = 0, steps_per_epoch = 0;
  std::string strategy = "cos";
  from.take("max_lr", o.max_lr);
  from.take("total_steps", o.total_steps);
  from.take("epochs", epochs);
  from.take("steps_per_epoch", steps_per_epoch);
  if (o.total_steps == 0) o.total_steps = epochs * steps_per_epoch;
  from.take("pct_start", o.pct_start);
  from.take("anneal_strategy", strategy);
  ROTE_CHECK(strategy == "cos" || strategy == "linear", ArgumentError, "schedule OneCycleLR: anneal_strategy is \"", strategy, "\"; it must be cos or linear.");
  o.linear = strategy == "linear";
  from.take("cycle_momentum", o.cycle_momentum);
  from.take("base_momentum", o.base_momentum);
  from.take("max_momentum", o.max_momentum);
  from.take("div_factor", o.div_factor);
  from.take("final_div_factor", o.final_div_factor);
  from.take("three_phase", o.three_phase);
  return one_cycle_lr(o);
}

Schedule make_cyclic(OptionReader& from) {
  CyclicOptions o;
  int64_t down = 0;
  std::string mode = "triangular";
  from.take("base_lr", o.base_lr);
  from.take("max_lr", o.max_lr);
  from.take("step_size_up", o.step_size_up);
  from.take("step_size_down", down);
  if (down > 0) o.step_size_down = down;
  from.take("mode", mode);
  ROTE_CHECK(mode == "triangular" || mode == "triangular2" || mode == "exp_range", ArgumentError, "schedule CyclicLR: mode is \"", mode,
             "\"; it must be triangular, triangular2 or exp_range.");
  o.mode = mode == "triangular" ? CycleMode::triangular : mode == "triangular2" ? CycleMode::triangular2 : CycleMode::exp_range;
  from.take("gamma", o.gamma);
  std::string scale_mode = "cycle";  // of a scale_fn alone, which no word can give
  from.take("scale_mode", scale_mode);
  ROTE_CHECK(scale_mode == "cycle" || scale_mode == "iterations", ArgumentError, "schedule CyclicLR: scale_mode is \"", scale_mode, "\"; it must be cycle or iterations.");
  from.take("cycle_momentum", o.cycle_momentum);
  from.take("base_momentum", o.base_momentum);
  from.take("max_momentum", o.max_momentum);
  return cyclic_lr(o);
}

struct Maker {
  const char* name;
  Schedule (*make)(OptionReader& from);
};

constexpr Maker kMakers[] = {
    {"StepLR", make_step},
    {"MultiStepLR", make_multi_step},
    {"ExponentialLR", make_exponential},
    {"ConstantLR", make_constant},
    {"LinearLR", make_linear},
    {"PolynomialLR", make_polynomial},
    {"CosineAnnealingLR", make_cosine_annealing},
    {"CosineAnnealingWarmRestarts", make_warm_restarts},
    {"OneCycleLR", make_one_cycle},
    {"CyclicLR", make_cyclic},
};

}  // namespace

Schedule make_torch_schedule(const std::string& name, const Options& options) {
  std::string names;
  for (const Maker& maker : kMakers) {
    names += (names.empty() ? "" : &maker == std::end(kMakers) - 1 ? " and " : ", ") + std::string(maker.name);
    if (name != maker.name) continue;
    OptionReader from("schedule " + name, options);
    Schedule schedule = maker.make(from);
    from.finish();
    return schedule;
  }
  throw ArgumentError(str("schedule: torch has no ", name, " here; there are ", names, "."));
}

}  // namespace rote::optim

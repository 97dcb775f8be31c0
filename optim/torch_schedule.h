// optim/torch_schedule.h — the schedules of torch.optim.lr_scheduler as closed forms of the step. Those of transformers: schedule.h.
#pragma once

#include "optim/schedule.h"

namespace rote::optim {

// lr·gamma^⌊t/step_size⌋
Schedule step_lr(int64_t step_size, double gamma = 0.1);
// lr·gamma^(milestones passed)
Schedule multi_step_lr(std::vector<int64_t> milestones, double gamma = 0.1);
// lr·gamma^t
Schedule exponential_lr(double gamma);
// lr·factor for total_iters updates, then lr
Schedule constant_lr(double factor = 1.0 / 3, int64_t total_iters = 5);

struct LinearLrOptions {
  double start_factor = 1.0 / 3, end_factor = 1;
  int64_t total_iters = 5;
};
// From lr·start_factor to lr·end_factor over total_iters updates
Schedule linear_lr(LinearLrOptions options = {});
// lr·(1 - min(t, total_iters)/total_iters)^power
Schedule polynomial_lr(int64_t total_iters = 5, double power = 1);
// eta_min + (lr - eta_min)·(1 + cos(pi·t/T_max))/2
Schedule cosine_annealing_lr(int64_t T_max, double eta_min = 0);

struct WarmRestartsOptions {
  int64_t T_0 = 1, T_mult = 1;  // updates of the first cycle; how many times longer each is than the one before
  double eta_min = 0;
};
// The same, anew from lr at the start of each cycle.  Loshchilov & Hutter 2017, arXiv:1608.03983
Schedule cosine_annealing_warm_restarts(WarmRestartsOptions options);

struct OneCycleOptions {
  double max_lr = 0;
  int64_t total_steps = 0;
  double pct_start = 0.3;
  bool linear = false;  // anneal_strategy; else by half a cosine
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25, final_div_factor = 1e4;  // the first rate is max_lr/div_factor, the last that by final_div_factor
  bool three_phase = false;
};
// Up to max_lr and down, momentum the other way.  Smith & Topin 2018, arXiv:1708.07120.  Past total_steps it stays at its end.
Schedule one_cycle_lr(OneCycleOptions options);

enum class CycleMode { triangular, triangular2, exp_range };
struct CyclicOptions {
  double base_lr = 0, max_lr = 0;
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down = {};  // none: as up
  CycleMode mode = CycleMode::triangular;      // triangular2: each cycle half as high; exp_range: times gamma^t
  double gamma = 1;
  bool cycle_momentum = true;
  double base_momentum = 0.8, max_momentum = 0.9;
};
// Between base_lr and max_lr in a straight line.  Smith 2017, arXiv:1506.01186
Schedule cyclic_lr(CyclicOptions options);

// By torch's name and argument names: "StepLR", {{"step_size", "7"}}. Throws ArgumentError for what it does not know.
Schedule make_torch_schedule(const std::string& name, const Options& options);

}  // namespace rote::optim

// optim/grad_scaler.h — GradScaler: a factor on the loss that keeps 16-bit gradients in range, with the states of torch.amp.GradScaler.
// Micikevicius et al. 2018, arXiv:1710.03740
#pragma once

namespace rote::optim {

// A gradient in place of the parameter, times scalar 0.
struct UnscaleUpdate {
  static constexpr int scalars = 1, states = 0;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    e.p = e.g * V(s[0]);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include <limits>
#include <map>
#include <optional>

#include "optim/optimizer.h"

namespace rote::optim {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;       // after growth_interval updates in a row without Inf and NaN
  double backoff_factor = 0.5;    // after one with them
  int64_t growth_interval = 2000;
  bool enabled = true;            // false: the scale is 1 and step() is the optimizer's own
  // torch has none of these: the scale stays within bounds, and falls at the `hysteresis`-th bad update since it last grew or fell.
  double min_scale = 0;
  double max_scale = std::numeric_limits<double>::infinity();
  int64_t hysteresis = 1;
};

struct GradScalerState {
  float scale = 65536;
  double growth_factor = 2, backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  int64_t growth_tracker = 0;  // good updates in a row
  int64_t bad_tracker = 0;     // bad ones that hysteresis let pass
};

// One update:  backward(scaler.scale(loss));  scaler.step(optimizer);  scaler.update();
// With unscale_(optimizer) before the step, gradients can be clipped or looked at in between. Factors that are powers of two round nothing.
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {});

  Tensor scale(const Tensor& loss) const;
  // Divides the optimizer's gradients by the scale, once an update. StateError at the second call and after the step.
  void unscale_(Optimizer& optimizer);
  // Unscales what is not, then updates. Skipped, with nothing changed, where a gradient holds Inf or NaN. StateError at the second call.
  StepResult step(Optimizer& optimizer, const StepOptions& options = {});
  // Moves the scale by what all optimizers found since the last update(), or takes a new one. StateError where none was looked at.
  void update(std::optional<double> new_scale = {});

  bool is_enabled() const { return options_.enabled; }
  float get_scale() const { return options_.enabled ? state_.scale : 1; }
  // Whether unscale_() or step() found Inf or NaN in this optimizer's gradients since the last update().
  bool found_inf(const Optimizer& optimizer) const;
  // Whether the last update() was bad at min_scale: no lower scale can help.
  bool is_at_floor() const { return at_floor_; }

  const GradScalerState& state_dict() const { return state_; }
  void load_state_dict(const GradScalerState& state);

 private:
  enum class Stage { ready, unscaled, stepped };
  struct Seen {
    Stage stage = Stage::ready;
    bool is_bad = false;
  };

  GradScalerOptions options_;
  GradScalerState state_;
  std::map<const Optimizer*, Seen> seen_;  // since the last update()
  bool at_floor_ = false;
};

}  // namespace rote::optim
#endif

#include "optim/grad_scaler.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/pointwise.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "optim/rule.h"

namespace rote::optim {

namespace {

void check_state(const GradScalerState& state) {
  ROTE_CHECK(state.scale >= 0 && std::isfinite(state.scale), ArgumentError, "GradScaler: the scale is ", state.scale, "; it must be finite and at least 0.");
  ROTE_CHECK(state.growth_factor > 1, ArgumentError, "GradScaler: growth_factor is ", state.growth_factor, "; it must be above 1.");
  ROTE_CHECK(state.backoff_factor < 1 && state.backoff_factor > 0, ArgumentError, "GradScaler: backoff_factor is ", state.backoff_factor, "; it must lie between 0 and 1.");
  ROTE_CHECK(state.growth_interval > 0, ArgumentError, "GradScaler: growth_interval is ", state.growth_interval, "; it must be at least 1.");
}

// Whether a gradient of 32 or 64 bits, multiplied in its place, is finite throughout.
bool multiply(const Tensor& gradient, double factor) {
  Optimizer::Slot slot{.name = "", .param = gradient};
  const uint32_t amax = run<UnscaleUpdate>(slot, gradient, {factor});
  gradient.storage()->bump_version();
  return amax < kInfBits;
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options) {
  state_ = {.scale = static_cast<float>(options.init_scale),
            .growth_factor = options.growth_factor,
            .backoff_factor = options.backoff_factor,
            .growth_interval = options.growth_interval};
  check_state(state_);
  ROTE_CHECK(options.min_scale >= 0 && options.min_scale <= options.init_scale && options.init_scale <= options.max_scale, ArgumentError, "GradScaler: init_scale is ",
             options.init_scale, "; it must lie between min_scale ", options.min_scale, " and max_scale ", options.max_scale, ".");
  ROTE_CHECK(options.hysteresis > 0, ArgumentError, "GradScaler: hysteresis is ", options.hysteresis, "; it must be at least 1.");
}

Tensor GradScaler::scale(const Tensor& loss) const { return options_.enabled ? mul(loss, static_cast<double>(state_.scale)) : loss; }

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!options_.enabled) return;
  Seen& seen = seen_[&optimizer];
  ROTE_CHECK(seen.stage != Stage::unscaled, StateError, "GradScaler: unscale_() was called on this optimizer already; it is once between two calls of update().");
  ROTE_CHECK(seen.stage != Stage::stepped, StateError, "GradScaler: unscale_() comes after step(); it must come before.");
  const double inverse = static_cast<float>(1 / static_cast<double>(state_.scale));
  with_default_control([&] {
    for (const Tensor& param : optimizer.params()) {
      const Tensor gradient = param.grad();
      if (!gradient.defined()) continue;
      const Tensor widened = wide(gradient);
      seen.is_bad = !multiply(widened, inverse) || seen.is_bad;
      if (widened.storage() != gradient.storage()) copy_elements(gradient, widened);
    }
  });
  seen.stage = Stage::unscaled;
}

StepResult GradScaler::step(Optimizer& optimizer, const StepOptions& options) {
  if (!options_.enabled) return optimizer.step(options);
  ROTE_CHECK(seen_[&optimizer].stage != Stage::stepped, StateError, "GradScaler: step() was called on this optimizer already; it is once between two calls of update().");
  if (seen_[&optimizer].stage == Stage::ready) unscale_(optimizer);
  Seen& seen = seen_[&optimizer];
  seen.stage = Stage::stepped;
  return seen.is_bad ? StepResult::skipped : optimizer.step(options);
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!options_.enabled) return;
  if (new_scale) {
    GradScalerState state = state_;
    state.scale = static_cast<float>(*new_scale);
    check_state(state);
    state_ = state;
    seen_.clear();
    return;
  }
  const bool looked = std::any_of(seen_.begin(), seen_.end(), [](const auto& one) { return one.second.stage != Stage::ready; });
  ROTE_CHECK(looked, StateError, "GradScaler: update() without a step since the last one; call step() or unscale_() first.");
  const bool is_bad = std::any_of(seen_.begin(), seen_.end(), [](const auto& one) { return one.second.is_bad; });
  seen_.clear();
  at_floor_ = is_bad && state_.scale <= options_.min_scale;
  if (is_bad) {
    state_.growth_tracker = 0;
    if (++state_.bad_tracker < options_.hysteresis) return;
    state_.bad_tracker = 0;
    state_.scale = std::max(static_cast<float>(state_.scale * state_.backoff_factor), static_cast<float>(options_.min_scale));
    return;
  }
  if (++state_.growth_tracker < state_.growth_interval) return;
  state_.growth_tracker = state_.bad_tracker = 0;
  const float grown = static_cast<float>(state_.scale * state_.growth_factor);  // rounded once, as PyTorch does
  if (std::isfinite(grown)) state_.scale = std::min(grown, static_cast<float>(options_.max_scale));
}

bool GradScaler::found_inf(const Optimizer& optimizer) const {
  const auto seen = seen_.find(&optimizer);
  return seen != seen_.end() && seen->second.is_bad;
}

void GradScaler::load_state_dict(const GradScalerState& state) {
  check_state(state);
  ROTE_CHECK(state.scale >= options_.min_scale && state.scale <= options_.max_scale, ArgumentError, "GradScaler: the scale of the state is ", state.scale, "; it must lie between min_scale ",
             options_.min_scale, " and max_scale ", options_.max_scale, ".");
  ROTE_CHECK(state.growth_tracker >= 0 && state.bad_tracker >= 0, ArgumentError, "GradScaler: the state counts ", state.growth_tracker, " good and ", state.bad_tracker,
             " bad updates; neither is negative.");
  state_ = state;
  seen_.clear();
}

}  // namespace rote::optim

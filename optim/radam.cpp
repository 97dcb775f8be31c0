#include "optim/radam.h"

#include "optim/rule.h"

namespace rote::optim {

void RAdamOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("decoupled_weight_decay", decoupled_weight_decay);
  from.take("maximize", maximize);
}

RAdam::RAdam(std::vector<NamedParameter> params, const RAdamOptions& options) : RAdam(one_group(std::move(params), options.lr, options.weight_decay), options) {}

RAdam::RAdam(std::vector<Group> groups, const RAdamOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("RAdam", this->groups());
  check_below_one("RAdam", "a beta", options.betas.first);
  check_below_one("RAdam", "a beta", options.betas.second);
  check_not_negative("RAdam", "eps", options.eps);
}

NamedState RAdam::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"exp_avg", "exp_avg_sq"}); }

uint32_t RAdam::update(const Group& group, Slot& slot, double factor) {
  const RAdamOptions& o = options_;
  const double b1 = o.betas.first, b2 = o.betas.second, t = static_cast<double>(slot.step), b2t = power(b2, slot.step);
  const double limit = 2 / (1 - b2) - 1, length = limit - 2 * t * b2t / (1 - b2t);
  double rate = group.lr / (1 - power(b1, slot.step));
  const bool rectified = length > 5;
  if (rectified) rate *= std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) * std::sqrt(1 - b2t);
  const double l2 = o.decoupled_weight_decay ? 0 : group.weight_decay, kept = o.decoupled_weight_decay ? 1 - group.lr * group.weight_decay : 1;
  return run<RAdamUpdate>(slot, {o.maximize ? -factor : factor, l2, kept, b1, 1 - b1, b2, 1 - b2, o.eps, rate, rectified ? 1.0 : 0.0});
}

}  // namespace rote::optim

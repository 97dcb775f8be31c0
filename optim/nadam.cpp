#include "optim/nadam.h"

#include "kernels/math64.h"
#include "optim/rule.h"

namespace rote::optim {

namespace {

NamedState state_of(const Tensor& param) {
  NamedState state = zeros_like(param, {"exp_avg", "exp_avg_sq"});
  state.push_back(number_state("mu_product", 1));
  return state;
}

}  // namespace

void NAdamOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("momentum_decay", momentum_decay);
  from.take("decoupled_weight_decay", decoupled_weight_decay);
  from.take("maximize", maximize);
}

NAdam::NAdam(std::vector<NamedParameter> params, const NAdamOptions& options) : NAdam(one_group(std::move(params), options.lr, options.weight_decay), options) {}

NAdam::NAdam(std::vector<Group> groups, const NAdamOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("NAdam", this->groups());
  check_below_one("NAdam", "a beta", options.betas.first);
  check_below_one("NAdam", "a beta", options.betas.second);
  check_not_negative("NAdam", "eps", options.eps);
  check_not_negative("NAdam", "momentum_decay", options.momentum_decay);
}

NamedState NAdam::fresh_state(const Group&, const Tensor& param) const { return state_of(param); }

uint32_t NAdam::update(const Group& group, Slot& slot, double factor) {
  const NAdamOptions& o = options_;
  const double b1 = o.betas.first, b2 = o.betas.second;
  const auto mu_at = [&](int64_t t) { return b1 * (1 - 0.5 * math64::pow(0.96, static_cast<double>(t) * o.momentum_decay)); };
  double& product = *slot.state[2].second.data<double>();
  const double mu = mu_at(slot.step), next = mu_at(slot.step + 1);
  product *= mu;
  const double l2 = o.decoupled_weight_decay ? 0 : group.weight_decay, kept = o.decoupled_weight_decay ? 1 - group.lr * group.weight_decay : 1;
  return run<NAdamUpdate>(slot, {o.maximize ? -factor : factor, l2, kept, b1, 1 - b1, b2, 1 - b2, 1 / std::sqrt(1 - power(b2, slot.step)), o.eps,
                                 group.lr * (1 - mu) / (1 - product), group.lr * next / (1 - product * next)});
}

}  // namespace rote::optim

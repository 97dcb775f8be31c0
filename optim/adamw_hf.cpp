#include "optim/adamw_hf.h"

#include "optim/rule.h"

namespace rote::optim {

void AdamWHfOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("correct_bias", correct_bias);
}

AdamWHf::AdamWHf(std::vector<NamedParameter> params, const AdamWHfOptions& options) : AdamWHf(one_group(std::move(params), options.lr, options.weight_decay), options) {}

AdamWHf::AdamWHf(std::vector<Group> groups, const AdamWHfOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("AdamWHf", this->groups());
  check_below_one("AdamWHf", "a beta", options.betas.first);
  check_below_one("AdamWHf", "a beta", options.betas.second);
  check_not_negative("AdamWHf", "eps", options.eps);
}

NamedState AdamWHf::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"exp_avg", "exp_avg_sq"}); }

uint32_t AdamWHf::update(const Group& group, Slot& slot, double factor) {
  const double b1 = options_.betas.first, b2 = options_.betas.second;
  const double correction = options_.correct_bias ? std::sqrt(1 - power(b2, slot.step)) / (1 - power(b1, slot.step)) : 1;
  return run<AdamWHfUpdate>(slot, {factor, b1, 1 - b1, b2, 1 - b2, options_.eps, group.lr * correction, 1 - group.lr * group.weight_decay});
}

}  // namespace rote::optim

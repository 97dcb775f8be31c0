#include "optim/lion.h"

#include "optim/rule.h"

namespace rote::optim {

void LionOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("weight_decay", weight_decay);
}

Lion::Lion(std::vector<NamedParameter> params, const LionOptions& options) : Lion(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Lion::Lion(std::vector<Group> groups, const LionOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Lion", this->groups());
  check_below_one("Lion", "a beta", options.betas.first);
  check_below_one("Lion", "a beta", options.betas.second);
}

NamedState Lion::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"exp_avg"}); }

uint32_t Lion::update(const Group& group, Slot& slot, double factor) {
  const double b1 = options_.betas.first, b2 = options_.betas.second;
  return run<LionUpdate>(slot, {factor, 1 - group.lr * group.weight_decay, group.lr, b1, 1 - b1, b2, 1 - b2});
}

}  // namespace rote::optim

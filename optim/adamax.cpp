#include "optim/adamax.h"

#include "optim/rule.h"

namespace rote::optim {

void AdamaxOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("maximize", maximize);
}

Adamax::Adamax(std::vector<NamedParameter> params, const AdamaxOptions& options) : Adamax(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Adamax::Adamax(std::vector<Group> groups, const AdamaxOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Adamax", this->groups());
  check_below_one("Adamax", "a beta", options.betas.first);
  check_below_one("Adamax", "a beta", options.betas.second);
  check_not_negative("Adamax", "eps", options.eps);
}

NamedState Adamax::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"exp_avg", "exp_inf"}); }

uint32_t Adamax::update(const Group& group, Slot& slot, double factor) {
  const double b1 = options_.betas.first;
  const double rate = group.lr / (1 - power(b1, slot.step));
  return run<AdamaxUpdate>(slot, {options_.maximize ? -factor : factor, group.weight_decay, rate, b1, 1 - b1, options_.betas.second, options_.eps});
}

}  // namespace rote::optim

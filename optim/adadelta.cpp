#include "optim/adadelta.h"

#include "optim/rule.h"

namespace rote::optim {

void AdadeltaOptions::read(OptionReader& from) {
  from.take("rho", rho);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("maximize", maximize);
}

Adadelta::Adadelta(std::vector<NamedParameter> params, const AdadeltaOptions& options) : Adadelta(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Adadelta::Adadelta(std::vector<Group> groups, const AdadeltaOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Adadelta", this->groups());
  ROTE_CHECK(options.rho >= 0 && options.rho <= 1, ArgumentError, "Adadelta: rho is ", options.rho, "; it must lie in [0,1].");
  check_not_negative("Adadelta", "eps", options.eps);
}

NamedState Adadelta::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"square_avg", "acc_delta"}); }

uint32_t Adadelta::update(const Group& group, Slot& slot, double factor) {
  return run<AdadeltaUpdate>(slot, {options_.maximize ? -factor : factor, group.weight_decay, group.lr, options_.rho, 1 - options_.rho, options_.eps});
}

}  // namespace rote::optim

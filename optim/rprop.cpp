#include "optim/rprop.h"

#include "optim/rule.h"

namespace rote::optim {

void RpropOptions::read(OptionReader& from) {
  from.take("etaminus", etaminus);
  from.take("etaplus", etaplus);
  from.take("step_size_min", step_size_min);
  from.take("step_size_max", step_size_max);
  from.take("maximize", maximize);
}

Rprop::Rprop(std::vector<NamedParameter> params, const RpropOptions& options) : Rprop(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Rprop::Rprop(std::vector<Group> groups, const RpropOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Rprop", this->groups());
  ROTE_CHECK(0 < options.etaminus && options.etaminus < 1 && options.etaplus > 1, ArgumentError, "Rprop: the etas are ", options.etaminus, " and ",
             options.etaplus, "; they must be 0 < etaminus < 1 < etaplus.");
  for (const Group& group : this->groups())
    ROTE_CHECK(group.weight_decay == 0, ArgumentError, "Rprop: weight_decay is ", group.weight_decay, "; steps by sign know no decay, it must be 0.");
}

NamedState Rprop::fresh_state(const Group& group, const Tensor& param) const { return {zeros_like(param, {"prev"})[0], {"step_size", full(param.shape(), group.lr, {.dtype = param.dtype()})}}; }

uint32_t Rprop::update(const Group& group, Slot& slot, double factor) {
  static_cast<void>(group);  // its lr is in step_size
  return run<RpropUpdate>(slot, {options_.maximize ? -factor : factor, options_.etaminus, options_.etaplus, options_.step_size_min, options_.step_size_max});
}

}  // namespace rote::optim

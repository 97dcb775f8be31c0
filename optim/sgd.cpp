#include "optim/sgd.h"

#include "optim/rule.h"

namespace rote::optim {

void SgdOptions::read(OptionReader& from) {
  from.take("momentum", momentum);
  from.take("dampening", dampening);
  from.take("weight_decay", weight_decay);
  from.take("nesterov", nesterov);
  from.take("maximize", maximize);
}

Sgd::Sgd(std::vector<NamedParameter> params, const SgdOptions& options) : Sgd(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Sgd::Sgd(std::vector<Group> groups, const SgdOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Sgd", this->groups());
  check_not_negative("Sgd", "momentum", options.momentum);
  ROTE_CHECK(!options.nesterov || (options.momentum > 0 && options.dampening == 0), ArgumentError, "Sgd: nesterov with momentum ", options.momentum,
             " and dampening ", options.dampening, "; it needs a momentum above 0 and no dampening.");
}

NamedState Sgd::fresh_state(const Group&, const Tensor& param) const { return options_.momentum == 0 ? NamedState{} : zeros_like(param, {"momentum_buffer"}); }

uint32_t Sgd::update(const Group& group, Slot& slot, double factor) {
  const SgdOptions& o = options_;
  const double g = o.maximize ? -factor : factor, l2 = o.decoupled_weight_decay ? 0 : group.weight_decay;
  const double kept = o.decoupled_weight_decay ? 1 - group.lr * group.weight_decay : 1;
  if (o.momentum == 0) return run<SgdUpdate>(slot, {g, l2, group.lr, kept});
  const double share = slot.step == 1 ? 1 : 1 - o.dampening;
  return run<MomentumUpdate>(slot, {g, l2, group.lr, kept, o.momentum, share, o.nesterov ? 1.0 : 0.0, o.nesterov ? o.momentum : 1.0});
}

}  // namespace rote::optim

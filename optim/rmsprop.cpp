#include "optim/rmsprop.h"

#include "optim/rule.h"

namespace rote::optim {

namespace {

NamedState state_of(const Tensor& param, const RmsPropOptions& o) {
  NamedState state = zeros_like(param, {"square_avg"});
  if (o.momentum > 0) state.push_back(zeros_like(param, {"momentum_buffer"})[0]);
  if (o.centered) state.push_back(zeros_like(param, {"grad_avg"})[0]);
  return state;
}

}  // namespace

void RmsPropOptions::read(OptionReader& from) {
  from.take("momentum", momentum);
  from.take("alpha", alpha);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("centered", centered);
  from.take("maximize", maximize);
}

RmsProp::RmsProp(std::vector<NamedParameter> params, const RmsPropOptions& options) : RmsProp(one_group(std::move(params), options.lr, options.weight_decay), options) {}

RmsProp::RmsProp(std::vector<Group> groups, const RmsPropOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("RmsProp", this->groups());
  check_not_negative("RmsProp", "alpha", options.alpha);
  check_not_negative("RmsProp", "eps", options.eps);
  check_not_negative("RmsProp", "momentum", options.momentum);
}

NamedState RmsProp::fresh_state(const Group&, const Tensor& param) const { return state_of(param, options_); }

uint32_t RmsProp::update(const Group& group, Slot& slot, double factor) {
  const RmsPropOptions& o = options_;
  const double scalars[] = {o.maximize ? -factor : factor, group.weight_decay, group.lr, o.alpha, 1 - o.alpha, o.eps, o.momentum};
  if (o.momentum > 0) return o.centered ? run<RmsPropUpdate<true, true>>(slot, scalars) : run<RmsPropUpdate<true, false>>(slot, scalars);
  return o.centered ? run<RmsPropUpdate<false, true>>(slot, scalars) : run<RmsPropUpdate<false, false>>(slot, scalars);
}

}  // namespace rote::optim

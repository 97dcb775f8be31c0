#include "optim/asgd.h"

#include <algorithm>

#include "kernels/math64.h"
#include "optim/rule.h"

namespace rote::optim {

void AsgdOptions::read(OptionReader& from) {
  from.take("lambd", lambd);
  from.take("alpha", alpha);
  from.take("t0", t0);
  from.take("weight_decay", weight_decay);
  from.take("maximize", maximize);
}

Asgd::Asgd(std::vector<NamedParameter> params, const AsgdOptions& options) : Asgd(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Asgd::Asgd(std::vector<Group> groups, const AsgdOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Asgd", this->groups());
  check_not_negative("Asgd", "lambd", options.lambd);
  check_not_negative("Asgd", "alpha", options.alpha);
}

NamedState Asgd::fresh_state(const Group& group, const Tensor& param) const { return {zeros_like(param, {"ax"})[0], number_state("eta", group.lr), number_state("mu", 1)}; }

uint32_t Asgd::update(const Group& group, Slot& slot, double factor) {
  const AsgdOptions& o = options_;
  double &eta = *slot.state[1].second.data<double>(), &mu = *slot.state[2].second.data<double>();
  const uint32_t amax = run<AsgdUpdate>(slot, {o.maximize ? -factor : factor, group.weight_decay, eta, 1 - o.lambd * eta, mu});
  const double t = static_cast<double>(slot.step);
  eta = group.lr / math64::pow(1 + o.lambd * group.lr * t, o.alpha);
  mu = 1 / std::max(1.0, t - o.t0);
  return amax;
}

}  // namespace rote::optim

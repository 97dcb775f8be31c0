#include "optim/ademamix.h"

#include <algorithm>

#include "kernels/math64.h"
#include "optim/rule.h"

namespace rote::optim {

namespace {

// From beta1 to beta3, evenly in the number of steps that the mean looks back (the paper's eq. 3).
double slow_beta(const AdEmaMixOptions& o, int64_t step) {
  if (o.t_beta3 == 0 || step >= o.t_beta3 || o.betas.first == 0) return o.beta3;
  const double first = math64::log(o.betas.first), last = math64::log(o.beta3), share = static_cast<double>(step) / static_cast<double>(o.t_beta3);
  return std::min(math64::exp(first * last / ((1 - share) * last + share * first)), o.beta3);
}

}  // namespace

void AdEmaMixOptions::read(OptionReader& from) {
  from.take("beta1", betas.first);
  from.take("beta2", betas.second);
  from.take("beta3", beta3);
  from.take("alpha", alpha);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("t_alpha", t_alpha);
  from.take("t_beta3", t_beta3);
}

AdEmaMix::AdEmaMix(std::vector<NamedParameter> params, const AdEmaMixOptions& options) : AdEmaMix(one_group(std::move(params), options.lr, options.weight_decay), options) {}

AdEmaMix::AdEmaMix(std::vector<Group> groups, const AdEmaMixOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("AdEmaMix", this->groups());
  check_below_one("AdEmaMix", "a beta", options.betas.first);
  check_below_one("AdEmaMix", "a beta", options.betas.second);
  check_not_negative("AdEmaMix", "eps", options.eps);
  check_below_one("AdEmaMix", "beta3", options.beta3);
  check_not_negative("AdEmaMix", "alpha", options.alpha);
}

NamedState AdEmaMix::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"exp_avg", "exp_avg_slow", "exp_avg_sq"}); }

uint32_t AdEmaMix::update(const Group& group, Slot& slot, double factor) {
  const AdEmaMixOptions& o = options_;
  const double b1 = o.betas.first, b2 = o.betas.second, b3 = slow_beta(o, slot.step);
  const double alpha = o.t_alpha > 0 ? std::min(1.0, static_cast<double>(slot.step) / static_cast<double>(o.t_alpha)) * o.alpha : o.alpha;
  return run<AdEmaMixUpdate>(slot, {factor, 1 - group.lr * group.weight_decay, b1, 1 - b1, b3, 1 - b3, b2, 1 - b2, 1 / std::sqrt(1 - power(b2, slot.step)), o.eps,
                                    1 / (1 - power(b1, slot.step)), alpha, group.lr});
}

}  // namespace rote::optim

#include "optim/adamw.h"

#include "optim/rule.h"

namespace rote::optim {

namespace {

// What both take by name.
template <class Options>
void read_common(OptionReader& from, Options& o) {
  from.take("beta1", o.betas.first);
  from.take("beta2", o.betas.second);
  from.take("eps", o.eps);
  from.take("weight_decay", o.weight_decay);
  from.take("amsgrad", o.amsgrad);
  from.take("maximize", o.maximize);
}

std::vector<Group> with_options(const char* who, std::vector<Group> groups, const Betas& betas, double eps) {
  for (Group& group : groups) {
    group.betas = betas;
    group.eps = eps;
  }
  check_groups(who, groups);
  check_not_negative(who, "eps", eps);
  check_below_one(who, "a beta", betas.first);
  check_below_one(who, "a beta", betas.second);
  return groups;
}

NamedState moments(const Tensor& param, bool amsgrad) {
  return amsgrad ? zeros_like(param, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}) : zeros_like(param, {"exp_avg", "exp_avg_sq"});
}

template <bool Amsgrad>
uint32_t adam_step(const Group& g, Optimizer::Slot& slot, double factor, bool decoupled) {
  const double correction1 = 1 - power(g.betas.first, slot.step), correction2 = 1 - power(g.betas.second, slot.step);
  const double kept = 1 - g.lr * g.weight_decay, b1 = g.betas.first, b2 = g.betas.second, rate = g.lr / correction1, root = 1 / std::sqrt(correction2);
  if (decoupled) return run<AdamUpdate<false, Amsgrad>>(slot, {factor, kept, b1, 1 - b1, b2, 1 - b2, root, g.eps, rate});
  return run<AdamUpdate<true, Amsgrad>>(slot, {factor, 1, b1, 1 - b1, b2, 1 - b2, root, g.eps, rate, g.weight_decay});
}

}  // namespace

void AdamWOptions::read(OptionReader& from) { read_common(from, *this); }

AdamW::AdamW(std::vector<NamedParameter> params, const AdamWOptions& options) : AdamW(one_group(std::move(params), options.lr, options.weight_decay), options) {}

AdamW::AdamW(std::vector<Group> groups, const AdamWOptions& options)
    : Optimizer(with_options("AdamW", std::move(groups), options.betas, options.eps)), options_(options) {}

NamedState AdamW::fresh_state(const Group&, const Tensor& param) const { return moments(param, options_.amsgrad); }

uint32_t AdamW::update(const Group& group, Slot& slot, double factor) {
  const double g = options_.maximize ? -factor : factor;
  return options_.amsgrad ? adam_step<true>(group, slot, g, true) : adam_step<false>(group, slot, g, true);
}

void AdamOptions::read(OptionReader& from) {
  read_common(from, *this);
  from.take("decoupled_weight_decay", decoupled_weight_decay);
}

Adam::Adam(std::vector<NamedParameter> params, const AdamOptions& options) : Adam(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Adam::Adam(std::vector<Group> groups, const AdamOptions& options)
    : Optimizer(with_options("Adam", std::move(groups), options.betas, options.eps)), options_(options) {}

NamedState Adam::fresh_state(const Group&, const Tensor& param) const { return moments(param, options_.amsgrad); }

uint32_t Adam::update(const Group& group, Slot& slot, double factor) {
  const double g = options_.maximize ? -factor : factor;
  return options_.amsgrad ? adam_step<true>(group, slot, g, options_.decoupled_weight_decay) : adam_step<false>(group, slot, g, options_.decoupled_weight_decay);
}

}  // namespace rote::optim

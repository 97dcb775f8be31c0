#include "optim/adagrad.h"

#include "optim/rule.h"

namespace rote::optim {

void AdagradOptions::read(OptionReader& from) {
  from.take("lr_decay", lr_decay);
  from.take("eps", eps);
  from.take("weight_decay", weight_decay);
  from.take("initial_accumulator_value", initial_accumulator_value);
  from.take("maximize", maximize);
}

Adagrad::Adagrad(std::vector<NamedParameter> params, const AdagradOptions& options) : Adagrad(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Adagrad::Adagrad(std::vector<Group> groups, const AdagradOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Adagrad", this->groups());
  check_not_negative("Adagrad", "lr_decay", options.lr_decay);
  check_not_negative("Adagrad", "eps", options.eps);
  check_not_negative("Adagrad", "initial_accumulator_value", options.initial_accumulator_value);
}

NamedState Adagrad::fresh_state(const Group&, const Tensor& param) const { return {{"sum", full(param.shape(), options_.initial_accumulator_value, {.dtype = param.dtype()})}}; }

uint32_t Adagrad::update(const Group& group, Slot& slot, double factor) {
  const double rate = group.lr / (1 + static_cast<double>(slot.step - 1) * options_.lr_decay);
  return run<AdagradUpdate>(slot, {options_.maximize ? -factor : factor, group.weight_decay, rate, options_.eps});
}

}  // namespace rote::optim

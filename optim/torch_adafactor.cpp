#include "optim/torch_adafactor.h"

#include <algorithm>
#include <limits>

#include "autograd/mode.h"
#include "kernels/math64.h"
#include "optim/factored.h"

namespace rote::optim {

void TorchAdafactorOptions::read(OptionReader& from) {
  from.take("beta2_decay", beta2_decay);
  from.take("eps1", eps1);
  from.take("eps2", eps2);
  from.take("d", d);
  from.take("weight_decay", weight_decay);
  from.take("maximize", maximize);
}

TorchAdafactor::TorchAdafactor(std::vector<NamedParameter> params, const TorchAdafactorOptions& options)
    : TorchAdafactor(one_group(std::move(params), options.lr, options.weight_decay), options) {}

TorchAdafactor::TorchAdafactor(std::vector<Group> groups, const TorchAdafactorOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("TorchAdafactor", this->groups());
  check_not_negative("TorchAdafactor", "eps1", options.eps1.value_or(0));
  check_not_negative("TorchAdafactor", "eps2", options.eps2);
  ROTE_CHECK(options.beta2_decay <= 0, ArgumentError, "TorchAdafactor: beta2_decay is ", options.beta2_decay, "; it must be at most 0.");
  ROTE_CHECK(options.d > 0, ArgumentError, "TorchAdafactor: d is ", options.d, "; it must be above 0.");
}

NamedState TorchAdafactor::fresh_state(const Group&, const Tensor& param) const {
  const Shape& shape = param.shape();
  if (shape.axes() < 2) return zeros_like(param, {"variance"});
  return {{"row_var", zeros_of(param, reduced(shape, 1, true))}, {"col_var", zeros_of(param, reduced(shape, 2, true))}};
}

uint32_t TorchAdafactor::update(const Group& group, Slot& slot, double factor) {
  const NoGrad guard;
  const TorchAdafactorOptions& o = options_;
  const double t = static_cast<double>(slot.step), share = math64::pow(t, o.beta2_decay);
  const double eps1 = o.eps1.value_or(slot.param.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon());
  const double scale = std::max(o.eps2, rms(slot.param)) * std::min(group.lr, 1 / std::sqrt(t));
  const Tensor g = wide(slot.param.grad()) * (o.maximize ? -factor : factor), squared = g * g;
  Tensor variance;
  if (slot.param.axes() >= 2) {
    const Tensor &row = slot.state[0].second, &column = slot.state[1].second;
    blend(row, mean(squared, {-1}, true), share);
    blend(column, mean(squared, {-2}, true), share);
    variance = row * column / clamp(mean(row, {-2}, true), eps1, std::numeric_limits<double>::infinity());
  } else {
    blend(slot.state[0].second, squared, share);
    variance = slot.state[0].second;
  }
  const Tensor u = g * rsqrt(clamp(variance, eps1 * eps1, std::numeric_limits<double>::infinity()));
  return apply_update(slot, u, scale / std::max(1.0, rms(u) / o.d), 1 - group.lr * group.weight_decay);
}

}  // namespace rote::optim

#include "optim/adafactor.h"

#include <algorithm>

#include "autograd/mode.h"
#include "kernels/math64.h"
#include "optim/factored.h"

namespace rote::optim {

void AdafactorOptions::read(OptionReader& from) {
  from.take_pair("eps", eps1, eps2);
  from.take("clip_threshold", clip_threshold);
  from.take("decay_rate", decay_rate);
  from.take("beta1", beta1);
  from.take("weight_decay", weight_decay);
  from.take("scale_parameter", scale_parameter);
  from.take("relative_step", relative_step);
  from.take("warmup_init", warmup_init);
}

Adafactor::Adafactor(std::vector<NamedParameter> params, const AdafactorOptions& options)
    : Adafactor(one_group(std::move(params), options.lr.value_or(0), options.weight_decay), options) {
  ROTE_CHECK(options.lr.has_value() != options.relative_step, ArgumentError, "Adafactor: lr is ", options.lr ? str(*options.lr) : "not given",
             options.relative_step ? " beside relative_step; give lr with relative_step = false." : " and relative_step is false; give one of the two.");
}

Adafactor::Adafactor(std::vector<Group> groups, const AdafactorOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Adafactor", this->groups());
  ROTE_CHECK(options.relative_step || !options.warmup_init, ArgumentError, "Adafactor: warmup_init without relative_step; it shapes that step only.");
  check_not_negative("Adafactor", "eps1", options.eps1);
  check_not_negative("Adafactor", "eps2", options.eps2);
  ROTE_CHECK(options.clip_threshold > 0, ArgumentError, "Adafactor: clip_threshold is ", options.clip_threshold, "; it must be above 0.");
  if (options.beta1) check_below_one("Adafactor", "beta1", *options.beta1);
}

NamedState Adafactor::fresh_state(const Group&, const Tensor& param) const {
  const Shape& shape = param.shape();
  NamedState state;
  if (shape.axes() >= 2) state = {{"exp_avg_sq_row", zeros_of(param, reduced(shape, 1, false))}, {"exp_avg_sq_col", zeros_of(param, reduced(shape, 2, false))}};
  else state = zeros_like(param, {"exp_avg_sq"});
  state.push_back(number_state("RMS", 0));
  if (options_.beta1) state.emplace_back("exp_avg", zeros_of(param, shape));
  return state;
}

uint32_t Adafactor::update(const Group& group, Slot& slot, double factor) {
  const NoGrad guard;
  const AdafactorOptions& o = options_;
  const double t = static_cast<double>(slot.step), scale = rms(slot.param);
  double rate = o.relative_step ? std::min(o.warmup_init ? 1e-6 * t : 1e-2, 1 / std::sqrt(t)) : group.lr;
  if (o.scale_parameter) rate *= std::max(o.eps2, scale);
  const double share = math64::pow(t, o.decay_rate);  // 1 - b
  const Tensor g = wide(slot.param.grad()) * factor, squared = g * g + o.eps1;
  const bool factored = slot.param.axes() >= 2;
  Tensor u;
  if (factored) {
    const Tensor &row = slot.state[0].second, &column = slot.state[1].second;
    blend(row, mean(squared, {-1}), share);
    blend(column, mean(squared, {-2}), share);
    u = g * unsqueeze(rsqrt(row / mean(row, {-1}, true)), -1) * unsqueeze(rsqrt(column), -2);
  } else {
    blend(slot.state[0].second, squared, share);
    u = g * rsqrt(slot.state[0].second);
  }
  *slot.state[factored ? 2 : 1].second.data<double>() = scale;
  const double clip = std::max(1.0, rms(u) / o.clip_threshold), kept = 1 - group.weight_decay * rate;
  if (!o.beta1) return apply_update(slot, u, rate / clip, kept);
  const Tensor& average = slot.state.back().second;
  blend(average, u * (rate / clip), 1 - *o.beta1);
  return apply_update(slot, average, 1, kept);
}

}  // namespace rote::optim

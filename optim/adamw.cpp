#include "optim/adamw.h"

#include <cmath>

#include "optim/update_table.h"

namespace rote::optim {

namespace {

std::vector<Group> with_options(std::vector<Group> groups, const AdamWOptions& o) {
  for (Group& g : groups) {
    g.betas = o.betas;
    g.eps = o.eps;
    ROTE_CHECK(g.lr >= 0 && std::isfinite(g.lr), ArgumentError, "AdamW: lr is ", g.lr, "; it must be finite and at least 0.");
    ROTE_CHECK(g.eps >= 0 && std::isfinite(g.eps), ArgumentError, "AdamW: eps is ", g.eps, "; it must be finite and at least 0.");
    ROTE_CHECK(g.weight_decay >= 0 && std::isfinite(g.weight_decay), ArgumentError, "AdamW: weight_decay is ", g.weight_decay, "; it must be finite and at least 0.");
    for (const double beta : {g.betas.first, g.betas.second})
      ROTE_CHECK(beta >= 0 && beta < 1, ArgumentError, "AdamW: a beta is ", beta, "; betas lie in [0,1).");
  }
  return groups;
}

template <class Real>
uint32_t update_as(const Group& g, Optimizer::Slot& slot, double factor) {
  const Tensor grad = contiguous(slot.param.grad());
  const double correction1 = 1 - power(g.betas.first, slot.step), correction2 = 1 - power(g.betas.second, slot.step);
  const double exact[] = {factor,           1 - g.lr * g.weight_decay, g.betas.first, 1 - g.betas.first,    g.betas.second,
                          1 - g.betas.second, 1 / std::sqrt(correction2), g.eps,         g.lr / correction1};
  static_assert(std::size(exact) == AdamWUpdate::scalars);
  Real scalars[std::size(exact)];
  for (size_t i = 0; i < std::size(exact); ++i) scalars[i] = static_cast<Real>(exact[i]);
  return update_kernel<AdamWUpdate, Real>()(slot.param.numel(), slot.param.data<Real>(), grad.data<Real>(), slot.moments[0].second.data<Real>(),
                                            slot.moments[1].second.data<Real>(), scalars);
}

}  // namespace

AdamW::AdamW(std::vector<NamedParameter> params, const AdamWOptions& options)
    : AdamW(std::vector<Group>{{.params = std::move(params), .lr = options.lr, .weight_decay = options.weight_decay}}, options) {}

AdamW::AdamW(std::vector<Group> groups, const AdamWOptions& options)
    : Optimizer(with_options(std::move(groups), options), {"exp_avg", "exp_avg_sq"}) {}

uint32_t AdamW::update(const Group& group, Slot& slot, double factor) {
  if (slot.param.dtype() == DType::f64) return update_as<double>(group, slot, factor);
  return update_as<float>(group, slot, factor);
}

}  // namespace rote::optim

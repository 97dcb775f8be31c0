#include "optim/muon.h"

#include <algorithm>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "optim/clip.h"
#include "optim/rule.h"
#include "optim/sgd.h"

namespace rote::optim {

namespace {

// The factor U·Vᵀ of u = U·S·Vᵀ, roughly: singular values end between about 0.7 and 1.2.
Tensor orthogonalised(const Tensor& u, const MuonOptions& o) {
  const bool tall = u.size(0) > u.size(1);
  Tensor x = tall ? transpose(u, 0, 1) : u;
  x = x / std::max(two_norm({x}), o.eps);
  for (int64_t i = 0; i < o.ns_steps; ++i) {
    const Tensor gram = matmul(x, transpose(x, 0, 1));
    const Tensor polynomial = gram * o.b + matmul(gram, gram) * o.c;
    x = x * o.a + matmul(polynomial, x);
  }
  return tall ? transpose(x, 0, 1) : x;
}

}  // namespace

void MuonOptions::read(OptionReader& from) {
  from.take("weight_decay", weight_decay);
  from.take("momentum", momentum);
  from.take("nesterov", nesterov);
  from.take("a", a);
  from.take("b", b);
  from.take("c", c);
  from.take("eps", eps);
  from.take("ns_steps", ns_steps);
  from.take("adjust_lr_fn", adjust_lr_fn);
}

Muon::Muon(std::vector<NamedParameter> params, const MuonOptions& options) : Muon(one_group(std::move(params), options.lr, options.weight_decay), options) {}

Muon::Muon(std::vector<Group> groups, const MuonOptions& options) : Optimizer(std::move(groups)), options_(options) {
  check_groups("Muon", this->groups());
  check_below_one("Muon", "momentum", options.momentum);
  check_not_negative("Muon", "eps", options.eps);
  ROTE_CHECK(options.ns_steps >= 1 && options.ns_steps < 100, ArgumentError, "Muon: ns_steps is ", options.ns_steps, "; it must lie in [1,100).");
  ROTE_CHECK(options.adjust_lr_fn == "original" || options.adjust_lr_fn == "match_rms_adamw", ArgumentError, "Muon: adjust_lr_fn is \"", options.adjust_lr_fn,
             "\"; it must be original or match_rms_adamw.");
  for (const Group& group : this->groups())
    for (const auto& [name, param] : group.params)
      ROTE_CHECK(param.axes() == 2, ArgumentError, "Muon: ", name, " is ", describe(param), "; it updates matrices only, give the others to AdamW.");
}

NamedState Muon::fresh_state(const Group&, const Tensor& param) const { return zeros_like(param, {"momentum_buffer"}); }

uint32_t Muon::update(const Group& group, Slot& slot, double factor) {
  const NoGrad guard;
  const MuonOptions& o = options_;
  const Tensor g = wide(slot.param.grad()) * factor, &buffer = slot.state[0].second;
  copy_elements(buffer, buffer * o.momentum + g * (1 - o.momentum));
  const Tensor direction = o.nesterov ? g * (1 - o.momentum) + buffer * o.momentum : buffer;
  const double rows = static_cast<double>(slot.param.size(0)), columns = static_cast<double>(slot.param.size(1));
  const double adjustment = o.adjust_lr_fn == "original" ? std::sqrt(std::max(1.0, rows / columns)) : 0.2 * std::sqrt(std::max(rows, columns));
  return run<SgdUpdate>(slot, orthogonalised(direction, o), {1, 0, group.lr * adjustment, 1 - group.lr * group.weight_decay});
}

}  // namespace rote::optim

// optim/sgd.h — SGD with momentum, Nesterov's too, and SGDW.  Polyak 1964; Sutskever et al. 2013; Loshchilov & Hutter 2019, arXiv:1711.05101
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, lr, 1 - lr·wd of decoupled decay.
struct SgdUpdate {
  static constexpr int scalars = 4, states = 0;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    e.p = fma(-V(s[2]), g, e.p * V(s[3]));
  }
};

// Scalars: those of SgdUpdate, then momentum, 1 - dampening, and a, b of the direction a·g + b·buffer.
struct MomentumUpdate {
  static constexpr int scalars = 8, states = 1;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    e.state[0] = fma(V(s[4]), e.state[0], V(s[5]) * g);
    const V direction = fma(V(s[6]), g, V(s[7]) * e.state[0]);
    e.p = fma(-V(s[2]), direction, e.p * V(s[3]));
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0, dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;                // up the gradient, not down
  bool decoupled_weight_decay = false;  // SGDW: of the parameter before the step, times lr; else added to the gradient

  void read(OptionReader& from);
};

// g += wd·p;  b = momentum·b + (1 - dampening)·g, at first g;  p -= lr·b, with nesterov lr·(g + momentum·b), without momentum lr·g
// Throws ArgumentError for negative values and for nesterov without momentum or with dampening.
class Sgd : public Optimizer {
 public:
  explicit Sgd(std::vector<NamedParameter> params, const SgdOptions& options = {});
  explicit Sgd(std::vector<Group> groups, const SgdOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.momentum = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  SgdOptions options_;
};

}  // namespace rote::optim
#endif

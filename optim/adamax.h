// optim/adamax.h — Adamax, Adam by the largest gradient.  Kingma & Ba 2015, arXiv:1412.6980, section 7.1
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, lr/(1-b1^t), b1, 1-b1, b2, eps.
struct AdamaxUpdate {
  static constexpr int scalars = 7, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    e.state[0] = fma(V(s[3]), e.state[0], V(s[4]) * g);
    e.state[1] = maximum(V(s[5]) * e.state[1], abs(g) + V(s[6]));
    e.p = fma(-V(s[2]), e.state[0] / e.state[1], e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;

  void read(OptionReader& from);
};

// g += wd·p;  m = b1·m + (1-b1)·g;  u = max(b2·u, |g| + eps);  p -= lr/(1-b1^t) · m / u
// Throws ArgumentError for lr, eps or weight_decay < 0 and for betas outside [0,1).
class Adamax : public Optimizer {
 public:
  explicit Adamax(std::vector<NamedParameter> params, const AdamaxOptions& options = {});
  explicit Adamax(std::vector<Group> groups, const AdamaxOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdamaxOptions options_;
};

}  // namespace rote::optim
#endif

// optim/adamw_hf.h — AdamW as transformers 4 had it: eps outside of the bias correction, decay last.
#pragma once

namespace rote::optim {

// Scalars: gradient factor, b1, 1-b1, b2, 1-b2, eps, step size, 1 - lr·wd.
struct AdamWHfUpdate {
  static constexpr int scalars = 8, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &m = e.state[0], &v = e.state[1];
    const V g = e.g * V(s[0]);
    m = fma(V(s[1]), m, V(s[2]) * g);
    v = fma(V(s[3]), v, V(s[4]) * g * g);
    e.p = fma(-V(s[6]), m / (sqrt(v) + V(s[5])), e.p) * V(s[7]);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdamWHfOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-6;
  double weight_decay = 0;
  bool correct_bias = true;

  void read(OptionReader& from);
};

// m, v as AdamW;  p -= lr·sqrt(1-b2^t)/(1-b1^t) · m / (sqrt(v) + eps), without correct_bias lr alone;  then p -= lr·wd·p of the new p
// Throws ArgumentError for lr, eps or weight_decay < 0 and for betas outside [0,1).
class AdamWHf : public Optimizer {
 public:
  explicit AdamWHf(std::vector<NamedParameter> params, const AdamWHfOptions& options = {});
  explicit AdamWHf(std::vector<Group> groups, const AdamWHfOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdamWHfOptions options_;
};

}  // namespace rote::optim
#endif

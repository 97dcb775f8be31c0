// optim/radam.h — RAdam, Adam whose rate waits for its variance.  Liu et al. 2020, arXiv:1908.03265
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, 1 - lr·wd of decoupled decay, b1, 1-b1, b2, 1-b2, eps, rate, 1 where it is divided by the root and 0 where not.
struct RAdamUpdate {
  static constexpr int scalars = 10, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &m = e.state[0], &v = e.state[1];
    e.p = e.p * V(s[2]);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    m = fma(V(s[3]), m, V(s[4]) * g);
    v = fma(V(s[5]), v, V(s[6]) * g * g);
    const V step = s[9] != Real(0) ? m / (sqrt(v) + V(s[7])) : m;
    e.p = fma(-V(s[8]), step, e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct RAdamOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  bool maximize = false;

  void read(OptionReader& from);
};

// m, v as Adam;  R = 2/(1-b2) - 1, r = R - 2t·b2^t/(1-b2^t);  where r > 5:
// p -= lr · sqrt((r-4)(r-2)R / ((R-4)(R-2)r)) · sqrt(1-b2^t)/(1-b1^t) · m / (sqrt(v) + eps), else p -= lr/(1-b1^t) · m
// Throws ArgumentError for negative values and for betas outside [0,1).
class RAdam : public Optimizer {
 public:
  explicit RAdam(std::vector<NamedParameter> params, const RAdamOptions& options = {});
  explicit RAdam(std::vector<Group> groups, const RAdamOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  RAdamOptions options_;
};

}  // namespace rote::optim
#endif

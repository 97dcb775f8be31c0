// optim/lion.h — Lion, steps by the sign of a mean.  Chen et al. 2023, arXiv:2302.06675
#pragma once

namespace rote::optim {

// Scalars: gradient factor, 1 - lr·wd, lr, b1, 1-b1, b2, 1-b2.
struct LionUpdate {
  static constexpr int scalars = 7, states = 1;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto& m = e.state[0];
    const V g = e.g * V(s[0]), zero(Real(0)), one(Real(1));
    const V c = fma(V(s[3]), m, V(s[4]) * g);
    e.p = fma(-V(s[2]), select(c > zero, one, select(c < zero, -one, zero)), e.p * V(s[1]));
    m = fma(V(s[5]), m, V(s[6]) * g);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct LionOptions {
  double lr = 1e-4;
  Betas betas = {0.9, 0.99};
  double weight_decay = 0;

  void read(OptionReader& from);
};

// p *= 1 - lr·wd;  p -= lr·sign(b1·m + (1-b1)·g);  m = b2·m + (1-b2)·g
// Throws ArgumentError for lr or weight_decay < 0 and for betas outside [0,1).
class Lion : public Optimizer {
 public:
  explicit Lion(std::vector<NamedParameter> params, const LionOptions& options = {});
  explicit Lion(std::vector<Group> groups, const LionOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  LionOptions options_;
};

}  // namespace rote::optim
#endif

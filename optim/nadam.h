// optim/nadam.h — NAdam, Adam with Nesterov's momentum.  Dozat 2016, ICLR workshop
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, 1 - lr·wd of decoupled decay, b1, 1-b1, b2, 1-b2, 1/sqrt(1-b2^t), eps, rate of g, rate of m.
struct NAdamUpdate {
  static constexpr int scalars = 11, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &m = e.state[0], &v = e.state[1];
    e.p = e.p * V(s[2]);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    m = fma(V(s[3]), m, V(s[4]) * g);
    v = fma(V(s[5]), v, V(s[6]) * g * g);
    const V root = fma(sqrt(v), V(s[7]), V(s[8]));
    e.p = fma(-V(s[10]), m / root, fma(-V(s[9]), g / root, e.p));
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct NAdamOptions {
  double lr = 2e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  bool maximize = false;

  void read(OptionReader& from);
};

// m, v as Adam;  mu_t = b1·(1 - 0.96^(t·momentum_decay)/2), M_t their product;
// p -= lr·((1 - mu_t)/(1 - M_t)·g + mu_{t+1}/(1 - M_{t+1})·m) / (sqrt(v)/sqrt(1-b2^t) + eps)
// Throws ArgumentError for negative values and for betas outside [0,1).
class NAdam : public Optimizer {
 public:
  explicit NAdam(std::vector<NamedParameter> params, const NAdamOptions& options = {});
  explicit NAdam(std::vector<Group> groups, const NAdamOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  NAdamOptions options_;
};

}  // namespace rote::optim
#endif

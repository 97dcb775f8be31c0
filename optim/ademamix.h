// optim/ademamix.h — AdEMAMix, Adam with a second, slow mean.  Pagliardini, Ablin & Grangier 2024, arXiv:2409.03137
#pragma once

namespace rote::optim {

// Scalars: gradient factor, 1 - lr·wd, b1, 1-b1, b3, 1-b3, b2, 1-b2, 1/sqrt(1-b2^t), eps, 1/(1-b1^t), alpha, lr.
struct AdEmaMixUpdate {
  static constexpr int scalars = 13, states = 3;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &fast = e.state[0], &slow = e.state[1], &v = e.state[2];
    const V g = e.g * V(s[0]);
    fast = fma(V(s[2]), fast, V(s[3]) * g);
    slow = fma(V(s[4]), slow, V(s[5]) * g);
    v = fma(V(s[6]), v, V(s[7]) * g * g);
    const V mean = fma(V(s[11]), slow, fast * V(s[10]));
    e.p = fma(-V(s[12]), mean / fma(sqrt(v), V(s[8]), V(s[9])), e.p * V(s[1]));
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdEmaMixOptions {
  double lr = 1e-3;
  Betas betas = {};
  double beta3 = 0.9999, alpha = 5;
  double eps = 1e-8;
  double weight_decay = 0.01;
  int64_t t_alpha = 0, t_beta3 = 0;  // updates over which alpha and beta3 rise from 0 and beta1; 0: at once

  void read(OptionReader& from);
};

// m1 = b1·m1 + (1-b1)·g;  m2 = b3·m2 + (1-b3)·g;  v as Adam;
// p -= lr·((m1/(1-b1^t) + alpha·m2) / (sqrt(v)/sqrt(1-b2^t) + eps) + wd·p)
// Throws ArgumentError for negative values and for betas outside [0,1).
class AdEmaMix : public Optimizer {
 public:
  explicit AdEmaMix(std::vector<NamedParameter> params, const AdEmaMixOptions& options = {});
  explicit AdEmaMix(std::vector<Group> groups, const AdEmaMixOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.betas.first = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdEmaMixOptions options_;
};

}  // namespace rote::optim
#endif

// optim/adamw.h — AdamW and Adam: the update of one element, options, the optimizers.
// Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter 2019, arXiv:1711.05101; amsgrad: Reddi et al. 2018, arXiv:1904.09237
#pragma once

namespace rote::optim {

// Scalars: gradient factor, 1 - lr·wd, b1, 1-b1, b2, 1-b2, 1/sqrt(1-b2^t), eps, lr/(1-b1^t); with L2 its decay at the end.
template <bool L2, bool Amsgrad>
struct AdamUpdate {
  static constexpr int scalars = L2 ? 10 : 9, states = Amsgrad ? 3 : 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &m = e.state[0], &v = e.state[1];
    V g = e.g * V(s[0]);
    if constexpr (L2) g = fma(V(s[9]), e.p, g);
    else e.p = e.p * V(s[1]);  // decay first, scaled by lr: not the paper's schedule multiplier
    m = fma(V(s[2]), m, V(s[3]) * g);
    v = fma(V(s[4]), v, V(s[5]) * g * g);
    V largest = v;
    if constexpr (Amsgrad) largest = e.state[2] = maximum(e.state[2], v);
    const V root = fma(sqrt(largest), V(s[6]), V(s[7]));
    e.p = fma(-V(s[8]), m / root, e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdamWOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0.01;
  bool amsgrad = false;   // divides by the root of the largest v so far
  bool maximize = false;

  void read(OptionReader& from);
};

// p *= 1 - lr·wd;  m = b1·m + (1-b1)·g;  v = b2·v + (1-b2)·g²;  p -= lr/(1-b1^t) · m / (sqrt(v)/sqrt(1-b2^t) + eps)
// Throws ArgumentError for lr, eps or weight_decay < 0 and for betas outside [0,1).
class AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<NamedParameter> params, const AdamWOptions& options = {});
  explicit AdamW(std::vector<Group> groups, const AdamWOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override {
    for (Group& group : groups()) group.betas.first = momentum;
    return true;
  }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdamWOptions options_;
};

struct AdamOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
  bool decoupled_weight_decay = false;  // true: as AdamW

  void read(OptionReader& from);
};

// The same with the decay in the gradient: g += wd·p, and p is not scaled.
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<NamedParameter> params, const AdamOptions& options = {});
  explicit Adam(std::vector<Group> groups, const AdamOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override {
    for (Group& group : groups()) group.betas.first = momentum;
    return true;
  }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdamOptions options_;
};

}  // namespace rote::optim
#endif

// optim/adamw.h — AdamW: options, the update of one element, the optimizer.  Loshchilov & Hutter 2019, arXiv:1711.05101
#pragma once

namespace rote::optim {

// Scalars: gradient factor, 1 - lr·wd, b1, 1-b1, b2, 1-b2, 1/sqrt(1-b2^t), eps, lr/(1-b1^t).
struct AdamWUpdate {
  static constexpr int scalars = 9;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = e.g * V(s[0]);
    e.p = e.p * V(s[1]);  // decay first, scaled by lr: not the paper's schedule multiplier
    e.m = fma(V(s[2]), e.m, V(s[3]) * g);
    e.v = fma(V(s[4]), e.v, V(s[5]) * g * g);
    const V root = fma(sqrt(e.v), V(s[6]), V(s[7]));
    e.p = fma(-V(s[8]), e.m / root, e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"

namespace rote::optim {

struct AdamWOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0.01;
};

// p *= 1 - lr·wd;  m = b1·m + (1-b1)·g;  v = b2·v + (1-b2)·g²;  p -= lr/(1-b1^t) · m / (sqrt(v)/sqrt(1-b2^t) + eps)
// Throws ArgumentError for lr, eps or weight_decay < 0 and for betas outside [0,1).
class AdamW : public Optimizer {
 public:
  AdamW(std::vector<NamedParameter> params, const AdamWOptions& options = {});
  AdamW(std::vector<Group> groups, const AdamWOptions& options = {});

 private:
  uint32_t update(const Group& group, Slot& slot, double factor) override;
};

}  // namespace rote::optim
#endif

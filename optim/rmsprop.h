// optim/rmsprop.h — RMSprop, centered and with momentum.  Tieleman & Hinton 2012, lecture 6.5; centered: Graves 2013, arXiv:1308.0850
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, lr, alpha, 1 - alpha, eps, momentum. State: square_avg, then momentum_buffer, then grad_avg.
template <bool Momentum, bool Centered>
struct RmsPropUpdate {
  static constexpr int scalars = 7, states = 1 + Momentum + Centered;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    auto& square = e.state[0];
    square = fma(V(s[3]), square, V(s[4]) * g * g);
    V variance = square;
    if constexpr (Centered) {
      auto& average = e.state[1 + Momentum];
      average = fma(V(s[3]), average, V(s[4]) * g);
      variance = maximum(fma(-average, average, square), V(Real(0)));  // rounding may take it below, where the reference has NaN
    }
    V step = g / (sqrt(variance) + V(s[5]));
    if constexpr (Momentum) step = e.state[1] = fma(V(s[6]), e.state[1], step);
    e.p = fma(-V(s[2]), step, e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct RmsPropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;  // divides by the root of the variance, not of the mean square
  bool maximize = false;

  void read(OptionReader& from);
};

// g += wd·p;  sq = alpha·sq + (1-alpha)·g²;  p -= lr · g / (sqrt(sq) + eps), with momentum lr·b, b = momentum·b + g / (sqrt(sq) + eps)
// Throws ArgumentError for negative values.
class RmsProp : public Optimizer {
 public:
  explicit RmsProp(std::vector<NamedParameter> params, const RmsPropOptions& options = {});
  explicit RmsProp(std::vector<Group> groups, const RmsPropOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.momentum = momentum, true; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  RmsPropOptions options_;
};

}  // namespace rote::optim
#endif

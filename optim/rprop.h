// optim/rprop.h — Rprop, steps by the sign of the gradient.  Riedmiller & Braun 1993, ICNN
#pragma once

namespace rote::optim {

// Scalars: gradient factor, etaminus, etaplus, smallest step, largest step.
struct RpropUpdate {
  static constexpr int scalars = 5, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &before = e.state[0], &size = e.state[1];
    const V zero(Real(0)), one(Real(1));
    V g = e.g * V(s[0]);
    const V sign_of_both = g * before;
    const auto turned = sign_of_both < zero;
    size = size * select(turned, V(s[1]), select(sign_of_both > zero, V(s[2]), one));
    size = minimum(maximum(size, V(s[3])), V(s[4]));
    g = select(turned, zero, g);
    e.p = fma(-select(g > zero, one, select(g < zero, -one, zero)), size, e.p);
    before = g;
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct RpropOptions {
  double lr = 1e-2;  // the first step's size
  double etaminus = 0.5, etaplus = 1.2;
  double step_size_min = 1e-6, step_size_max = 50;
  double weight_decay = 0;  // has no place in the rule: must be 0
  bool maximize = false;

  void read(OptionReader& from);
};

// The step of each element grows by etaplus while its gradient keeps its sign, and shrinks by etaminus, resting once, where it turns.
// Throws ArgumentError for negative values, etas that are not 0 < etaminus < 1 < etaplus, and a weight_decay.
class Rprop : public Optimizer {
 public:
  explicit Rprop(std::vector<NamedParameter> params, const RpropOptions& options = {});
  explicit Rprop(std::vector<Group> groups, const RpropOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  RpropOptions options_;
};

}  // namespace rote::optim
#endif

// optim/adagrad.h — Adagrad.  Duchi, Hazan & Singer 2011, JMLR 12
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, rate, eps.
struct AdagradUpdate {
  static constexpr int scalars = 4, states = 1;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    e.state[0] = fma(g, g, e.state[0]);
    e.p = fma(-V(s[2]), g / (sqrt(e.state[0]) + V(s[3])), e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double eps = 1e-10;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  bool maximize = false;

  void read(OptionReader& from);
};

// g += wd·p;  sum += g²;  p -= lr/(1 + (t-1)·lr_decay) · g / (sqrt(sum) + eps)
// Throws ArgumentError for negative values.
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<NamedParameter> params, const AdagradOptions& options = {});
  explicit Adagrad(std::vector<Group> groups, const AdagradOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdagradOptions options_;
};

}  // namespace rote::optim
#endif

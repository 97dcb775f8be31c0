// optim/adadelta.h — Adadelta.  Zeiler 2012, arXiv:1212.5701
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, lr, rho, 1 - rho, eps.
struct AdadeltaUpdate {
  static constexpr int scalars = 6, states = 2;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    auto &square = e.state[0], &moved = e.state[1];
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    square = fma(V(s[3]), square, V(s[4]) * g * g);
    const V step = sqrt(moved + V(s[5])) / sqrt(square + V(s[5])) * g;
    moved = fma(V(s[3]), moved, V(s[4]) * step * step);
    e.p = fma(-V(s[2]), step, e.p);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;

  void read(OptionReader& from);
};

// g += wd·p;  sq = rho·sq + (1-rho)·g²;  d = sqrt(acc + eps) / sqrt(sq + eps) · g;  acc = rho·acc + (1-rho)·d²;  p -= lr·d
// Throws ArgumentError for negative values and rho above 1.
class Adadelta : public Optimizer {
 public:
  explicit Adadelta(std::vector<NamedParameter> params, const AdadeltaOptions& options = {});
  explicit Adadelta(std::vector<Group> groups, const AdadeltaOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdadeltaOptions options_;
};

}  // namespace rote::optim
#endif

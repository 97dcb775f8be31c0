// optim/asgd.h — ASGD, SGD with the average of its parameters.  Polyak & Juditsky 1992, SIAM J. Control Optim. 30(4)
#pragma once

namespace rote::optim {

// Scalars: gradient factor, L2 decay, eta, 1 - lambd·eta, mu.
struct AsgdUpdate {
  static constexpr int scalars = 5, states = 1;
  template <class Element, class Real>
  static constexpr void update(Element& e, const Real* s) {
    using V = decltype(e.p);
    const V g = fma(V(s[1]), e.p, e.g * V(s[0]));
    e.p = fma(-V(s[2]), g, e.p * V(s[3]));
    e.state[0] = s[4] == Real(1) ? e.p : fma(V(s[4]), e.p - e.state[0], e.state[0]);
  }
};

}  // namespace rote::optim

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formula only
#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct AsgdOptions {
  double lr = 1e-2;
  double lambd = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;  // updates before the average begins
  double weight_decay = 0;
  bool maximize = false;

  void read(OptionReader& from);
};

// g += wd·p;  p = (1 - lambd·eta)·p - eta·g;  ax += mu·(p - ax);  then eta = lr/(1 + lambd·lr·t)^alpha, mu = 1/max(1, t - t0)
// Throws ArgumentError for negative values.
class Asgd : public Optimizer {
 public:
  explicit Asgd(std::vector<NamedParameter> params, const AsgdOptions& options = {});
  explicit Asgd(std::vector<Group> groups, const AsgdOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AsgdOptions options_;
};

}  // namespace rote::optim
#endif

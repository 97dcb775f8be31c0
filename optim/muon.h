// optim/muon.h — Muon: momentum whose matrix is brought near an orthogonal one.  Jordan et al. 2024; Liu et al. 2025, arXiv:2502.16982
#pragma once

#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  double a = 3.4445, b = -4.775, c = 2.0315;  // of x -> a·x + b·x³ + c·x⁵ on the singular values
  double eps = 1e-7;
  int64_t ns_steps = 5;                     // Newton–Schulz iterations
  std::string adjust_lr_fn = "original";    // sqrt(max(1, M/N)); match_rms_adamw: 0.2·sqrt(max(M, N))

  void read(OptionReader& from);
};

// buf = momentum·buf + (1-momentum)·g;  u = g + momentum·(buf - g) with nesterov, else buf;  O = NewtonSchulz(u/‖u‖);
// p = (1 - lr·wd)·p - lr·adjustment·O.  Parameters are matrices [M,N]. Computed in the parameter's dtype, where the reference uses bf16.
// Throws ArgumentError for parameters of other than two axes, negative values, and ns_steps outside [1, 100).
class Muon : public Optimizer {
 public:
  explicit Muon(std::vector<NamedParameter> params, const MuonOptions& options = {});
  explicit Muon(std::vector<Group> groups, const MuonOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool set_momentum(double momentum) override { return options_.momentum = momentum, true; }
  bool takes_precision() const override { return false; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  MuonOptions options_;
};

}  // namespace rote::optim

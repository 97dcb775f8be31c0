// optim/torch_adafactor.h — Adafactor as torch.optim has it: the decay of the parameter, the scale of the update and the smallest values differ.
#pragma once

#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

struct TorchAdafactorOptions {
  double lr = 1e-2;
  double beta2_decay = -0.8;
  std::optional<double> eps1 = {};  // none: the dtype's epsilon
  double eps2 = 1e-3;
  double d = 1;  // clip_threshold
  double weight_decay = 0;
  bool maximize = false;

  void read(OptionReader& from);
};

// p *= 1 - lr·wd;  a = max(eps2, rms(p))·min(lr, 1/sqrt(t));  v = (1-s)·v + s·g², s = t^beta2_decay;  u = g/sqrt(max(v, eps1²));
// p -= a/max(1, rms(u)/d)·u
// Throws ArgumentError for negative values and a beta2_decay above 0.
class TorchAdafactor : public Optimizer {
 public:
  explicit TorchAdafactor(std::vector<NamedParameter> params, const TorchAdafactorOptions& options = {});
  explicit TorchAdafactor(std::vector<Group> groups, const TorchAdafactorOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool takes_precision() const override { return false; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  TorchAdafactorOptions options_;
};

}  // namespace rote::optim

// optim/adafactor.h — Adafactor: second moments of a matrix as one row and one column.  Shazeer & Stern 2018, arXiv:1804.04235
#pragma once

#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

// As transformers has it. The state of a parameter of two axes or more is factored over its last two.
struct AdafactorOptions {
  std::optional<double> lr = {};  // none: relative_step gives it
  double eps1 = 1e-30;            // added to squared gradients
  double eps2 = 1e-3;             // least scale of a parameter
  double clip_threshold = 1;      // of the root mean square of an update
  double decay_rate = -0.8;
  std::optional<double> beta1 = {};  // decay of a mean of updates; none: no such mean
  double weight_decay = 0;
  bool scale_parameter = true;  // the rate is multiplied by the parameter's root mean square
  bool relative_step = true;    // the rate is min(1e-2, 1/sqrt(t)), with warmup_init min(1e-6·t, 1/sqrt(t))
  bool warmup_init = false;

  void read(OptionReader& from);
};

// b = 1 - t^decay_rate;  v = b·v + (1-b)·(g² + eps1), its means over rows and columns where factored;  u = g/sqrt(v);
// u /= max(1, rms(u)/clip_threshold);  p -= rate·(wd·p + u)
// Throws ArgumentError for an lr beside relative_step, for none without it, for warmup_init without it, and for negative values.
class Adafactor : public Optimizer {
 public:
  explicit Adafactor(std::vector<NamedParameter> params, const AdafactorOptions& options = {});
  explicit Adafactor(std::vector<Group> groups, const AdafactorOptions& options = {});

 private:
  NamedState fresh_state(const Group& group, const Tensor& param) const override;
  bool takes_precision() const override { return false; }
  uint32_t update(const Group& group, Slot& slot, double factor) override;

  AdafactorOptions options_;
};

}  // namespace rote::optim

// optim/optimizer.h — Optimizer: groups, state, step. The rules themselves are one file each (adamw.h …).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace rote::optim {

using NamedParameter = std::pair<std::string, Tensor>;

struct Betas {
  double first = 0.9, second = 0.999;
};

// Parameters that share their options.
struct Group {
  std::vector<NamedParameter> params;
  double lr = 0;
  double weight_decay = 0;
  Betas betas = {};
  double eps = 0;
  double initial_lr = 0;  // what a schedule multiplies
};

enum class StepResult { applied, skipped };

struct StepOptions {
  double max_norm = 0;                 // gradients are clipped to this global norm; 0: not
  std::optional<double> norm = {};     // their global norm, where the caller has it already
};

class Optimizer {
 public:
  // One parameter and its state. Moments are made at its first gradient.
  struct Slot {
    std::string name;
    Tensor param;
    int64_t step = 0;  // updates applied to it
    std::vector<std::pair<std::string, Tensor>> moments;
  };

  virtual ~Optimizer() = default;

  // Finite check, clip, update, in this order: every parameter that has a gradient is updated once. Skipped, with nothing changed, where a gradient holds
  // Inf or NaN. The factor of the clip goes into the update; gradients stay as they are.
  StepResult step(const StepOptions& options = {});
  void zero_grad();

  std::vector<Group>& groups() { return groups_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::vector<Tensor> params() const;  // in group order
  void set_lr_factor(double factor);   // lr = initial_lr·factor in each group

  // `<parameter>.<moment>` for each moment that exists, and the updates per parameter.
  std::vector<std::pair<std::string, Tensor>> state_tensors() const;
  std::vector<std::pair<std::string, int64_t>> state_steps() const;
  // Takes them back; throws StateError, before anything is changed, where a name or shape does not fit.
  void load_state(const std::vector<std::pair<std::string, Tensor>>& tensors, const std::vector<std::pair<std::string, int64_t>>& steps);

 protected:
  Optimizer(std::vector<Group> groups, std::vector<std::string> moment_names);
  virtual uint32_t update(const Group& group, Slot& slot, double factor) = 0;

 private:
  void update_all(double factor);

  std::vector<Group> groups_;
  std::vector<std::vector<Slot>> slots_;  // by group
  std::vector<std::string> moment_names_;
};

// b^t without a libm call: the same bits everywhere.
double power(double base, int64_t exponent);

}  // namespace rote::optim

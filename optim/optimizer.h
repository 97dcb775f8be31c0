// optim/optimizer.h — Optimizer: groups, state, step. The rules themselves are one file each (adamw.h …).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optim/schedule.h"
#include "optim/precision.h"
#include "tensor/tensor.h"

namespace rote::optim {

using NamedParameter = std::pair<std::string, Tensor>;
using NamedState = std::vector<std::pair<std::string, Tensor>>;

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

// Bytes. What is there: gradients between backward and zero_grad(), moments after the first update.
struct MemoryOf {
  int64_t elements = 0, weights = 0, master = 0, gradients = 0, moments = 0;

  int64_t sum() const { return weights + master + gradients + moments; }
};
// `memory: 10 bytes a parameter (weights 2, master 2, gradients 2, moments 4), 237 MiB for 22713986 parameters`
std::string describe(const MemoryOf& memory);

enum class StepResult { applied, skipped };

struct StepOptions {
  double max_norm = 0;                 // gradients are clipped to this global norm; 0: not
  std::optional<double> norm = {};     // their global norm, where the caller has it already
  bool check_finite = true;            // false: updates by Inf and NaN too, as torch does
};

class Optimizer {
 public:
  // One parameter and its state, which is made at its first gradient.
  struct Slot {
    std::string name;
    Tensor param;
    int64_t step = 0;  // updates applied to it
    NamedState state = {};
    Precision precision = {};
    Tensor rest = {};  // what the bf16 weights lack, where precision.weights keeps it
  };

  virtual ~Optimizer() = default;

  // Before the first update: how parameters and state are kept from here on. f32 parameters become bf16 where precision.weights says so, under every handle.
  // Throws ArgumentError for parameters that are neither f32 nor bf16, StateError after an update or where it was said before.
  void keep(const Precision& precision);
  const Precision& precision() const { return precision_; }

  // Finite check, clip, update, in this order: every parameter that has a gradient is updated once. Skipped, with nothing changed, where a gradient holds
  // Inf or NaN. The factor of the clip goes into the update; gradients stay as they are.
  StepResult step(const StepOptions& options = {});
  // The loss of a function that computes it and its gradients, called before the step.
  Tensor step(const std::function<Tensor()>& closure);
  void zero_grad();

  std::vector<Group>& groups() { return groups_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::vector<Tensor> params() const;  // in group order
  MemoryOf memory() const;
  // The lr of each group for the update after `step` others, and the momentum (or first beta) where the schedule moves it.
  // Throws ArgumentError where it does and this optimizer has none.
  void set_rates(const Schedule& schedule, int64_t step);

  // `<parameter>.exp_avg` and the like for each tensor of state that exists, `<parameter>.master_low` or `.compensation`, and the updates per parameter.
  NamedState state_tensors() const;
  std::vector<std::pair<std::string, int64_t>> state_steps() const;
  // Takes them back; throws StateError, before anything is changed, where a name or shape does not fit.
  void load_state(const NamedState& tensors, const std::vector<std::pair<std::string, int64_t>>& steps);

 protected:
  explicit Optimizer(std::vector<Group> groups);
  // The state of a parameter before its first update, under torch's names. `param`: its shape, in the dtype that the state is to have.
  virtual NamedState fresh_state(const Group& group, const Tensor& param) const = 0;
  // Takes a momentum or first beta; false: this rule has none.
  virtual bool set_momentum(double) { return false; }
  // false: its update needs whole tensors, all in one dtype.
  virtual bool takes_precision() const { return true; }
  // Updates slot.param by its gradient times `factor`; slot.step counts this update. Returns the amax word of the parameter.
  virtual uint32_t update(const Group& group, Slot& slot, double factor) = 0;

 private:
  void update_all(double factor);
  NamedState new_state(const Group& group, const Slot& slot) const;

  Precision precision_;
  std::vector<Group> groups_;
  std::vector<std::vector<Slot>> slots_;  // by group
};

// b^t without a libm call: the same bits everywhere.
double power(double base, int64_t exponent);

}  // namespace rote::optim

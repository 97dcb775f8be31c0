// optim/rule.h — how an optimizer runs its formula over a parameter, and the checks of options. Knows no formula.
#pragma once

#include <cmath>
#include <iterator>

#include "optim/optimizer.h"
#include "optim/update_table.h"

namespace rote::optim {

inline constexpr int kMostStates = 3;

// A formula without its type.
struct UpdateFormula {
  UpdateKernel<float> f32;
  UpdateKernel<double> f64;
  int states, scalars;
};
uint32_t run(const UpdateFormula& formula, Optimizer::Slot& slot, const Tensor& gradient, const double* scalars);

// One step of the formula over the parameter, with this gradient and the first Update::states tensors of the slot's state.
template <class Update>
uint32_t run(Optimizer::Slot& slot, const Tensor& gradient, const double (&scalars)[Update::scalars]) {
  return run({update_kernel<Update, float>(), update_kernel<Update, double>(), Update::states, Update::scalars}, slot, gradient, scalars);
}
template <class Update>
uint32_t run(Optimizer::Slot& slot, const double (&scalars)[Update::scalars]) {
  return run<Update>(slot, slot.param.grad(), scalars);
}

// A gradient of 16 bits as f32, others as they are.
inline Tensor wide(const Tensor& x) { return size_of(x.dtype()) == 2 ? converted(x, DType::f32) : x; }

// Zeros of the parameter's shape under these names.
NamedState zeros_like(const Tensor& param, std::initializer_list<const char*> names);
// A number, f64 [].
std::pair<std::string, Tensor> number_state(const char* name, double value);

inline std::vector<Group> one_group(std::vector<NamedParameter> params, double lr, double weight_decay) {
  return {{.params = std::move(params), .lr = lr, .weight_decay = weight_decay}};
}

// Throw ArgumentError that names the optimizer and the option: finite and at least 0; in [0, 1).
void check_not_negative(const char* who, const char* name, double value);
void check_below_one(const char* who, const char* name, double value);
// lr and weight_decay of each group.
void check_groups(const char* who, const std::vector<Group>& groups);

}  // namespace rote::optim

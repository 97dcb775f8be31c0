#include "optim/rule.h"

#include <algorithm>

#include "optim/blocks.h"

namespace rote::optim {

namespace {

constexpr int kMostScalars = 16;

bool is_narrow(const Tensor& x) { return is_floating(x.dtype()) && size_of(x.dtype()) == 2; }

// Whether the formula's loop cannot run where the tensors are.
bool is_narrow(const UpdateFormula& formula, const Optimizer::Slot& slot, const Tensor& grad) {
  return is_narrow(slot.param) || is_narrow(grad) || std::any_of(slot.state.begin(), slot.state.begin() + formula.states, [](const auto& one) { return is_narrow(one.second); });
}

template <class Real>
uint32_t run_as(UpdateKernel<Real> kernel, const UpdateFormula& formula, Optimizer::Slot& slot, const Tensor& grad, const double* exact) {
  Real scalars[kMostScalars];
  for (int i = 0; i < formula.scalars; ++i) scalars[i] = static_cast<Real>(exact[i]);
  if constexpr (sizeof(Real) == sizeof(float))
    if (is_narrow(formula, slot, grad)) return run_in_blocks(formula, slot, grad, scalars);
  Real* state[kMostStates] = {};
  for (int i = 0; i < formula.states; ++i) state[i] = slot.state[static_cast<size_t>(i)].second.data<Real>();
  return kernel(slot.param.numel(), slot.param.data<Real>(), grad.data<Real>(), state, scalars);
}

}  // namespace

uint32_t run(const UpdateFormula& formula, Optimizer::Slot& slot, const Tensor& gradient, const double* scalars) {
  ROTE_ASSERT(formula.states <= kMostStates && formula.scalars <= kMostScalars, "a formula has more state or scalars than run() has room for");
  const Tensor grad = contiguous(gradient);
  if (slot.param.dtype() == DType::f64) return run_as(formula.f64, formula, slot, grad, scalars);
  return run_as(formula.f32, formula, slot, grad, scalars);
}

NamedState zeros_like(const Tensor& param, std::initializer_list<const char*> names) {
  NamedState state;
  for (const char* name : names) state.emplace_back(name, zeros(param.shape(), {.dtype = param.dtype()}));
  return state;
}

std::pair<std::string, Tensor> number_state(const char* name, double value) { return {name, full({}, value, {.dtype = DType::f64})}; }

void check_not_negative(const char* who, const char* name, double value) {
  ROTE_CHECK(value >= 0 && std::isfinite(value), ArgumentError, who, ": ", name, " is ", value, "; it must be finite and at least 0.");
}

void check_below_one(const char* who, const char* name, double value) {
  ROTE_CHECK(value >= 0 && value < 1, ArgumentError, who, ": ", name, " is ", value, "; it must lie in [0,1).");
}

void check_groups(const char* who, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    check_not_negative(who, "lr", group.lr);
    check_not_negative(who, "weight_decay", group.weight_decay);
  }
}

}  // namespace rote::optim

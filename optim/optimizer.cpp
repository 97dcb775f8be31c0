#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "autograd/backward.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "optim/blocks.h"
#include "optim/clip.h"
#include "tensor/alloc.h"

namespace rote::optim {

double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

namespace {

// The state of a parameter and what its weights lack.
NamedState all_of(const Optimizer::Slot& slot) {
  NamedState all = slot.state;
  if (slot.rest.defined()) all.emplace_back(slot.precision.weights == Weights::kahan ? "compensation" : "master_low", slot.rest);
  return all;
}

}  // namespace

std::string describe(const MemoryOf& m) {
  const auto each = [&](int64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(m.elements, 1)); };
  return str("memory: ", each(m.sum()), " bytes a parameter (weights ", each(m.weights), ", master ", each(m.master), ", gradients ", each(m.gradients), ", moments ",
             each(m.moments), "), ", m.sum() >> 20, " MiB for ", m.elements, " parameters");
}

Optimizer::Optimizer(std::vector<Group> groups) : groups_(std::move(groups)) {
  std::unordered_map<std::string, int> seen;
  for (Group& group : groups_) {
    group.initial_lr = group.lr;
    std::vector<Slot> slots;
    for (const auto& [name, param] : group.params) {
      ROTE_CHECK(seen[name]++ == 0, ArgumentError, "optimizer: ", name, " is in two places; a parameter belongs to one group, once.");
      slots.push_back({name, param});
    }
    slots_.push_back(std::move(slots));
  }
}

void Optimizer::keep(const Precision& precision) {
  ROTE_CHECK(precision.is_plain() || takes_precision(), ArgumentError, "optimizer: its update needs whole tensors in float32; leave out how moments and weights are kept.");
  for (const auto& group : slots_)
    for (const Slot& slot : group) {
      ROTE_CHECK(slot.step == 0, StateError, "optimizer: ", slot.name, " was updated already; say how it is kept before.");
      ROTE_CHECK(precision.is_plain() || slot.param.dtype() == DType::f32 || slot.param.dtype() == DType::bf16, ArgumentError, "optimizer: ", slot.name, " is ",
                 describe(slot.param), "; only float32 and bfloat16 parameters are kept otherwise.");
    }
  ROTE_CHECK(precision_.is_plain(), StateError, "optimizer: how it keeps moments and weights was said already; say it once.");
  precision_ = precision;
  for (auto& group : slots_)
    for (Slot& slot : group) {
      slot.precision = precision;
      if (precision.weights != Weights::as_they_are) keep_in_bf16(slot);
    }
  if (precision.weights != Weights::as_they_are) empty_cache();  // of the f32 weights; what a step allocates has other sizes
}

// Shapes in the dtype of the state stand for the parameter; nothing but what stays is allocated.
NamedState Optimizer::new_state(const Group& group, const Slot& slot) const {
  if (slot.param.dtype() == DType::f64) return fresh_state(group, slot.param);
  const Shape& shape = slot.param.shape();
  const auto like = [&](DType dtype) { return alias(zeros({1}, {.dtype = dtype}), shape, Strides(std::vector<int64_t>(static_cast<size_t>(shape.axes()), 0)), 0); };
  NamedState state = fresh_state(group, like(precision_.momentum));
  for (size_t k = 1; k < state.size(); ++k)
    if (Tensor& x = state[k].second; x.dtype() == precision_.momentum) x = converted(x, precision_.variance);
  return state;
}

StepResult Optimizer::step(const StepOptions& options) {
  StepResult result = StepResult::skipped;
  with_default_control([&] {
    const double norm = options.norm ? *options.norm : global_norm(params());
    if (options.check_finite && !std::isfinite(norm)) return;
    update_all(clip_factor(norm, options.max_norm));
    result = StepResult::applied;
  });
  return result;
}

Tensor Optimizer::step(const std::function<Tensor()>& closure) {
  const Tensor loss = closure();
  step();
  return loss;
}

void Optimizer::update_all(double factor) {
  for (size_t g = 0; g < groups_.size(); ++g)
    for (Slot& slot : slots_[g]) {
      if (!slot.param.grad().defined()) continue;
      if (slot.step++ == 0) slot.state = new_state(groups_[g], slot);
      const uint32_t amax = update(groups_[g], slot, factor);
      slot.param.storage()->bump_version();
      record_status({0, "optimizer", Phase::optimizer, intern_path(slot.name), stored_word(amax, {slot.param}), slot.param.shape(), amax});
    }
}

void Optimizer::zero_grad() { rote::zero_grad(params()); }

std::vector<Tensor> Optimizer::params() const {
  std::vector<Tensor> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group) all.push_back(slot.param);
  return all;
}

MemoryOf Optimizer::memory() const {
  const auto bytes = [](const Tensor& x) { return x.defined() ? x.numel() * size_of(x.dtype()) : 0; };
  MemoryOf all;
  for (const auto& group : slots_)
    for (const Slot& slot : group) {
      all.elements += slot.param.numel();
      all.weights += bytes(slot.param);
      all.master += bytes(slot.rest);
      all.gradients += bytes(slot.param.grad());
      for (const auto& [name, x] : slot.state) all.moments += bytes(x);
    }
  return all;
}

void Optimizer::set_rates(const Schedule& schedule, int64_t step) {
  ROTE_CHECK(!schedule.moves_momentum() || set_momentum(schedule.momentum(step)), ArgumentError,
             "schedule: it moves the momentum, and this optimizer has none; set cycle_momentum to false.");
  for (Group& group : groups_) group.lr = schedule.rate(step, group.initial_lr);
}

NamedState Optimizer::state_tensors() const {
  NamedState all;
  for (const auto& group : slots_)
    for (const Slot& slot : group)
      for (const auto& [name, value] : all_of(slot)) all.emplace_back(slot.name + "." + name, value);
  return all;
}

std::vector<std::pair<std::string, int64_t>> Optimizer::state_steps() const {
  std::vector<std::pair<std::string, int64_t>> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group)
      if (slot.step > 0) all.emplace_back(slot.name, slot.step);
  return all;
}

void Optimizer::load_state(const NamedState& tensors, const std::vector<std::pair<std::string, int64_t>>& steps) {
  const std::unordered_map<std::string, Tensor> by_name(tensors.begin(), tensors.end());
  const std::unordered_map<std::string, int64_t> step_of(steps.begin(), steps.end());
  std::vector<std::vector<Slot>> loaded = slots_;
  size_t expected = 0;
  for (size_t g = 0; g < loaded.size(); ++g)
    for (Slot& slot : loaded[g]) {
      slot.state.clear();
      const auto step = step_of.find(slot.name);
      slot.step = step == step_of.end() ? 0 : step->second;
      if (slot.step > 0) slot.state = new_state(groups_[g], slot);
      for (const auto& [name, own] : all_of(slot)) {
        const std::string key = slot.name + "." + name;
        const auto found = by_name.find(key);
        ROTE_CHECK(found != by_name.end(), StateError, "load_state: ", key, " is missing; the state belongs to another optimizer or is torn.");
        ROTE_CHECK(found->second.shape() == own.shape() && found->second.dtype() == own.dtype(), StateError, "load_state: ", key, " is ",
                   describe(found->second), " in the file, ", describe(own), " in the optimizer; go on with the model and the options that it was saved with.");
        ++expected;
      }
    }
  ROTE_CHECK(expected == tensors.size(), StateError, "load_state: the file holds ", tensors.size(), " tensors, the optimizer takes ", expected,
             "; the state belongs to another model or optimizer.");
  for (const auto& group : loaded)
    for (const Slot& slot : group)
      for (const auto& [name, own] : all_of(slot)) copy_elements(own, by_name.at(slot.name + "." + name));  // not shared with whoever gave the state
  slots_ = std::move(loaded);
}

}  // namespace rote::optim

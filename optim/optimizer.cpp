#include "optim/optimizer.h"

#include <cmath>
#include <unordered_map>

#include "autograd/backward.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "optim/clip.h"

namespace rote::optim {

double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
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
      if (slot.step++ == 0) slot.state = fresh_state(groups_[g], slot.param);
      const uint32_t amax = update(groups_[g], slot, factor);
      slot.param.storage()->bump_version();
      record_status({0, "optimizer", Phase::optimizer, intern_path(slot.name), amax, slot.param.shape(), amax});
    }
}

void Optimizer::zero_grad() { rote::zero_grad(params()); }

std::vector<Tensor> Optimizer::params() const {
  std::vector<Tensor> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group) all.push_back(slot.param);
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
      for (const auto& [name, value] : slot.state) all.emplace_back(slot.name + "." + name, value);
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
      if (slot.step == 0) continue;
      slot.state = fresh_state(groups_[g], slot.param);
      for (auto& [name, own] : slot.state) {
        const std::string key = slot.name + "." + name;
        const auto found = by_name.find(key);
        ROTE_CHECK(found != by_name.end(), StateError, "load_state: ", key, " is missing; the state belongs to another optimizer or is torn.");
        ROTE_CHECK(found->second.shape() == own.shape() && found->second.dtype() == own.dtype(), StateError, "load_state: ", key, " is ",
                   describe(found->second), " in the file, ", describe(own), " in the optimizer.");
        ++expected;
      }
    }
  ROTE_CHECK(expected == tensors.size(), StateError, "load_state: the file holds ", tensors.size(), " tensors, the optimizer takes ", expected,
             "; the state belongs to another model or optimizer.");
  for (const auto& group : loaded)
    for (const Slot& slot : group)
      for (const auto& [name, own] : slot.state) copy_elements(own, by_name.at(slot.name + "." + name));  // not shared with whoever gave the state
  slots_ = std::move(loaded);
}

}  // namespace rote::optim

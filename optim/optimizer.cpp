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

Optimizer::Optimizer(std::vector<Group> groups, std::vector<std::string> moment_names)
    : groups_(std::move(groups)), moment_names_(std::move(moment_names)) {
  std::unordered_map<std::string, int> seen;
  for (Group& group : groups_) {
    group.initial_lr = group.lr;
    std::vector<Slot> slots;
    for (const auto& [name, param] : group.params) {
      ROTE_CHECK(seen[name]++ == 0, ArgumentError, "optimizer: ", name, " is in two places; a parameter belongs to one group, once.");
      slots.push_back({name, param, 0, {}});
    }
    slots_.push_back(std::move(slots));
  }
}

StepResult Optimizer::step(const StepOptions& options) {
  StepResult result = StepResult::skipped;
  with_default_control([&] {
    const double norm = options.norm ? *options.norm : global_norm(params());
    if (!std::isfinite(norm)) return;
    update_all(clip_factor(norm, options.max_norm));
    result = StepResult::applied;
  });
  return result;
}

void Optimizer::update_all(double factor) {
  for (size_t g = 0; g < groups_.size(); ++g)
    for (Slot& slot : slots_[g]) {
      if (!slot.param.grad().defined()) continue;
      if (slot.moments.empty())
        for (const std::string& moment : moment_names_) slot.moments.emplace_back(moment, zeros(slot.param.shape(), {.dtype = slot.param.dtype()}));
      ++slot.step;
      const uint32_t amax = update(groups_[g], slot, factor);
      slot.param.storage()->bump_version();
      record_status({0, "optimizer", Phase::optimizer, intern_path(slot.name), amax, slot.param.shape()});
    }
}

void Optimizer::zero_grad() { rote::zero_grad(params()); }

std::vector<Tensor> Optimizer::params() const {
  std::vector<Tensor> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group) all.push_back(slot.param);
  return all;
}

void Optimizer::set_lr_factor(double factor) {
  for (Group& group : groups_) group.lr = group.initial_lr * factor;
}

std::vector<std::pair<std::string, Tensor>> Optimizer::state_tensors() const {
  std::vector<std::pair<std::string, Tensor>> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group)
      for (const auto& [moment, value] : slot.moments) all.emplace_back(slot.name + "." + moment, value);
  return all;
}

std::vector<std::pair<std::string, int64_t>> Optimizer::state_steps() const {
  std::vector<std::pair<std::string, int64_t>> all;
  for (const auto& group : slots_)
    for (const Slot& slot : group)
      if (!slot.moments.empty()) all.emplace_back(slot.name, slot.step);
  return all;
}

void Optimizer::load_state(const std::vector<std::pair<std::string, Tensor>>& tensors, const std::vector<std::pair<std::string, int64_t>>& steps) {
  std::unordered_map<std::string, Tensor> by_name(tensors.begin(), tensors.end());
  std::unordered_map<std::string, int64_t> step_of(steps.begin(), steps.end());
  size_t expected = 0;
  for (const auto& group : slots_)
    for (const Slot& slot : group) {
      if (!step_of.count(slot.name)) continue;
      for (const std::string& moment : moment_names_) {
        const std::string key = slot.name + "." + moment;
        const auto found = by_name.find(key);
        ROTE_CHECK(found != by_name.end(), StateError, "load_state: ", key, " is missing; the state belongs to another optimizer or is torn.");
        ROTE_CHECK(found->second.shape() == slot.param.shape() && found->second.dtype() == slot.param.dtype(), StateError, "load_state: ", key, " is ",
                   describe(found->second), " in the file, its parameter is ", describe(slot.param), " in the model.");
        ++expected;
      }
    }
  ROTE_CHECK(expected == tensors.size(), StateError, "load_state: the file holds ", tensors.size(), " moments, the model takes ", expected,
             "; the state belongs to another model.");
  for (auto& group : slots_)
    for (Slot& slot : group) {
      slot.moments.clear();
      slot.step = 0;
      const auto step = step_of.find(slot.name);
      if (step == step_of.end()) continue;
      slot.step = step->second;
      for (const std::string& moment : moment_names_) {
        const Tensor own = empty(slot.param.shape(), {.dtype = slot.param.dtype()});  // not shared with whoever gave the state
        copy_elements(own, by_name.at(slot.name + "." + moment));
        slot.moments.emplace_back(moment, own);
      }
    }
}

}  // namespace rote::optim

// trainer/apps/conformance/schedules.cpp — schedule cases: the rate of each group, and the momentum, after each step.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/check.h"
#include "optim/metric_schedule.h"
#include "optim/torch_schedule.h"
#include "trainer/apps/conformance/json_cases.h"

namespace rote::conformance {

namespace {

using nlohmann::json;

std::string word(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

int64_t count(const json& one, const char* name) {
  const json value = one.value(name, json());
  return value.is_null() ? 0 : value.get<int64_t>();
}

// The keyword arguments as words. Of a list that holds a value a group, that of `group`.
optim::Options options_of(const json& kwargs, std::optional<size_t> group) {
  optim::Options options;
  for (const auto& [name, value] : kwargs.items()) {
    if (value.is_null()) continue;
    if (!value.is_array()) {
      options[name] = word(value);
    } else if (name == "milestones" || !group) {
      for (const json& one : value) options[name] += (options[name].empty() ? "" : ":") + word(one);
    } else {
      options[name] = word(value.at(*group));
    }
  }
  return options;
}

std::string compare(const char* what, double value, double expected, double rtol, double atol, size_t step, size_t group) {
  if (std::abs(value - expected) <= atol + rtol * std::abs(expected)) return "";
  return str(what, " of group ", group, " after step ", step, " is ", value, ", expected ", expected);
}

std::string run_by_metric(const json& one, const std::string& name) {
  std::vector<double> rates = one.at("base_lrs");
  const auto schedule = optim::make_metric_schedule(name, rates, options_of(one.at("kwargs"), {}));
  const json& lrs = one.at("lrs");
  for (size_t step = 0; step < lrs.size(); ++step) {
    if (step > 0) schedule->step(one.at("metrics").at(step - 1), rates);
    for (size_t g = 0; g < rates.size(); ++g)
      if (const std::string found = compare("the rate", rates[g], lrs[step][g], one.at("rtol"), one.at("atol"), step, g); !found.empty()) return found;
  }
  return "";
}

std::string run_by_step(const json& one, const std::string& kind, const std::string& name) {
  const std::vector<double> bases = one.at("base_lrs");
  for (size_t g = 0; g < bases.size(); ++g) {
    const optim::Options options = options_of(one.at("kwargs"), g);
    const optim::Schedule schedule =
        kind == "torch" ? optim::make_torch_schedule(name, options)
                        : optim::make_schedule(name, {.warmup_steps = count(one, "num_warmup_steps"), .total_steps = count(one, "num_training_steps"), .lr = bases[0]}, options);
    for (size_t step = 0; step < one.at("lrs").size(); ++step) {
      const double rate = schedule.rate(static_cast<int64_t>(step), bases[g]);
      if (const std::string found = compare("the rate", rate, one.at("lrs")[step][g], one.at("rtol"), one.at("atol"), step, g); !found.empty()) return found;
      if (!one.contains("momentums")) continue;
      if (!schedule.moves_momentum()) return "the momentum does not move";
      const double momentum = schedule.momentum(static_cast<int64_t>(step));
      if (const std::string found = compare("the momentum", momentum, one.at("momentums")[step][g], one.at("rtol"), one.at("atol"), step, g); !found.empty())
        return found;
    }
  }
  return "";
}

std::string run_case(const json& one) {
  const std::string full = one.at("scheduler"), kind = full.substr(0, full.find(':'));
  const std::string theirs = full.substr(full.find(':') + 1), name = theirs == "ReduceLROnPlateau" ? "reduce_lr_on_plateau" : theirs;
  if (optim::follows_metric(name)) return run_by_metric(one, name);
  return run_by_step(one, kind, name);
}

}  // namespace

void run_schedules(const std::filesystem::path& path, Report& report) { run_json_cases<json>(path, report, run_case); }

}  // namespace rote::conformance

// trainer/apps/conformance/scaler.cpp — loss scaler cases: which steps are skipped, the scale and its counter, parameters and unscaled gradients.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "autograd/backward.h"
#include "autograd/ops/view.h"
#include "optim/grad_scaler.h"
#include "optim/sgd.h"
#include "trainer/apps/conformance/json_cases.h"

namespace rote::conformance {

namespace {

using nlohmann::json;

double number(const json& value) {
  const json& inner = value.is_object() ? value.at("float") : value;
  if (!inner.is_string()) return inner.get<double>();
  const std::string word = inner;
  return word == "nan" ? NAN : word == "-inf" ? -INFINITY : INFINITY;
}

std::vector<double> numbers(const json& list) {
  std::vector<double> all;
  for (const json& one : list) all.push_back(number(one));
  return all;
}

optim::GradScalerOptions options_of(const json& words) {
  optim::GradScalerOptions o;
  o.init_scale = words.value("init_scale", o.init_scale);
  o.growth_factor = words.value("growth_factor", o.growth_factor);
  o.backoff_factor = words.value("backoff_factor", o.backoff_factor);
  o.growth_interval = words.value("growth_interval", o.growth_interval);
  o.enabled = words.value("enabled", o.enabled);
  return o;
}

// What a case of several steps keeps from one to the next.
struct Run {
  optim::GradScaler scaler;
  std::vector<Tensor> params;
  std::vector<optim::Sgd> optimizers;
  optim::GradScalerState saved = {};
};

Run made(const json& one) {
  Run run{optim::GradScaler(options_of(one.at("options"))), {}, {}};
  for (size_t i = 0; i < one.at("steps")[0].at("grads").size(); ++i) {
    size_t size = 0;
    for (const json& step : one.at("steps")) size = std::max(size, step.at("grads")[i].size());  // a gradient that is none has no size
    Tensor param = zeros({static_cast<int64_t>(size)});
    run.params.push_back(requires_grad(param));
  }
  json lists = json::array({json::array()});
  for (size_t i = 0; i < run.params.size(); ++i) lists[0].push_back(i);
  for (const json& list : one.value("optimizers", lists)) {
    std::vector<optim::NamedParameter> params;
    for (const json& i : list) params.emplace_back(str("p", i.get<size_t>()), run.params[i.get<size_t>()]);
    run.optimizers.emplace_back(std::move(params), optim::SgdOptions{.lr = 1});
  }
  return run;
}

void set_gradients(Run& run, const json& gradients) {
  const float scale = run.scaler.get_scale();
  for (size_t i = 0; i < run.params.size(); ++i) {
    fill(run.params[i], 0);
    zero_grad({run.params[i]});
    if (gradients.at(i).is_null()) continue;
    std::vector<float> values;
    for (const double g : numbers(gradients.at(i))) values.push_back(static_cast<float>(g) * scale);
    run.params[i].impl()->meta->grad = from_values(run.params[i].shape(), values);
  }
}

std::string compare(const std::string& what, const Tensor& x, const json& expected) {
  if (expected.is_null()) return x.defined() ? what + " is there, expected none" : "";
  const std::vector<double> values = numbers(expected);
  for (size_t i = 0; i < values.size(); ++i) {
    const double found = x.data<float>()[i], e = values[i];
    const bool same = std::isnan(e) ? std::isnan(found) : std::isinf(e) ? found == e : std::abs(found - e) <= 1e-6 * std::abs(e);
    if (!same) return str(what, "[", i, "] is ", found, ", expected ", e);
  }
  return "";
}

std::string compare_all(const std::string& what, const std::vector<Tensor>& x, const json& expected) {
  for (size_t i = 0; i < x.size(); ++i)
    if (const std::string found = compare(str(what, " ", i), x[i], expected.at(i)); !found.empty()) return found;
  return "";
}

// The calls of one step; what they return goes to `skipped`.
void call(Run& run, const json& step, std::vector<bool>& skipped, std::vector<Tensor>& unscaled) {
  for (const std::string full : step.value("calls", json::array({"step", "update"}))) {
    const std::string name = full.substr(0, full.find(':'));
    optim::Sgd& optimizer = run.optimizers[full.find(':') == std::string::npos ? 0 : std::stoul(full.substr(full.find(':') + 1))];
    if (name == "unscale") {
      run.scaler.unscale_(optimizer);
      for (const Tensor& param : run.params) unscaled.push_back(param.grad().defined() ? clone(param.grad()) : Tensor());
    } else if (name == "step") {
      skipped.push_back(run.scaler.step(optimizer, {.check_finite = false}) == optim::StepResult::skipped);
    } else {
      run.scaler.update(step.contains("new_scale") ? std::optional<double>(number(step.at("new_scale"))) : std::nullopt);
    }
  }
}

std::string compare_state(const optim::GradScalerState& state, const json& expected) {
  const json found = {{"scale", static_cast<double>(state.scale)}, {"growth_factor", state.growth_factor}, {"backoff_factor", state.backoff_factor},
                      {"growth_interval", state.growth_interval}, {"_growth_tracker", state.growth_tracker}};
  return found == expected ? "" : "the state is " + found.dump() + ", expected " + expected.dump();
}

std::string run_step(Run& run, const json& step, const json& expected) {
  if (step.value("load", false)) run.scaler.load_state_dict(run.saved);
  set_gradients(run, step.at("grads"));
  std::vector<bool> skipped;
  std::vector<Tensor> unscaled;
  try {
    call(run, step, skipped, unscaled);
  } catch (const StateError& fault) {
    return expected.contains("error") ? "" : fault.text;
  }
  if (expected.contains("error")) return "was not refused";
  if (json(skipped) != expected.at("skipped")) return "skipped is " + json(skipped).dump() + ", expected " + expected.at("skipped").dump();
  if (run.scaler.get_scale() != static_cast<float>(number(expected.at("scale")))) return str("the scale is ", run.scaler.get_scale(), ", expected ", number(expected.at("scale")));
  if (run.scaler.is_enabled() && run.scaler.state_dict().growth_tracker != expected.at("growth_tracker").get<int64_t>())
    return str("the growth tracker is ", run.scaler.state_dict().growth_tracker, ", expected ", expected.at("growth_tracker").dump());
  if (expected.contains("unscaled"))
    if (const std::string found = compare_all("unscaled gradient", unscaled, expected.at("unscaled")); !found.empty()) return found;
  if (step.value("save", false)) run.saved = run.scaler.state_dict();
  if (expected.contains("state"))
    if (const std::string found = compare_state(run.scaler.state_dict(), expected.at("state")); !found.empty()) return found;
  return compare_all("parameter", run.params, expected.at("step"));
}

std::string run_case(const json& one) {
  Run run = made(one);
  for (size_t i = 0; i < one.at("expect").size(); ++i)
    if (const std::string found = run_step(run, one.at("steps").at(i), one.at("expect").at(i)); !found.empty()) return str("step ", i, ": ", found);
  return "";
}

}  // namespace

void run_scaler(const std::filesystem::path& path, Report& report) { run_json_cases<json>(path, report, run_case); }

}  // namespace rote::conformance

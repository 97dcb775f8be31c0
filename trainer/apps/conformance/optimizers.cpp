// trainer/apps/conformance/optimizers.cpp — optimizer cases: parameters after each step, and the state after the last.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "optim/muon.h"
#include "optim/registry.h"
#include "optim/torch_adafactor.h"
#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/tensors.h"

namespace rote::conformance {

namespace {

using nlohmann::json;

constexpr std::pair<const char*, const char*> kNames[] = {
    {"torch.optim.SGD", "sgd"},         {"torch.optim.Adam", "adam"},         {"torch.optim.AdamW", "adamw_torch"},
    {"torch.optim.RMSprop", "rmsprop"}, {"torch.optim.Adagrad", "adagrad"},   {"torch.optim.RAdam", "radam"},
    {"torch.optim.NAdam", "nadam"},     {"torch.optim.Adadelta", "adadelta"}, {"torch.optim.Adamax", "adamax"},
    {"torch.optim.Rprop", "rprop"},     {"torch.optim.ASGD", "asgd"},
    {"transformers.Adafactor", "adafactor"}, {"formula.HFAdamW", "adamw_hf"}, {"formula.SGDW", "sgdw"},
    {"formula.Lion", "lion_32bit"}};

// Lists of the reference and the names of their elements here.
std::vector<std::string> names_of(const std::string& option, const json& value) {
  if (!value.is_array()) return {option};
  if (option == "betas") return {"beta1", "beta2"};
  if (option == "etas") return {"etaminus", "etaplus"};
  if (option == "step_sizes") return {"step_size_min", "step_size_max"};
  if (option == "ns_coefficients") return {"a", "b", "c"};
  return {option + "1", option + "2"};
}

optim::Options words(const json& options) {
  optim::Options all;
  for (const auto& [name, value] : options.items()) {
    if (name == "lr") continue;
    const std::vector<std::string> names = names_of(name, value);
    for (size_t i = 0; i < names.size(); ++i) {
      const json& one = value.is_array() ? value[i] : value;
      if (!one.is_null()) all[names[i]] = one.is_string() ? one.get<std::string>() : one.dump();
    }
  }
  return all;
}

// Those that have no name among the arguments.
template <class O, class Options>
std::shared_ptr<optim::Optimizer> made(std::vector<optim::Group> groups, const optim::Options& words) {
  Options options;
  optim::OptionReader from("the case", words);
  options.read(from);
  from.finish();
  return std::make_shared<O>(std::move(groups), options);
}

std::shared_ptr<optim::Optimizer> optimizer_of(const json& one, const std::vector<std::pair<std::string, Tensor>>& params) {
  std::vector<optim::Group> groups;
  for (const json& group : one.at("groups")) {
    const json &options = group.at("options"), lr = options.value("lr", json());
    optim::Group made{.params = {}, .lr = lr.is_null() ? 0 : lr.get<double>(), .weight_decay = options.value("weight_decay", 0.0)};
    for (const json& name : group.at("params"))
      made.params.push_back(*std::find_if(params.begin(), params.end(), [&](const auto& p) { return p.first == name; }));
    groups.push_back(std::move(made));
  }
  const std::string name = one.at("optimizer");
  optim::Options options = words(one.at("groups")[0].at("options"));
  if (name == "torch.optim.AdamW") options.erase("decoupled_weight_decay");  // always true
  options.erase("initial_accumulator_value");  // torch makes the sums by the constructor's own, which in these cases is 0, not by the group's
  if (name == "transformers.Adafactor" && options.contains("eps1")) {  // one option of its own name there
    options["eps"] = "(" + options.at("eps1") + "," + options.at("eps2") + ")";
    options.erase("eps1"), options.erase("eps2");
  }
  if (name == "torch.optim.Muon") return made<optim::Muon, optim::MuonOptions>(std::move(groups), options);
  if (name == "torch.optim.Adafactor") return made<optim::TorchAdafactor, optim::TorchAdafactorOptions>(std::move(groups), options);
  for (const auto& [theirs, ours] : kNames)
    if (name == theirs) return optim::make_optimizer(ours, std::move(groups), {}, options);
  return nullptr;
}

// Row `row` of the tensor under a key.
Tensor row_of(const SafetensorsFile& file, const std::string& key, int64_t row) { return contiguous(select(file.read(key), 0, row)); }

std::string check_state(const optim::Optimizer& optimizer, const SafetensorsFile& file, const json& wanted) {
  const auto tensors = optimizer.state_tensors();
  const auto steps = optimizer.state_steps();
  for (const auto& [param, state] : wanted.items()) {
    for (const auto& [name, expected] : state.items()) {
      Tensor own;
      for (const auto& [step_of, count] : steps)
        if (name == "step" && step_of == param) own = full({}, static_cast<double>(count), {.dtype = DType::f32});
      for (const auto& [key, tensor] : tensors)
        if (key == param + "." + name) own = tensor;
      if (!own.defined()) return str("state ", param, ".", name, " is missing");
      if (expected.is_number()) {  // of a Python float: as exact as the f32 tensors behind it
        const double value = own.item(), wanted_value = expected;
        if (std::abs(value - wanted_value) > 1e-5 * std::abs(wanted_value)) return str("state ", param, ".", name, " is ", value, ", expected ", wanted_value);
        continue;
      }
      const Tensor t = file.read(expected.at("t"));
      const std::string found = difference(to(own, t.dtype()), {t, expected.contains("ref") ? file.read(expected.at("ref")) : Tensor(), expected.value("rtol", 0.0), expected.value("atol", 0.0)});
      if (!found.empty()) return str("state ", param, ".", name, ": ", found);
    }
  }
  return "";
}

std::string run_case(const json& one, const SafetensorsFile& file, int64_t steps) {
  std::vector<std::pair<std::string, Tensor>> params;
  for (const auto& [name, key] : one.at("params").items()) {
    Tensor param = clone(file.read(key));
    params.emplace_back(name, requires_grad(param));
  }
  const std::shared_ptr<optim::Optimizer> optimizer = optimizer_of(one, params);
  if (!optimizer) return "unknown optimizer";
  for (int64_t step = 0; step < steps; ++step) {
    if (one.contains("lr_per_step"))
      for (size_t g = 0; g < optimizer->groups().size(); ++g) optimizer->groups()[g].lr = one.at("lr_per_step")[static_cast<size_t>(step)][g];
    optimizer->zero_grad();
    for (const auto& [name, param] : params) {
      const json without = one.value("no_grad_steps", json::object()).value(name, json::array());
      if (std::find(without.begin(), without.end(), json(step)) != without.end()) continue;
      backward({param * 1.0}, {row_of(file, one.at("grads").at(name), step)});
    }
    if (optimizer->step() != optim::StepResult::applied) return str("step ", step, " was skipped");
    for (const auto& [name, param] : params) {
      const json& expected = one.at("expect").at(name);
      const Tensor ref = expected.contains("ref") ? row_of(file, expected.at("ref"), step) : Tensor();
      const std::string found = difference(detach(param), {row_of(file, expected.at("t"), step), ref, expected.at("rtol"), expected.at("atol")});
      if (!found.empty()) return str("step ", step, ", ", name, ": ", found);
    }
  }
  return one.contains("final_state") ? check_state(*optimizer, file, one.at("final_state")) : "";
}

}  // namespace

void run_optimizers(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& cases : case_files(path, "")) {
    const json all = json::parse(read_file(cases.string()));
    const SafetensorsFile file = SafetensorsFile::open(std::filesystem::path(cases).replace_extension(".safetensors").string());
    for (const json& one : all.at("cases")) {
      const std::string id = one.at("id");
      if (!report.wants(all.at("family"), id)) continue;
      std::string found;
      try {
        found = run_case(one, file, all.at("steps"));
      } catch (const Error& fault) {
        found = fault.text;
      }
      if (found.empty()) report.pass(id);
      else report.fail(id, found);
    }
  }
}

}  // namespace rote::conformance

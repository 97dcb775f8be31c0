// trainer/apps/conformance/ops.cpp — op cases: single calls, programs, calls that must be refused; results and gradients. Knows no op itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "autograd/backward.h"
#include "autograd/boxed.h"
#include "autograd/mode.h"
#include "autograd/node.h"
#include "autograd/schema.h"
#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/tensors.h"

namespace rote::conformance {

namespace {

using nlohmann::json;
using Tensors = std::map<std::string, Tensor>;

// A stored input: the tensor itself or a strided view of a buffer, in memory of its own, a leaf where the case asks for its gradient.
Tensor input_of(const json& one, const Tensors& stored, bool float64) {
  Tensor x = detach(stored.at(one.at("t")));
  const Tensor copy = empty(x.shape(), {.dtype = float64 && is_floating(x.dtype()) ? DType::f64 : x.dtype()});
  copy_elements(copy, x);
  x = copy;
  if (one.contains("view")) {
    const json& view = one.at("view");
    x = detach(alias(x, Shape(view.at("size").get<std::vector<int64_t>>()), Strides(view.at("stride").get<std::vector<int64_t>>()), view.at("offset")));
  }
  if (one.value("grad", false)) requires_grad(x);
  return x;
}

// With float64 the floating dtypes among the arguments are float64 too.
Value attribute(const std::string& name, const json& value, bool float64) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number()) return value.get<int64_t>();
  if (value.is_string()) {
    const std::string word = value;
    if (word == "inf" || word == "-inf" || word == "nan") return std::strtod(word.c_str(), nullptr);
    if (float64 && (word == "float32" || word == "float16" || word == "bfloat16")) return "float64";
    return word;
  }
  const auto all = [&](bool (*test)(const json&)) { return std::all_of(value.begin(), value.end(), test); };
  if (all([](const json& v) { return v.is_number_integer(); })) return value.get<std::vector<int64_t>>();
  if (all([](const json& v) { return v.is_number(); })) return value.get<std::vector<double>>();
  throw Lacking{str("the argument ", name, " as ", value.dump())};
}

const Tensor& named(const Tensors& tensors, const json& name) {
  static const Tensor none;
  return name.is_null() ? none : tensors.at(name);
}

Value call(const json& step, const Tensors& tensors, bool float64) {
  const std::string op = step.at("op");
  std::map<std::string, Value> arguments;
  for (const auto& [name, input] : step.at("inputs").items()) {
    if (!input.is_array()) {
      arguments[name] = input.is_null() ? Value() : Value(named(tensors, input));
      continue;
    }
    std::vector<Tensor> list;
    for (const json& one : input) list.push_back(named(tensors, one));
    arguments[name] = std::move(list);
  }
  for (const auto& [name, value] : step.at("attrs").items()) arguments[name] = attribute(name, value, float64);
  return call_aten(op.substr(op.find("::") + 2), arguments);
}

// The tensors of a result, a list flattened; a result that is no tensor is left alone.
std::vector<Tensor> flat(const Value& result) {
  if (const auto* list = std::get_if<std::vector<Tensor>>(&result)) return *list;
  if (const auto* one = std::get_if<Tensor>(&result)) return {*one};
  return {};
}

// A result that is no tensor; floats in JSON's spelling, so that a NaN equals a NaN.
json plain(const Value& result) {
  if (const auto* v = std::get_if<bool>(&result)) return *v;
  if (const auto* v = std::get_if<int64_t>(&result)) return *v;
  if (const auto* v = std::get_if<double>(&result)) {
    if (std::isnan(*v)) return "nan";
    return std::isinf(*v) ? json(*v < 0 ? "-inf" : "inf") : json(*v);
  }
  return nullptr;
}

// One case in the making: its tensors by name and its outputs.
struct Run {
  bool float64 = false;
  Tensors tensors;
  Value result;                 // of a single call
  std::vector<Tensor> outputs;

  void forward(const json& one) {
    if (!one.contains("steps")) {
      result = call(one, tensors, float64);
      outputs = flat(result);
      return;
    }
    for (const json& step : one.at("steps")) {
      std::vector<Tensor> made;
      if (step.value("no_grad", false)) {
        const NoGrad guard;
        made = flat(call(step, tensors, float64));
      } else {
        made = flat(call(step, tensors, float64));
      }
      const json& names = step.at("out");
      for (size_t i = 0; i < names.size() && i < made.size(); ++i) tensors[names[i]] = made[i];
    }
    for (const json& name : one.at("results")) outputs.push_back(tensors.at(name));
  }

  void backward(const json& one, const Tensors& stored) {
    std::vector<Tensor> from, with;
    const json& dys = one.at("grad_outputs");
    for (size_t i = 0; i < dys.size(); ++i) {
      // An output that nothing with a gradient went into (the statistics of a norm whose weights alone have one) gives none on.
      if (dys[i].is_null() || !needs_grad(outputs.at(i))) continue;
      from.push_back(outputs.at(i));
      with.push_back(converted(stored.at(dys[i]), from.back().dtype()));
    }
    rote::backward(from, with);
  }
};

double largest_element(const Tensor& x) {
  if (!x.defined() || !is_floating(x.dtype())) return 0;
  const Tensor plain = contiguous(converted(x, DType::f64));
  double largest = 0;
  for (int64_t i = 0; i < plain.numel(); ++i)
    if (const double v = std::abs(plain.data<double>()[i]); std::isfinite(v)) largest = std::max(largest, v);
  return largest;
}

// With float64 the true value to a fraction of its largest element, unless no operand is floating (the root of an integer is f32). Where a
// result is what cancellation left of its operands, the true values were computed in f64 too: then to a few ulps of the operands.
Expected expected_of(const json& one, const Tensors& stored, const Tensor& y, const Run& run) {
  const std::string t = one.at("t");
  Expected expected{stored.at(t), stored.at(one.value("ref", t)), one.value("rtol", 0.0), one.value("atol", 0.0), false};
  const bool any_floating = std::any_of(run.tensors.begin(), run.tensors.end(), [](const auto& one) { return is_floating(one.second.dtype()); });
  if (!run.float64 || !is_floating(expected.t.dtype()) || (!any_floating && y.dtype() != DType::f64)) return expected;
  double operands = 0;
  for (const auto& [name, x] : run.tensors) operands = std::max(operands, largest_element(x));
  const double fraction = expected.ref.dtype() == DType::f64 || !one.contains("ref") ? 1e-11 : 2e-7;
  expected.t = converted(expected.t, DType::f64);
  expected.rtol = 0;
  expected.atol = std::max(fraction * largest_element(expected.ref), 16 * 0x1p-52 * operands);
  expected.finite_only = true;
  return expected;
}

std::string check_outputs(const Run& run, const json& outputs, const Tensors& stored) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& one = outputs[i];
    if (one.is_null()) continue;
    if (one.contains("value")) {
      if (plain(run.result) != one.at("value")) return str("output ", i, ": ", plain(run.result).dump(), ", expected ", one.at("value").dump());
      continue;
    }
    if (i >= run.outputs.size()) return str("output ", i, ": is not given");
    if (const std::string wrong = difference(run.outputs[i], expected_of(one, stored, run.outputs[i], run)); !wrong.empty()) return str("output ", i, ": ", wrong);
  }
  return "";
}

std::string check_grads(const Run& run, const json& grads, const Tensors& stored) {
  for (const auto& [name, one] : grads.items()) {
    const Tensor grad = run.tensors.at(name).grad();
    if (one.is_null() && !grad.defined()) continue;
    const Expected expected = one.is_null() ? Expected{zeros(grad.shape(), {.dtype = grad.dtype()}), {}, 0, 0, false} : expected_of(one, stored, grad, run);
    if (const std::string wrong = difference(grad, expected); !wrong.empty()) return str("grad of ", name, ": ", wrong);
  }
  return "";
}

// What is wrong, in one line; empty where nothing is. Throws Lacking and UncomputedDType where the case needs what this build does not have.
std::string run_case(const json& one, const Tensors& stored, bool float64) {
  const bool refused = one.contains("expect_error"), in_backward = one.value("error_in", "") == "backward";
  Run run;
  run.float64 = float64 && !refused;  // what must be refused may be so for its dtypes
  for (const auto& [name, input] : one.at("tensors").items()) run.tensors[name] = input_of(input, stored, run.float64);
  try {
    run.forward(one);
  } catch (const Error&) {
    if (refused && !in_backward) return "";
    throw;
  }
  if (refused && !in_backward) return "accepted, but must be refused";
  if (!refused) {
    if (const std::string wrong = check_outputs(run, one.at("outputs"), stored); !wrong.empty()) return wrong;
    const json mutated = one.value("mutated", json::object());
    for (const auto& [name, expected] : mutated.items())
      if (const std::string wrong = difference(run.tensors.at(name), expected_of(expected, stored, run.tensors.at(name), run)); !wrong.empty()) return str(name, " after the call: ", wrong);
    if (!one.contains("grads")) return "";
  }
  try {
    run.backward(one, stored);
  } catch (const Error&) {
    if (refused) return "";
    throw;
  }
  if (refused) return "backward was accepted, but must be refused";
  return check_grads(run, one.at("grads"), stored);
}

void run_file(const std::filesystem::path& file, Report& report) {
  const json content = json::parse(read_file(file.string()), nullptr, /*allow_exceptions=*/false);
  ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, "read ", file.string(), ": it holds no cases.");
  const Tensors stored = load_safetensors(std::filesystem::path(file).replace_extension(".safetensors").string());
  for (const json& one : content.at("cases")) {
    const std::string family = content.value("family", ""), id = str(family, " ", one.at("id").get<std::string>());
    if (!report.wants(family, one.at("id"))) continue;
    std::string wrong;
    try {
      wrong = run_case(one, stored, report.float64());
    } catch (const Lacking& lacking) {
      report.skip(id, str("this build lacks ", lacking.what));
      continue;
    } catch (const UncomputedDType& e) {
      report.skip(id, e.what());
      continue;
    } catch (const Error& e) {
      wrong = str("refused: ", e.what());
    }
    if (wrong.empty()) report.pass(id);
    else report.fail(id, wrong);
  }
}

}  // namespace

void run_ops(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "")) run_file(file, report);
}

}  // namespace rote::conformance

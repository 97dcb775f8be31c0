// trainer/apps/conformance/debug.cpp — cases of DebugUnderflowOverflow: what it prints of modules that are made from recipes.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "autograd/ops.h"
#include "trainer/apps/conformance/json_cases.h"
#include "trainer/debug_underflow_overflow.h"

namespace rote::conformance {

namespace {

using json = nlohmann::ordered_json;  // parameters are in the order in which they are written

// A value of a recipe: what a frame shows of it, and what `item` finds in it.
struct Held {
  nn::CallValue shown{nn::CallValue::Kind::none};
  std::vector<std::pair<std::string, Held>> items = {};  // of a tuple, a list (by index), a dict
  double number = 0;                                     // of what is no tensor

  Held() = default;
  Held(const Tensor& x) : shown(nn::CallValue::of(x)) {}
};
using Names = std::map<std::string, Held>;

double number(const json& value) {
  if (value.is_object()) return number(value.at("float"));
  if (!value.is_string()) return value.get<double>();
  const std::string word = value;
  return word == "nan" ? NAN : word == "-inf" ? -INFINITY : INFINITY;
}

template <class T>
void flatten(const json& nested, std::vector<int64_t>& shape, std::vector<T>& values, size_t depth = 0) {
  if (!nested.is_array()) return values.push_back(static_cast<T>(number(nested)));
  if (shape.size() == depth) shape.push_back(static_cast<int64_t>(nested.size()));
  for (const json& one : nested) flatten(one, shape, values, depth + 1);
}

template <class T>
Tensor tensor_of(const json& nested) {
  std::vector<int64_t> sizes;
  std::vector<T> values;
  flatten(nested, sizes, values);
  Shape shape;
  for (const int64_t size : sizes) shape.append(size);
  return from_values(shape, values);
}

Held compound(const char* kind, std::vector<std::pair<std::string, Held>> items) {
  Held held;
  held.shown = {};
  if (std::string(kind) == "tuple") {
    std::vector<nn::CallValue> parts;
    for (const auto& [name, part] : items) parts.push_back(part.shown);
    held.shown = {nn::CallValue::Kind::tuple, {}, std::move(parts)};
  }
  held.items = std::move(items);
  return held;
}

Held value_of(const json& text, const Names& names) {
  if (text.is_null()) return {};
  if (text.is_string()) {
    const auto found = names.find(text.get<std::string>());
    if (found != names.end()) return found->second;
  }
  if (text.is_object()) {
    if (text.contains("float32")) return tensor_of<float>(text.at("float32"));
    if (text.contains("int64")) return tensor_of<int64_t>(text.at("int64"));
    if (text.contains("item")) {
      const json& path = text.at("item");
      const std::string key = path[1].is_string() ? path[1].get<std::string>() : path[1].dump();
      for (const auto& [name, part] : value_of(path[0], names).items)
        if (name == key) return part;
      throw ArgumentError("the recipe asks for item " + key + ", which is not there.");
    }
    for (const char* kind : {"tuple", "list", "dict"}) {
      if (!text.contains(kind)) continue;
      std::vector<std::pair<std::string, Held>> items;
      const json& parts = text.at(kind);
      size_t i = 0;
      for (const auto& [name, part] : parts.items()) items.emplace_back(parts.is_array() ? std::to_string(i++) : name, value_of(part, names));
      return compound(kind, std::move(items));
    }
  }
  Held held;
  held.shown = {};
  if (text.is_number()) held.number = text.get<double>();
  return held;
}

// A module as its recipe says, called with values of any kind.
struct Recipe : nn::Module {
  json recipe;
  std::vector<std::pair<std::string, std::unique_ptr<Tensor>>> tensors;
  std::vector<std::unique_ptr<Recipe>> owned;
  std::vector<std::pair<std::string, Recipe*>> children;

  explicit Recipe(const json& from) : recipe(from) {}

  // What the recipe holds. A module in work has its place already, so that a part of it may share another.
  void fill(Recipe& root) {
    for (const char* name : {"weight", "bias"})
      if (recipe.contains(name) && !recipe.at(name).is_null()) add_tensor(name, recipe.at(name), true);
    for (const char* kind : {"parameters", "buffers"}) {
      const json list = recipe.value(kind, json::object());
      for (const auto& [name, values] : list.items()) add_tensor(name, values, std::string(kind) == "parameters");
    }
    size_t i = 0;
    for (const json& layer : recipe.value("layers", json::array())) add_child(std::to_string(i++), layer, root);
    for (const json& child : recipe.value("children", json::array())) add_child(child[0], child[1], root);
  }

  std::string class_name() const override { return recipe.at("class"); }

  void add_tensor(const std::string& name, const json& values, bool trains) {
    tensors.emplace_back(name, std::make_unique<Tensor>(tensor_of<float>(values)));
    if (trains) add_parameters({{tensors.back().first.c_str(), *tensors.back().second}});
    else add_buffers({{tensors.back().first.c_str(), *tensors.back().second}});
  }

  void add_child(const std::string& name, const json& from, Recipe& root) {
    const bool is_shared = from.contains("shared");
    Recipe* child = is_shared ? root.find(from.at("shared")) : owned.emplace_back(std::make_unique<Recipe>(from)).get();
    children.emplace_back(name, child);
    if (!is_shared) child->fill(root);
    add_module(name, *child);
  }

  Recipe* find(const std::string& path) {
    const size_t dot = path.find('.');
    for (const auto& [name, child] : children)
      if (name == path.substr(0, dot)) return dot == std::string::npos ? child : child->find(path.substr(dot + 1));
    throw ArgumentError("the recipe shares " + path + ", which is not there.");
  }

  const Tensor& own(const std::string& wanted) const {
    static const Tensor none;
    for (const auto& [name, tensor] : tensors)
      if (name == wanted) return *tensor;
    return none;
  }

  Held call(const std::vector<Held>& args, const Names& keywords) {
    const Held result = run(args, keywords);
    std::vector<nn::CallValue> inputs;
    for (const Held& one : args) inputs.push_back(one.shown);
    show_call(inputs, result.shown);
    return result;
  }

  Held run(const std::vector<Held>& args, const Names& keywords) {
    const std::string kind = class_name();
    const auto x = [&] { return args.at(0).shown.tensor; };
    if (kind == "Linear") return affine(x());
    if (kind == "Embedding") return embedding(x(), own("weight"));
    if (kind == "ReLU") return relu(x());
    if (kind == "Identity") return args.at(0);
    if (kind == "Sequential") {
      Held value = args.at(0);
      for (const auto& [name, child] : children) value = child->call({value}, {});
      return value;
    }
    Names names = keywords;
    for (const auto& [name, tensor] : tensors) names[name] = *tensor;
    for (size_t i = 0; i < args.size(); ++i) names[str("arg", i)] = args[i];
    for (const json& step : recipe.value("forward", json::array())) {
      std::vector<Held> given;
      for (const json& one : step.at("args")) given.push_back(value_of(one, names));
      const std::string out = step.at("out");
      names[out] = step.contains("call") ? find(step.at("call"))->call(given, {}) : Held(computed(step.at("op"), given));
    }
    return value_of(recipe.at("return"), names);
  }

  // Products are rounded before they add up, as the reference's of matrices this small: an infinity of each sign is NaN, where a chain of fma keeps the
  // first. The frames are on trial here, not the product.
  Tensor affine(const Tensor& x) const {
    const Tensor y = sum(mul(unsqueeze(x, -2), own("weight")), {-1});
    return own("bias").defined() ? add(y, own("bias")) : y;
  }

  static Tensor computed(const std::string& op, const std::vector<Held>& args) {
    const Tensor& x = args.at(0).shown.tensor;
    if (op == "half") return rote::to(x, DType::f16);
    if (op == "bfloat16") return rote::to(x, DType::bf16);
    const auto with = [&](const auto& y) {
      if (op == "mul") return mul(x, y);
      if (op == "add") return add(x, y);
      if (op == "sub") return sub(x, y);
      return op == "div" ? div(x, y) : Tensor();
    };
    const Held& second = args.at(1);
    if (const Tensor result = second.shown.tensor.defined() ? with(second.shown.tensor) : with(second.number); result.defined()) return result;
    throw ArgumentError("the recipe has the op " + op + ", which the runner does not know.");
  }
};

std::string run_case(const json& one) {
  const NoGrad no_grad;
  Recipe model(one.at("module"));
  model.fill(model);
  const json& options = one.at("options");
  std::string text;
  std::optional<int64_t> abort_after;
  if (options.contains("abort_after_batch_num")) abort_after = options.at("abort_after_batch_num").get<int64_t>();
  const DebugUnderflowOverflow debug(model, options.value("max_frames_to_save", int64_t{21}), options.value("trace_batch_nums", std::vector<int64_t>()), abort_after,
                               [&](const std::string& line) { text += line; });
  for (size_t i = 0; i < one.at("calls").size(); ++i) {
    const json &call = one.at("calls")[i], &expected = one.at("expect").at(i);
    std::vector<Held> args;
    for (const json& input : call.value("inputs", json::array())) args.push_back(value_of(input, {}));
    Names keywords;
    const json named = call.value("kwargs", json::object());
    for (const auto& [name, input] : named.items()) keywords[name] = value_of(input, {});
    std::string error;
    text.clear();
    try {
      model.call(args, keywords);
    } catch (const Error& fault) {
      error = fault.text;
    }
    if (const std::string wanted = expected.value("error", ""); error != wanted) return str("call ", i, ": the error is \"", error, "\", expected \"", wanted, "\"");
    if (text != expected.at("text").get<std::string>()) return str("call ", i, ": printed\n", text, "expected\n", expected.at("text").get<std::string>());
    if (!error.empty()) break;
  }
  return "";
}

}  // namespace

void run_debug(const std::filesystem::path& path, Report& report) { run_json_cases<json>(path, report, run_case); }

}  // namespace rote::conformance

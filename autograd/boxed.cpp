#include "autograd/boxed.h"

#include <cmath>
#include <sstream>

#include "autograd/inplace.h"
#include "autograd/ops.h"

namespace rote {

namespace {

std::string type_text(const Value& value) {
  static constexpr const char* kNames[] = {"none", "a bool", "an integer", "a float", "a list of integers", "a list of numbers", "a word", "a tensor", "a list of tensors"};
  return kNames[value.index()];
}

// 0 bool, 1 integer, 2 floating, as in DTypeInfo; -1: not a number.
int category(const Value& value) {
  if (std::holds_alternative<bool>(value)) return 0;
  if (std::holds_alternative<int64_t>(value)) return 1;
  return std::holds_alternative<double>(value) ? 2 : -1;
}

double number_of(const Value& value) {
  if (const auto* v = std::get_if<bool>(&value)) return *v ? 1 : 0;
  if (const auto* v = std::get_if<int64_t>(&value)) return static_cast<double>(*v);
  return std::get<double>(value);
}

}  // namespace

const Value* Arguments::find(const std::string& name) const {
  read_.insert(name);
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Arguments::given(const std::string& name) const {
  const Value* v = find(name);
  return v != nullptr && !std::holds_alternative<std::monostate>(*v);
}

const Value& Arguments::value(const std::string& name) const {
  const Value* v = find(name);
  ROTE_CHECK(v != nullptr, ArgumentError, op_, ": ", name, " is missing; it has no default.");
  return *v;
}

namespace {

template <class T>
const T& typed(const Arguments& a, const std::string& name, const char* wanted) {
  const Value& v = a.value(name);
  ROTE_CHECK(std::holds_alternative<T>(v), ArgumentError, a.op(), ": ", name, " is ", type_text(v), "; it must be ", wanted, ".");
  return std::get<T>(v);
}

}  // namespace

// The dtype of the tensor that decides, so that a 0-dim one is not outvoted; beside narrow tensors with axes a wider one keeps the number exact.
Tensor Arguments::number_tensor(const Value& number) const {
  const Tensor* beside = nullptr;
  for (const auto& [name, value] : values_) {
    const auto* x = std::get_if<Tensor>(&value);
    if (x == nullptr || !x->defined()) continue;
    const bool first = beside == nullptr, higher = !first && info(x->dtype()).category > info(beside->dtype()).category;
    const bool equal = !first && info(x->dtype()).category == info(beside->dtype()).category;
    if (first || higher || (equal && x->axes() > 0 && beside->axes() == 0)) beside = x;
  }
  const int wanted = category(number);
  DType dtype = wanted == 2 ? DType::f32 : wanted == 1 ? DType::i64 : DType::boolean;
  if (beside != nullptr && info(beside->dtype()).category >= wanted) {
    const bool narrow = beside->axes() > 0 && size_of(beside->dtype()) <= 2;
    dtype = !narrow ? beside->dtype() : is_floating(beside->dtype()) ? DType::f32 : info(beside->dtype()).category == 1 ? DType::i64 : DType::boolean;
  }
  if (const auto* v = std::get_if<int64_t>(&number); v != nullptr && info(dtype).category == 1)
    return converted(alias(from_values({1}, std::vector<int64_t>{*v}), {}, {}, 0), dtype);  // exact in i64, wraps in a narrower dtype
  return scalar(number_of(number), dtype);
}

Tensor Arguments::tensor(const std::string& name) const {
  const Value& v = value(name);
  if (category(v) >= 0) return number_tensor(v);
  const Tensor& x = typed<Tensor>(*this, name, "a tensor");
  ROTE_CHECK(x.defined(), ArgumentError, op_, ": ", name, " is none; it must be a tensor.");
  return x;
}

Tensor Arguments::tensor_or_none(const std::string& name) const { return given(name) ? tensor(name) : Tensor(); }

std::vector<Tensor> Arguments::tensors(const std::string& name) const { return typed<std::vector<Tensor>>(*this, name, "a list of tensors"); }

double Arguments::number(const std::string& name) const {
  const Value& v = value(name);
  ROTE_CHECK(category(v) >= 0, ArgumentError, op_, ": ", name, " is ", type_text(v), "; it must be a number.");
  return number_of(v);
}

int64_t Arguments::integer(const std::string& name) const {
  const Value& v = value(name);
  ROTE_CHECK(category(v) == 0 || category(v) == 1, ArgumentError, op_, ": ", name, " is ", type_text(v), "; it must be an integer.");
  return category(v) == 0 ? std::get<bool>(v) : std::get<int64_t>(v);
}

bool Arguments::flag(const std::string& name) const { return integer(name) != 0; }

const std::string& Arguments::word(const std::string& name) const { return typed<std::string>(*this, name, "a word"); }

std::vector<int64_t> Arguments::list(const std::string& name) const {
  if (!given(name)) return {};
  if (std::holds_alternative<int64_t>(value(name))) return {integer(name)};
  return typed<std::vector<int64_t>>(*this, name, "a list of integers");
}

std::vector<double> Arguments::numbers(const std::string& name) const {
  if (!given(name)) return {};
  if (const auto* whole = std::get_if<std::vector<int64_t>>(&value(name))) return {whole->begin(), whole->end()};
  return typed<std::vector<double>>(*this, name, "a list of numbers");
}

std::optional<DType> Arguments::dtype(const std::string& name) const {
  if (!given(name)) return std::nullopt;
  for (int i = 0; i < kDTypes; ++i)
    if (word(name) == kDTypeInfo[i].torch) return static_cast<DType>(i);
  throw Lacking{str("the dtype ", word(name))};
}

bool Arguments::is_fraction(const std::string& name) const { return given(name) && std::holds_alternative<double>(value(name)); }

void Arguments::check_all_read() const {
  for (const auto& [name, value] : values_) {
    if (read_.count(name) || std::holds_alternative<std::monostate>(value)) continue;
    if (const auto* v = std::get_if<bool>(&value); v != nullptr && !*v) continue;
    throw Lacking{str("the argument ", name, " of ", op_)};
  }
}

namespace {

// One ATen name: a composition, or a Row with the names of its inputs and attributes.
struct Function {
  Value (*composition)(const Arguments&) = nullptr;
  const OpEntry* op = nullptr;
  std::vector<std::string> names;
};

// `pow.Tensor_Tensor(self, exponent); …` -> f(name, arguments).
template <class F>
void for_each_aten(const std::string& text, F&& f) {
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ';');) {
    for (char& c : part)
      if (c == '(' || c == ')' || c == ',') c = ' ';
    std::stringstream words(part);
    std::string name;
    std::vector<std::string> arguments;
    words >> name;
    for (std::string word; words >> word;) arguments.push_back(word);
    f(name, arguments);
  }
}

}  // namespace

std::vector<Composition> all_compositions() {
  std::vector<Composition> all;
  for (const auto family : {pointwise_compositions, activation_compositions, view_compositions, join_compositions, index_compositions,
                            cast_compositions, create_compositions, linear_compositions, norm_compositions, softmax_compositions, loss_compositions,
                            attention_compositions, reduce_compositions, inplace_compositions, gather_compositions, scan_compositions,
                            sort_compositions, strides_compositions, rearrange_compositions, compare_compositions, regression_compositions,
                            ctc_compositions, metric_compositions, conv_compositions, pool_compositions, resample_compositions, pad_compositions,
                            elementary_compositions, bitwise_compositions, distance_compositions, contract_compositions}) {
    const std::vector<Composition> some = family();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

namespace {

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = [] {
    std::map<std::string, Function> made;
    const auto add = [&](const std::string& name, Function function) { ROTE_ASSERT(made.emplace(name, std::move(function)).second, "an ATen name is listed twice"); };
    for (const OpEntry* op : all_ops())
      for_each_aten(op->row.aten, [&](const std::string& name, const std::vector<std::string>& names) {
        ROTE_ASSERT(names.size() <= op->schema.inputs.size() + op->schema.attrs.size(), op->row.name);
        add(name, {nullptr, op, names});
      });
    for (const Composition& composition : all_compositions())
      for_each_aten(composition.aten, [&](const std::string& name, const std::vector<std::string>&) { add(name, {composition.call, nullptr, {}}); });
    return made;
  }();
  return all;
}

Value call_row(const Function& function, const Arguments& a) {
  const Schema& schema = function.op->schema;
  std::vector<Tensor> inputs;
  std::vector<Attr> attrs;
  for (size_t i = 0; i < function.names.size(); ++i) {
    const std::string& name = function.names[i];
    if (i < schema.inputs.size()) {
      inputs.push_back(schema.inputs[i].optional ? a.tensor_or_none(name) : a.tensor(name));
      continue;
    }
    attrs.push_back(std::visit(
        [&](const auto& v) -> Attr {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) return schema.attrs[attrs.size()].fallback;
          else if constexpr (std::is_constructible_v<Attr, T> && !std::is_same_v<T, Tensor> && !std::is_same_v<T, std::vector<Tensor>>) return v;
          else throw ArgumentError(str(a.op(), ": ", name, " is ", type_text(a.value(name)), "; it must be a number, a list of integers or a word."));
        },
        a.value(name)));
  }
  a.check_all_read();
  std::vector<Tensor> outputs = run(*function.op, std::move(inputs), std::move(attrs));
  if (outputs.size() == 1) return outputs[0];
  return outputs;
}

}  // namespace

namespace {

// `add_.Tensor` is `add.Tensor` written into its first argument; empty where the name is not of that form.
std::string out_of_place(const std::string& name) {
  const size_t dot = std::min(name.find('.'), name.size());
  if (dot < 2 || name[dot - 1] != '_' || name[dot - 2] == '_') return "";
  return name.substr(0, dot - 1) + name.substr(dot);
}

}  // namespace

bool has_aten(const std::string& name) { return functions().count(name) != 0 || functions().count(out_of_place(name)) != 0; }

Value call_aten(const std::string& name, const std::map<std::string, Value>& values) {
  const auto found = functions().find(name);
  if (found == functions().end() && has_aten(name)) {
    const Tensor x = Arguments(name, values).tensor("self");
    std::vector<Tensor> others;
    for (const auto& [argument, value] : values)
      if (const auto* other = std::get_if<Tensor>(&value)) others.push_back(*other);
    std::map<std::string, Value> arguments = values;
    arguments["self"] = before_write(x, others);
    const Value result = call_aten(out_of_place(name), arguments);
    if (!std::holds_alternative<Tensor>(result)) throw Lacking{str("the op ", name)};
    write_into(x, std::get<Tensor>(result), name.c_str());
    return x;
  }
  if (found == functions().end()) throw Lacking{str("the op ", name)};
  const Arguments arguments(name, values);
  if (found->second.op != nullptr) return call_row(found->second, arguments);
  const Value result = found->second.composition(arguments);
  arguments.check_all_read();
  return result;
}

}  // namespace rote

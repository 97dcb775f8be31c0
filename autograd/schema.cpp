#include "autograd/schema.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace rote {

namespace {

// A cursor over the schema's text; the text is ours, so a fault in it is our own.
struct Scanner {
  const char* at;

  void blanks() {
    while (*at == ' ') ++at;
  }
  bool take(char c) {
    blanks();
    if (*at != c) return false;
    ++at;
    return true;
  }
  void expect(char c) { ROTE_ASSERT(take(c), "a schema does not follow the grammar of autograd/row.h"); }
  std::string word() {
    blanks();
    const char* first = at;
    while (std::isalnum(static_cast<unsigned char>(*at)) || *at == '_') ++at;
    return std::string(first, at);
  }
};

std::optional<DType> dtype_named(const std::string& word) {
  for (int i = 0; i < kDTypes; ++i)
    if (word == kDTypeInfo[i].name) return static_cast<DType>(i);
  return std::nullopt;
}

std::vector<Extent> parse_extents(Scanner& in) {
  std::vector<Extent> extents;
  if (in.take(']')) return extents;
  do {
    in.blanks();
    if (in.take('*')) {
      extents.push_back({Extent::lead, 0, 0});
    } else {
      const std::string word = in.word();
      const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
      if (number) extents.push_back({Extent::number, 0, std::stoll(word)});
      else extents.push_back({Extent::letter, word[0], 0});
    }
  } while (in.take(','));
  in.expect(']');
  return extents;
}

Attr parse_default(Scanner& in) {
  in.blanks();
  if (in.take('[')) {
    std::vector<int64_t> values;
    while (!in.take(']')) {
      values.push_back(std::strtoll(in.at, const_cast<char**>(&in.at), 10));
      in.take(',');
    }
    return values;
  }
  const char* first = in.at;
  while (*in.at != 0 && *in.at != ',' && *in.at != ')') ++in.at;
  const std::string word(first, in.at);
  if (word == "none") return {};
  if (word == "true" || word == "false") return word == "true";
  if (word[0] == '"') return word.substr(1, word.size() - 2);
  if (word.find_first_of(".e") != std::string::npos) return std::strtod(word.c_str(), nullptr);
  return static_cast<int64_t>(std::strtoll(word.c_str(), nullptr, 10));
}

template <class T>
int find(const std::vector<T>& list, const std::string& name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace

std::string attr_text(const Attr& attr) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "none";
        else if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          std::string out = "[";
          for (size_t i = 0; i < v.size(); ++i) out += (i ? "," : "") + std::to_string(v[i]);
          return out + "]";
        } else return str(v);
      },
      attr);
}

Schema Schema::parse(const char* schema_text) {
  Schema schema;
  Scanner in{schema_text};
  in.word();
  in.expect('(');
  while (!in.take(')')) {
    std::string word = in.word();
    Operand operand;
    operand.dtype = dtype_named(word);
    operand.any_dtype = word == "any";
    if (operand.dtype || operand.any_dtype) word = in.word();
    if (in.take('[')) {
      operand.name = word;
      operand.shaped = true;
      operand.any_shape = std::strncmp(in.at, "...]", 4) == 0;
      if (operand.any_shape) in.at += 4;
      else operand.extents = parse_extents(in);
      operand.optional = in.take('?');
      schema.inputs.push_back(std::move(operand));
    } else {
      AttrSpec attr{word, !in.take('='), {}};
      if (!attr.required) attr.fallback = parse_default(in);
      schema.attrs.push_back(std::move(attr));
    }
    in.take(',');
  }
  in.blanks();
  ROTE_ASSERT(std::strncmp(in.at, "->", 2) == 0, "a schema has no outputs");
  in.at += 2;
  do {
    Operand operand;
    std::string word = in.word();
    operand.dtype = dtype_named(word);
    operand.wide = word == "wide";
    if (operand.dtype || operand.wide) word = in.word();
    operand.name = word;
    operand.shaped = in.take('[');
    if (operand.shaped) operand.extents = parse_extents(in);
    schema.outputs.push_back(std::move(operand));
  } while (in.take(','));
  return schema;
}

int Schema::input(const std::string& name) const { return find(inputs, name); }
int Schema::output(const std::string& name) const { return find(outputs, name); }
int Schema::attr(const std::string& name) const { return find(attrs, name); }

namespace {

std::string expected(const Operand& operand, const Binding& b) {
  std::string out = "[";
  for (size_t i = 0; i < operand.extents.size(); ++i) {
    const Extent& e = operand.extents[i];
    if (i) out += ",";
    if (e.kind == Extent::number) out += std::to_string(e.value);
    else if (e.kind == Extent::lead && !b.lead_bound) out += "*";
    else if (e.kind == Extent::lead) for (int a = 0; a < b.lead.axes(); ++a) out += (a ? "," : "") + std::to_string(b.lead[a]);
    else out += b.bound[e.name - 'A'] ? std::to_string(b.letters[e.name - 'A']) : std::string(1, e.name);
  }
  return out + "]";
}

// Binds one input; false where it contradicts what is bound.
bool bind_operand(const char* op, const Operand& operand, const Shape& shape, bool broadcast_lead, Binding& b) {
  size_t lead = operand.extents.size();
  for (size_t i = 0; i < operand.extents.size(); ++i)
    if (operand.extents[i].kind == Extent::lead) lead = i;
  const bool has_lead = lead < operand.extents.size();
  const int fixed = static_cast<int>(operand.extents.size()) - (has_lead ? 1 : 0);
  const int lead_axes = shape.axes() - fixed;
  if (has_lead ? lead_axes < 0 : lead_axes != 0) return false;
  int axis = 0;
  for (const Extent& e : operand.extents) {
    if (e.kind == Extent::lead) {
      const Shape found = shape.slice(axis, axis + lead_axes);
      if (!b.lead_bound) b.lead = found;
      else if (broadcast_lead) b.lead = broadcast(b.lead, found, op);
      else if (!(b.lead == found)) return false;
      b.lead_bound = true;
      axis += lead_axes;
      continue;
    }
    const int64_t n = shape[axis++];
    if (e.kind == Extent::number) {
      if (n != e.value) return false;
    } else if (b.bound[e.name - 'A']) {
      if (n != b.letters[e.name - 'A']) return false;
    } else {
      b.letters[e.name - 'A'] = n;
      b.bound[e.name - 'A'] = true;
    }
  }
  return true;
}

}  // namespace

Binding bind_inputs(const char* op, const Schema& schema, const std::vector<Tensor>& inputs, bool broadcast_lead, std::optional<DType> lower) {
  const auto counts_as = [&](const Tensor& x) { return x.dtype() == DType::f32 ? lower.value_or(DType::f32) : x.dtype(); };
  Binding b;
  const Tensor* first = nullptr;       // the input that bound the shapes, for the text
  const Tensor* floating = nullptr;    // the first input of free dtype
  const Operand* first_operand = nullptr;
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    const Operand& operand = schema.inputs[i];
    const Tensor x = i < inputs.size() ? inputs[i] : Tensor();
    if (!x.defined()) {
      ROTE_CHECK(operand.optional, ArgumentError, op, ": ", operand.name, " is none; it must be a tensor.");
      continue;
    }
    if (operand.dtype) {
      ROTE_CHECK(x.dtype() == *operand.dtype, DTypeError, op, ": ", operand.name, " is ", describe(x), "; it must be ", name(*operand.dtype),
                 ".");
    } else if (!broadcast_lead && !operand.any_dtype) {
      ROTE_CHECK(is_floating(x.dtype()), UncomputedDType, op, ": ", operand.name, " is ", describe(x), "; it must have a floating dtype (to() converts).");
      if (floating == nullptr) floating = &inputs[i];
      ROTE_CHECK(counts_as(x) == counts_as(*floating), DTypeError, op, ": ", operand.name, " is ", describe(x), " but another input is ",
                 describe(*floating), "; the dtypes must be equal.");
    }
    if (operand.any_shape) continue;
    const Binding before = b;
    if (!bind_operand(op, operand, x.shape(), broadcast_lead, b)) {
      const std::string shape = expected(operand, before);
      ROTE_CHECK(first != nullptr, ShapeError, op, ": ", operand.name, " is ", describe(x), "; it must be ", shape, ".");
      throw ShapeError(str(op, ": ", operand.name, " is ", describe(x), " but ", first_operand->name, " is ", describe(*first), "; ", operand.name,
                           " must be ", shape, "."));
    }
    if (first == nullptr) {
      first = &inputs[i];
      first_operand = &operand;
    }
  }
  return b;
}

Shape bound_shape(const Operand& operand, const Binding& b) {
  Shape shape;
  for (const Extent& e : operand.extents) {
    if (e.kind == Extent::number) shape.append(e.value);
    else if (e.kind == Extent::letter) shape.append(b.letters[e.name - 'A']);
    else for (const int64_t n : b.lead) shape.append(n);
  }
  return shape;
}

}  // namespace rote

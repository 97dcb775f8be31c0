// autograd/schema.h — a Row's schema, parsed: names and extents of inputs and outputs, attributes with defaults; binding and the error texts.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "autograd/row.h"
#include "tensor/tensor.h"

namespace rote {

using Attr = std::variant<std::monostate, bool, int64_t, double, std::vector<int64_t>, std::string>;
std::string attr_text(const Attr& attr);

// An op that is not computed in a dtype here, as opposed to a call at fault.
struct UncomputedDType : DTypeError {
  using DTypeError::DTypeError;
};

struct Extent {
  enum Kind { letter, lead, number } kind;
  char name = 0;      // of a letter
  int64_t value = 0;  // of a number
};

struct Operand {
  std::string name;
  std::vector<Extent> extents;
  bool shaped = false;    // written with []
  bool optional = false;
  bool any_shape = false;  // written [...]: the op checks it
  bool any_dtype = false;  // written `any x[…]`
  bool wide = false;       // of an output, written `wide mean[…]`: never of 16 bits
  std::optional<DType> dtype;
};

struct AttrSpec {
  std::string name;
  bool required = false;
  Attr fallback;
};

struct Schema {
  std::vector<Operand> inputs, outputs;
  std::vector<AttrSpec> attrs;

  static Schema parse(const char* text);
  int input(const std::string& name) const;   // -1 where there is none
  int output(const std::string& name) const;
  int attr(const std::string& name) const;
};

// What the letters of a schema stand for in one call.
struct Binding {
  int64_t letters[26] = {};
  bool bound[26] = {};
  Shape lead;
  bool lead_bound = false;
};

// Checks the inputs against the schema and binds; `broadcast_lead`: the leading axes broadcast between inputs (formula ops).
// `lower`: f32 counts as this dtype, to which the op rounds it (OpEntry::takes_sixteen).
// Throws ShapeError, DTypeError or ArgumentError in the op's name before anything is computed.
Binding bind_inputs(const char* op, const Schema& schema, const std::vector<Tensor>& inputs, bool broadcast_lead, std::optional<DType> lower = {});
Shape bound_shape(const Operand& operand, const Binding& binding);

}  // namespace rote

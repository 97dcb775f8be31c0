// autograd/boxed.h — calls by ATen name with arguments by name, made from the Rows and from the compositions of the families. No math.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

// An argument or a result. A list of tensors may hold undefined ones.
using Value = std::variant<std::monostate, bool, int64_t, double, std::vector<int64_t>, std::vector<double>, std::string, Tensor, std::vector<Tensor>>;

// What this library does not have: a name, an argument, a form of a call. No Error, for nothing is wrong with the call.
struct Lacking {
  std::string what;
};

// The named arguments of one call. A reader throws ArgumentError where the value is missing or of another type, and notes what was read:
// an argument that nobody reads must be off.
class Arguments {
 public:
  Arguments(std::string op, std::map<std::string, Value> values) : op_(std::move(op)), values_(std::move(values)) {}

  const std::string& op() const { return op_; }
  bool given(const std::string& name) const;  // there and not none
  const Value& value(const std::string& name) const;

  // A number becomes a tensor without axes that promotes by category only beside the call's tensors.
  Tensor tensor(const std::string& name) const;
  Tensor tensor_or_none(const std::string& name) const;
  std::vector<Tensor> tensors(const std::string& name) const;
  double number(const std::string& name) const;
  int64_t integer(const std::string& name) const;
  bool flag(const std::string& name) const;
  const std::string& word(const std::string& name) const;
  std::vector<int64_t> list(const std::string& name) const;  // none: empty; an integer: of one
  std::vector<double> numbers(const std::string& name) const;  // none: empty
  std::optional<DType> dtype(const std::string& name) const;  // by torch's name
  bool is_fraction(const std::string& name) const;            // a floating number, 2.0 included

  void ignore(const std::string& name) const { read_.insert(name); }  // has no bearing on the result here
  void check_all_read() const;                                        // Lacking, by name, where one is not off

 private:
  const Value* find(const std::string& name) const;
  Tensor number_tensor(const Value& number) const;

  std::string op_;
  std::map<std::string, Value> values_;
  mutable std::set<std::string> read_;
};

// A function made of ops, without a derivative of its own: its ATen names and its call from named arguments. Families list theirs beside
// the functions.
struct Composition {
  const char* aten;  // `sum; sum.dim_IntList`
  Value (*call)(const Arguments& arguments);
};

// The compositions of every family, in the order of boxed.cpp.
std::vector<Composition> all_compositions();
bool has_aten(const std::string& name);  // `add.Tensor`
// The result, or the list of results. Throws Lacking, and the errors of the ops themselves.
Value call_aten(const std::string& name, const std::map<std::string, Value>& arguments);

}  // namespace rote

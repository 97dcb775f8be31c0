#include "autograd/ops/create.h"

#include "autograd/boxed.h"

namespace rote {

namespace {

// A number as PyTorch infers its dtype where none is given.
DType inferred(const Value& number) {
  if (std::holds_alternative<bool>(number)) return DType::boolean;
  return std::holds_alternative<int64_t>(number) ? DType::i64 : DType::f32;
}

// i64 values beyond 2^53 would lose digits on the way through a double.
Tensor filled(const Arguments& a, const Shape& shape, const std::string& name, DType dtype) {
  if (dtype != DType::i64 || a.is_fraction(name)) return full(shape, a.number(name), {.dtype = dtype});
  const Tensor x = empty(shape, {.dtype = dtype});
  copy_elements(x, alias(from_values({1}, std::vector<int64_t>{a.integer(name)}), shape, Strides(std::vector<int64_t>(static_cast<size_t>(shape.axes()), 0)), 0));
  return x;
}

Tensor filled(const Arguments& a, double value) {
  const bool sized = a.given("size");
  const DType dtype = a.dtype("dtype").value_or(a.given("self") ? a.tensor("self").dtype() : DType::f32);
  a.ignore("memory_format");
  return full(sized || !a.given("self") ? Shape(a.list("size")) : a.tensor("self").shape(), value, {.dtype = dtype});
}

}  // namespace

std::vector<Composition> create_compositions() {
  return {
      {"zeros; new_zeros; zeros_like", [](const Arguments& a) -> Value { return filled(a, 0); }},
      {"ones; new_ones; ones_like", [](const Arguments& a) -> Value { return filled(a, 1); }},
      {"full", [](const Arguments& a) -> Value {
         return filled(a, Shape(a.list("size")), "fill_value", a.dtype("dtype").value_or(inferred(a.value("fill_value"))));
       }},
      {"full_like", [](const Arguments& a) -> Value {
         a.ignore("memory_format");
         return filled(a, a.tensor("self").shape(), "fill_value", a.dtype("dtype").value_or(a.tensor("self").dtype()));
       }},
      {"new_full", [](const Arguments& a) -> Value {
         return filled(a, Shape(a.list("size")), "fill_value", a.dtype("dtype").value_or(a.tensor("self").dtype()));
       }},
      {"scalar_tensor", [](const Arguments& a) -> Value { return filled(a, {}, "s", a.dtype("dtype").value_or(DType::f32)); }},
  };
}

}  // namespace rote

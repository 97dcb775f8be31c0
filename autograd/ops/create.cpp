#include "autograd/ops/create.h"

#include <cmath>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/rearrange.h"
#include "autograd/ops/view.h"
#include "kernels/math64.h"

namespace rote {

namespace {

// A number as PyTorch infers its dtype where none is given.
DType inferred(const Value& number) {
  if (std::holds_alternative<bool>(number)) return DType::boolean;
  return std::holds_alternative<int64_t>(number) ? DType::i64 : DType::f32;
}

// value(i) for i below count, computed in f64 or i64 and converted once.
template <class F>
Tensor filled_by(int64_t count, DType dtype, const F& value) {
  const Tensor x = empty({count}, {.dtype = dtype});
  visit(dtype, [&](auto t) {
    using T = decltype(t);
    T* p = static_cast<T*>(x.raw());
    for (int64_t i = 0; i < count; ++i) p[i] = convert<T>(value(i));
  });
  return x;
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

// The i-th of `count` numbers between first and last.
auto between(double first, double last, int64_t count) {
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  return [=](int64_t i) { return i < count / 2 || count < 2 ? first + step * static_cast<double>(i) : last - step * static_cast<double>(count - 1 - i); };
}

void check_count(const char* who, int64_t count) { ROTE_CHECK(count >= 0, ArgumentError, who, ": steps is ", count, "; it must be 0 or more."); }

}  // namespace

Tensor arange(double first, double last, double step, DType dtype) {
  ROTE_CHECK(step != 0 && std::isfinite(first) && std::isfinite(last) && std::isfinite(step) && (last - first) / step >= 0, ArgumentError, "arange: from ", first, " to ", last, " by ", step,
             "; all must be finite and the step lead from one to the other.");
  const double count = std::ceil((last - first) / step);
  ROTE_CHECK(count < 0x1p48, ArgumentError, "arange: from ", first, " to ", last, " by ", step, " holds more than any memory.");
  if (!is_floating(dtype)) first = std::trunc(first), step = std::trunc(step);  // as in PyTorch: counted before, by the numbers that were given
  return filled_by(static_cast<int64_t>(count), dtype, [=](int64_t i) { return first + static_cast<double>(i) * step; });
}

Tensor linspace(double first, double last, int64_t count, DType dtype) {
  check_count("linspace", count);
  if (!is_floating(dtype)) first = std::trunc(first), last = std::trunc(last);  // as in PyTorch the bounds are of the dtype, too
  return filled_by(count, dtype, between(first, last, count));
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  ROTE_CHECK(rows >= 0 && columns >= 0, ArgumentError, "eye: ", rows, " rows and ", columns, " columns; each must be 0 or more.");
  return to(eq(reshape(arange(rows), {rows, 1}), reshape(arange(columns), {1, columns})), dtype);
}

namespace {

// arange of integers, which f64 does not hold beyond 2^53.
Tensor whole_range(int64_t first, int64_t last, int64_t step, DType dtype) {
  ROTE_CHECK(step != 0 && (first == last || (last > first) == (step > 0)), ArgumentError, "arange: from ", first, " to ", last, " by ", step,
             "; the step must lead from one to the other.");
  const uint64_t length = step > 0 ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : static_cast<uint64_t>(first) - static_cast<uint64_t>(last);
  const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return filled_by(static_cast<int64_t>(length / by + (length % by != 0)), dtype, [=](int64_t i) { return first + i * step; });
}

// The numbers of arange in i64 where all that are given are integers.
Tensor ranged(const Arguments& a) {
  const bool fractions = a.is_fraction("start") || a.is_fraction("end") || a.is_fraction("step");
  const DType dtype = a.dtype("dtype").value_or(fractions ? DType::f32 : DType::i64);
  if (fractions) return arange(a.given("start") ? a.number("start") : 0, a.number("end"), a.given("step") ? a.number("step") : 1, dtype);
  return whole_range(a.given("start") ? a.integer("start") : 0, a.integer("end"), a.given("step") ? a.integer("step") : 1, dtype);
}

// A bound that is a number or a tensor without axes.
double bound(const Arguments& a, const char* name) {
  const Tensor x = a.tensor(name);
  ROTE_CHECK(x.axes() == 0, ShapeError, a.op(), ": ", name, " is ", describe(x), "; it must be one number.");
  return std::holds_alternative<Tensor>(a.value(name)) ? x.item() : a.number(name);
}

// row over column of the elements of a triangle of ones.
Tensor triangle(const Arguments& a, Tensor (*part)(const Tensor&, int64_t)) {
  const int64_t rows = a.integer("row"), columns = a.integer("col");
  ROTE_CHECK(rows >= 0 && columns >= 0, ArgumentError, a.op(), ": ", rows, " rows and ", columns, " columns; each must be 0 or more.");
  constexpr int64_t kInt = 3;  // torch's number for i32; the cases give numbers
  const bool number = a.given("dtype") && std::holds_alternative<int64_t>(a.value("dtype"));
  const DType dtype = !number ? a.dtype("dtype").value_or(DType::i64) : a.integer("dtype") == kInt ? DType::i32 : DType::i64;
  return to(contiguous(transpose(nonzero(part(full({rows, columns}, 1, {.dtype = DType::boolean}), a.integer("offset"))), 0, 1)), dtype);
}

}  // namespace

std::vector<Composition> create_compositions() {
  return {
      {"arange; arange.start; arange.start_step", [](const Arguments& a) -> Value { return ranged(a); }},
      {"linspace; linspace.Tensor_Tensor; linspace.Tensor_Scalar; linspace.Scalar_Tensor", [](const Arguments& a) -> Value {
         return linspace(bound(a, "start"), bound(a, "end"), a.integer("steps"), a.dtype("dtype").value_or(DType::f32));
       }},
      {"logspace; logspace.Tensor_Tensor; logspace.Tensor_Scalar; logspace.Scalar_Tensor", [](const Arguments& a) -> Value {
         const int64_t count = a.integer("steps");
         check_count("logspace", count);
         const auto exponent = between(bound(a, "start"), bound(a, "end"), count);
         const double base = a.number("base");
         return filled_by(count, a.dtype("dtype").value_or(DType::f32), [&](int64_t i) { return math64::pow(base, exponent(i)); });
       }},
      {"eye; eye.m", [](const Arguments& a) -> Value {
         return eye(a.integer("n"), a.integer(a.given("m") ? "m" : "n"), a.dtype("dtype").value_or(DType::f32));
       }},
      {"tril_indices", [](const Arguments& a) -> Value { return triangle(a, tril); }},
      {"triu_indices", [](const Arguments& a) -> Value { return triangle(a, triu); }},
      {"fill.Scalar; fill.Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), value = a.tensor("value");
         ROTE_CHECK(value.axes() == 0, ShapeError, "fill: value is ", describe(value), "; it must be one number.");
         return where(full({}, 1, {.dtype = DType::boolean}), to(value, x.dtype()), x);  // a function of x, with the gradient 0
       }},
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

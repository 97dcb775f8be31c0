#include "autograd/ops/distance.h"

#include <algorithm>
#include <cmath>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/svd.h"
#include "autograd/ops/view.h"

namespace rote {

Tensor dist(const Tensor& x, const Tensor& y, double order) {
  return to(norm(sub(widened(x), widened(y)), order), result_type({x, y}));
}

Tensor cdist(const Tensor& x, const Tensor& y, double order) {
  ROTE_CHECK(x.axes() >= 2 && y.axes() >= 2 && x.size(-1) == y.size(-1), ShapeError, "cdist: x is ", describe(x), " and y ", describe(y), "; both need rows of the same size.");
  ROTE_CHECK(order >= 0, ArgumentError, "cdist: order is ", order, "; it must not be negative.");
  ROTE_CHECK(is_floating(x.dtype()) && x.dtype() == y.dtype(), DTypeError, "cdist: x is ", describe(x), " and y ", describe(y), "; they must be of one floating dtype.");
  const Tensor apart = sub(unsqueeze(widened(x), -2), unsqueeze(widened(y), -3));
  return to(norm(apart, x.size(-1) == 0 ? 2 : order, {-1}), x.dtype());  // of empty rows all are 0
}

namespace {

void check_matrix_axes(const Tensor& x, const std::vector<int64_t>& axes) {
  ROTE_CHECK(x.axes() >= 2 && axes.size() == 2 && normalize_axis(axes[0], x.axes(), "matrix_norm") != normalize_axis(axes[1], x.axes(), "matrix_norm"), ShapeError, "matrix_norm: x is ",
             describe(x), " and ", axes.size(), " axes are named; two different ones make its matrices.");
}

// Singular values of the matrices that the two axes make, the others in front.
Tensor spectrum(const Tensor& x, const std::vector<int64_t>& axes) { return singular_values(movedim(widened(x), axes, {-2, -1})); }

// One value a matrix, in x's dtype, with the two axes as ones where they stay.
Tensor kept(Tensor y, const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  std::vector<int> places;
  for (const int64_t axis : axes) places.push_back(normalize_axis(axis, x.axes(), "matrix_norm"));
  std::sort(places.begin(), places.end());
  if (keepdim)
    for (const int place : places) y = unsqueeze(y, place);
  return to(y, x.dtype());
}

}  // namespace

Tensor matrix_norm(const Tensor& x, double order, const std::vector<int64_t>& axes, bool keepdim) {
  check_matrix_axes(x, axes);
  if (std::abs(order) == 2) {
    const Tensor s = spectrum(x, axes);
    ROTE_CHECK(s.size(-1) > 0 || order > 0, ShapeError, "matrix_norm: x is ", describe(x), "; of no singular values none is the smallest.");
    return kept(s.size(-1) == 0 ? sum(s, {-1}) : order > 0 ? amax(s, {-1}) : amin(s, {-1}), x, axes, keepdim);
  }
  ROTE_CHECK(std::abs(order) == 1 || std::isinf(order), ArgumentError, "matrix_norm: order is ", order, "; it is 1, -1, 2, -2, infinity or -infinity.");
  const bool columns = std::abs(order) == 1;
  const Tensor sums = norm(widened(x), 1, {axes[columns ? 0 : 1]}, true);
  const int64_t across = axes[columns ? 1 : 0];
  const Tensor y = order < 0 ? amin(sums, {across}, true) : x.size(across) == 0 ? sum(sums, {across}, true) : amax(sums, {across}, true);
  return to(keepdim ? y : sum(y, axes), x.dtype());  // over axes of size 1
}

namespace {

Tensor in_dtype(const Arguments& a) {
  const Tensor x = a.tensor("self");
  const DType dtype = a.dtype("dtype").value_or(x.dtype());
  const bool holds = is_floating(x.dtype()) && is_floating(dtype) && (dtype == x.dtype() || size_of(dtype) > size_of(x.dtype()));
  ROTE_CHECK(holds, DTypeError, a.op(), ": x is ", describe(x), " and the dtype ", name(dtype), "; both must be floating and the second one must hold the first.");
  return to(x, dtype);
}

Tensor matrix_norm(const Arguments& a, std::vector<int64_t> axes) {
  const Tensor x = in_dtype(a);
  const bool keepdim = a.flag("keepdim");
  if (!std::holds_alternative<std::string>(a.value("ord"))) return matrix_norm(x, a.number("ord"), axes, keepdim);
  const std::string& word = a.word("ord");
  ROTE_CHECK(word == "fro" || word == "nuc", ArgumentError, a.op(), ": ord is \"", word, "\"; by name there are \"fro\" and \"nuc\".");
  check_matrix_axes(x, axes);
  if (word == "nuc") return kept(sum(spectrum(x, axes), {-1}), x, axes, keepdim);
  return norm(x, 2, axes, keepdim);
}

// Without an order of all elements as one vector; else of the one or two axes that are named or that x has.
Tensor linalg_norm(const Arguments& a) {
  const Tensor x = in_dtype(a);
  std::vector<int64_t> axes = a.list("dim");
  const bool keepdim = a.flag("keepdim");
  ROTE_CHECK(axes.size() <= 2, ShapeError, a.op(), ": ", axes.size(), " axes are named; one or two have a norm.");
  if (!a.given("ord")) return norm(x, 2, axes, keepdim);
  if (axes.empty())
    for (int i = 0; i < x.axes(); ++i) axes.push_back(i);
  const bool vector = axes.size() == 1 && !std::holds_alternative<std::string>(a.value("ord"));
  ROTE_CHECK(vector || axes.size() == 2, ShapeError, a.op(), ": x is ", describe(x), " and ", axes.size(), " axes are named; one with a number, or two, have a norm of an order.");
  return vector ? norm(x, a.number("ord"), axes, keepdim) : matrix_norm(a, axes);
}

}  // namespace

std::vector<Composition> distance_compositions() {
  return {
      {"dist", [](const Arguments& a) -> Value { return dist(a.tensor("self"), a.tensor("other"), a.number("p")); }},
      {"cdist", [](const Arguments& a) -> Value {
         a.ignore("compute_mode");  // a way of computing
         return cdist(a.tensor("x1"), a.tensor("x2"), a.number("p"));
       }},
      {"linalg_vector_norm", [](const Arguments& a) -> Value { return norm(in_dtype(a), a.number("ord"), a.list("dim"), a.flag("keepdim")); }},
      {"linalg_norm; linalg_norm.ord_str", [](const Arguments& a) -> Value { return linalg_norm(a); }},
      {"linalg_matrix_norm; linalg_matrix_norm.str_ord", [](const Arguments& a) -> Value { return matrix_norm(a, a.list("dim")); }},
  };
}

}  // namespace rote

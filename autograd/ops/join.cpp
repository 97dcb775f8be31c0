#include "autograd/ops/join.h"

#include <algorithm>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

Tensor part(const Tensor& x, int axis, int64_t first, int64_t count) {
  Shape shape = x.shape();
  shape[axis] = count;
  return alias(x, shape, x.strides(), x.offset() + first * x.strides()[axis]);
}

}  // namespace

void Join::forward(Call& call) {
  const Tensor &x = call.in[0], &y = call.in[1];
  const int axis = normalize_axis(call.integer(0), x.axes(), "cat");
  Shape shape = x.shape();
  bool fits = x.axes() == y.axes() && x.axes() > 0 && x.dtype() == y.dtype();
  for (int i = 0; fits && i < x.axes(); ++i) fits = i == axis || x.shape()[i] == y.shape()[i];
  ROTE_CHECK(fits, ShapeError, "cat: ", describe(x), " and ", describe(y), " along axis ", axis, "; all other sizes and the dtypes must be equal.");
  shape[axis] += y.shape()[axis];
  call.out[0] = empty(shape, {.dtype = x.dtype(), .device = x.device()});
  copy_elements(part(call.out[0], axis, 0, x.shape()[axis]), x);
  copy_elements(part(call.out[0], axis, x.shape()[axis], y.shape()[axis]), y);
}

void Join::backward(Call& call) {
  const Tensor& dz = call.dout[0];
  const int axis = normalize_axis(call.integer(0), dz.axes(), "cat");
  const int64_t first = call.in_shapes[0][axis];
  if (call.wants(0)) call.din[0] = slice(dz, axis, 0, first);
  if (call.wants(1)) call.din[1] = slice(dz, axis, first, first + call.in_shapes[1][axis]);
}

Tensor cat(const std::vector<Tensor>& xs, int64_t axis) {
  ROTE_CHECK(!xs.empty(), ArgumentError, "cat: no tensors; give at least one.");
  const DType dtype = result_type(xs);
  const Tensor* shaped = &xs[0];  // one that is not [0], where there is one
  for (const Tensor& x : xs) {
    ROTE_CHECK(x.axes() > 0, ShapeError, "cat: one tensor is ", describe(x), "; each must have an axis (stack makes one).");
    if (!(x.shape() == Shape{0})) shaped = &x;
  }
  std::vector<int64_t> nothing(shaped->shape().begin(), shaped->shape().end());
  nothing[static_cast<size_t>(normalize_axis(axis, shaped->axes(), "cat"))] = 0;
  Tensor all;
  for (const Tensor& x : xs) {
    const Tensor part = to(x.shape() == Shape{0} ? reshape(x, nothing) : x, dtype);
    all = all.defined() ? apply<Join>({all, part}, {axis}) : part;
  }
  return all;
}

Tensor stack(const std::vector<Tensor>& xs, int64_t axis) {
  std::vector<Tensor> rows;
  for (const Tensor& x : xs) rows.push_back(unsqueeze(x, axis));
  return cat(rows, axis);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis) {
  const int at = normalize_axis(axis, x.axes(), "split");
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (const int64_t n : sizes) {
    parts.push_back(slice(x, at, first, first + n));
    first += n;
  }
  ROTE_CHECK(first == x.size(at), ShapeError, "split: sizes add up to ", first, " but axis ", at, " of ", describe(x), " has ", x.size(at), ".");
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t axis) {
  ROTE_CHECK(chunks > 0 && chunks <= INT32_MAX, ArgumentError, "chunk: chunks is ", chunks, "; it must be at least 1 and fit into 31 bits.");
  ROTE_CHECK(x.axes() > 0, ShapeError, "chunk: a tensor without axes has none to cut.");
  const int64_t n = x.size(axis), each = n / chunks + (n % chunks != 0);
  std::vector<int64_t> sizes;
  if (n == 0) sizes.assign(static_cast<size_t>(chunks), 0);
  for (int64_t first = 0; first < n; first += each) sizes.push_back(std::min(each, n - first));
  return split(x, sizes, axis);
}

std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t axis) {
  ROTE_CHECK(sections > 0, ArgumentError, "tensor_split: sections is ", sections, "; it must be at least 1.");
  const int64_t n = x.size(axis);
  std::vector<int64_t> each;
  for (int64_t i = 0; i < sections; ++i) each.push_back(n / sections + (i < n % sections ? 1 : 0));
  return split(x, each, axis);
}

std::vector<Tensor> tensor_split_at(const Tensor& x, const std::vector<int64_t>& places, int64_t axis) {
  const int64_t n = x.size(axis);
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (const int64_t place : places) {
    parts.push_back(slice(x, axis, first, place));
    first = place;
  }
  parts.push_back(slice(x, axis, first, n));
  return parts;
}

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& xs) {
  Shape shape;
  for (const Tensor& x : xs) shape = broadcast(shape, x.shape(), "broadcast_tensors");
  std::vector<Tensor> out;
  for (const Tensor& x : xs) out.push_back(expand(x, {shape.begin(), shape.end()}));
  return out;
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& xs, const std::string& indexing) {
  ROTE_CHECK(!xs.empty(), ArgumentError, "meshgrid: no tensors; give at least one.");
  ROTE_CHECK(indexing == "ij" || indexing == "xy", ArgumentError, "meshgrid: indexing is \"", indexing, "\"; it is ij or xy.");
  std::vector<int64_t> shape;
  for (const Tensor& x : xs) {
    ROTE_CHECK(x.axes() <= 1, ShapeError, "meshgrid: one tensor is ", describe(x), "; each has at most one axis.");
    ROTE_CHECK(x.dtype() == xs[0].dtype(), DTypeError, "meshgrid: one tensor is ", describe(x), " but the first ", describe(xs[0]), "; the dtypes must be equal.");
    shape.push_back(x.numel());
  }
  std::vector<Tensor> grids;
  for (size_t i = 0; i < xs.size(); ++i) {
    std::vector<int64_t> line(xs.size(), 1);
    line[i] = shape[i];
    const Tensor grid = expand(reshape(xs[i], line), shape);
    grids.push_back(indexing == "xy" && xs.size() > 1 ? transpose(grid, 0, 1) : grid);
  }
  return grids;
}

namespace {

// numpy's stacks: each tensor with at least so many axes, along one of them.
Value stacked(const Arguments& a, int axes, int64_t axis) {
  std::vector<Tensor> xs;
  for (const Tensor& x : a.tensors("tensors")) xs.push_back(with_axes(x, axes));
  return cat(xs, axis);
}

// The axis that hsplit, vsplit and dsplit cut: the second (of a line its only one), the first, the third.
int64_t split_axis(const Arguments& a) {
  const Tensor x = a.tensor("self");
  const int needed = a.op()[0] == 'h' ? 1 : a.op()[0] == 'v' ? 2 : 3;
  ROTE_CHECK(x.axes() >= needed, ShapeError, a.op(), ": x is ", describe(x), "; it must have ", needed, " axes or more.");
  return a.op()[0] == 'h' ? std::min(x.axes() - 1, 1) : a.op()[0] == 'v' ? 0 : 2;
}

}  // namespace

std::vector<Composition> join_compositions() {
  return {
      {"hstack", [](const Arguments& a) -> Value {
         const std::vector<Tensor> xs = a.tensors("tensors");
         return stacked(a, 1, !xs.empty() && xs[0].axes() > 1 ? 1 : 0);
       }},
      {"vstack; row_stack", [](const Arguments& a) -> Value { return stacked(a, 2, 0); }},
      {"dstack", [](const Arguments& a) -> Value { return stacked(a, 3, 2); }},
      {"column_stack", [](const Arguments& a) -> Value {
         std::vector<Tensor> xs;
         for (const Tensor& x : a.tensors("tensors")) xs.push_back(x.axes() < 2 ? reshape(x, {x.numel(), 1}) : x);
         return cat(xs, 1);
       }},
      {"tensor_split.sections", [](const Arguments& a) -> Value { return tensor_split(a.tensor("self"), a.integer("sections"), a.integer("dim")); }},
      {"tensor_split.indices", [](const Arguments& a) -> Value { return tensor_split_at(a.tensor("self"), a.list("indices"), a.integer("dim")); }},
      {"tensor_split.tensor_indices_or_sections", [](const Arguments& a) -> Value {
         const Tensor at = a.tensor("tensor_indices_or_sections");
         ROTE_CHECK(at.axes() <= 1 && at.dtype() == DType::i64, ShapeError, "tensor_split: the places are ", describe(at), "; they must be i64, one number or a line of them.");
         if (at.axes() == 0) return tensor_split(a.tensor("self"), at.item_i64(), a.integer("dim"));
         const Tensor places = contiguous(at);
         return tensor_split_at(a.tensor("self"), {places.data<int64_t>(), places.data<int64_t>() + places.numel()}, a.integer("dim"));
       }},
      {"hsplit.int; vsplit.int; dsplit.int", [](const Arguments& a) -> Value {
         const int64_t axis = split_axis(a), sections = a.integer("sections"), n = a.tensor("self").size(axis);
         ROTE_CHECK(sections > 0 && n % sections == 0, ArgumentError, a.op(), ": ", sections, " sections of axis ", axis, ", which has size ", n, "; they must divide it.");
         return tensor_split(a.tensor("self"), sections, axis);
       }},
      {"hsplit.array; vsplit.array; dsplit.array", [](const Arguments& a) -> Value {
         return tensor_split_at(a.tensor("self"), a.list("indices"), split_axis(a));
       }},
      {"broadcast_tensors", [](const Arguments& a) -> Value { return broadcast_tensors(a.tensors("tensors")); }},
      {"meshgrid.indexing; meshgrid", [](const Arguments& a) -> Value {
         return meshgrid(a.tensors("tensors"), a.given("indexing") ? a.word("indexing") : "ij");
       }},
      {"cat", [](const Arguments& a) -> Value { return cat(a.tensors("tensors"), a.integer("dim")); }},
      {"stack", [](const Arguments& a) -> Value { return stack(a.tensors("tensors"), a.integer("dim")); }},
      {"split_with_sizes; split.sizes", [](const Arguments& a) -> Value {
         return split(a.tensor("self"), a.list(a.op() == "split.sizes" ? "split_size" : "split_sizes"), a.integer("dim"));
       }},
      {"split.Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         const int64_t each = a.integer("split_size"), n = x.size(a.integer("dim"));
         ROTE_CHECK(each > 0 || (each == 0 && n == 0), ArgumentError, "split: pieces of ", each, " along an axis of size ", n, "; a piece needs at least 1.");
         std::vector<int64_t> sizes(n == 0 ? 1 : 0, 0);
         for (int64_t first = 0; first < n; first += each) sizes.push_back(std::min(each, n - first));
         return split(x, sizes, a.integer("dim"));
       }},
      {"chunk", [](const Arguments& a) -> Value { return chunk(a.tensor("self"), a.integer("chunks"), a.integer("dim")); }},
  };
}

}  // namespace rote

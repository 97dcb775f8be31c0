#include "autograd/ops/rearrange.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/strides.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

void Flip::forward(Call& call) {
  const Tensor& x = call.in[0];
  Strides strides = x.strides();
  int64_t offset = x.offset();
  bool seen[Shape::kMaxAxes] = {};
  for (const int64_t a : call.list(0)) {
    const int axis = normalize_axis(a, x.axes(), "flip");
    ROTE_CHECK(!seen[axis], ShapeError, "flip: axis ", a, " is named twice; each at most once.");
    seen[axis] = true;
    if (x.axes() == 0) continue;
    offset += std::max<int64_t>(x.shape()[axis] - 1, 0) * strides[axis];
    strides[axis] = -strides[axis];
  }
  call.out[0] = empty(x.shape(), {.dtype = x.dtype()});
  copy_elements(call.out[0], alias(x, x.shape(), strides, offset));
}

void Flip::backward(Call& call) { call.din[0] = flip(call.dout[0], call.list(0)); }

Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes) {
  if (axes.empty()) {
    ROTE_CHECK(shifts.size() == 1, ArgumentError, "roll: ", shifts.size(), " shifts and no axis; without axes there is one shift.");
    return reshape(roll(reshape(x, {x.numel()}), shifts, {0}), sizes(x.shape()));
  }
  ROTE_CHECK(shifts.size() == axes.size(), ArgumentError, "roll: ", shifts.size(), " shifts for ", axes.size(), " axes; each axis needs one.");
  Tensor y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis(axes[i], x.axes(), "roll");
    const int64_t n = x.axes() == 0 ? 1 : x.size(axis);
    if (n < 2 || shifts[i] % n == 0) continue;
    const int64_t cut = n - (shifts[i] % n + n) % n;
    y = cat({slice(y, axis, cut, n), slice(y, axis, 0, cut)}, axis);
  }
  return y.storage() == x.storage() ? clone(x) : y;
}

Tensor rot90(const Tensor& x, int64_t times, int64_t from, int64_t to) {
  ROTE_CHECK(x.axes() >= 2, ShapeError, "rot90: x is ", describe(x), "; it must have two axes or more.");
  const int a = normalize_axis(from, x.axes(), "rot90"), b = normalize_axis(to, x.axes(), "rot90");
  ROTE_CHECK(a != b, ShapeError, "rot90: both axes are ", a, "; they must differ.");
  switch ((times % 4 + 4) % 4) {
    case 1: return transpose(flip(x, {b}), a, b);
    case 2: return flip(x, {a, b});
    case 3: return flip(transpose(x, a, b), {b});
    default: return clone(x);
  }
}

Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats) {
  const size_t axes = static_cast<size_t>(x.axes());
  ROTE_CHECK(repeats.size() >= axes, ArgumentError, "repeat: ", repeats.size(), " repeats for ", describe(x), "; each axis needs one (tile fills them up).");
  for (const int64_t r : repeats) ROTE_CHECK(r >= 0, ArgumentError, "repeat: repeats hold ", r, "; each must be 0 or more.");
  std::vector<int64_t> shape(repeats.size() - axes, 1);
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  Tensor y = reshape(x, shape);
  // From the last axis on, one at a time: [outer, 1, the axis and those behind it] repeats along its middle.
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    if (repeats[at] == 1) continue;
    const int64_t outer = std::accumulate(shape.begin(), shape.begin() + i, int64_t{1}, std::multiplies<>());
    const int64_t inner = std::accumulate(shape.begin() + i, shape.end(), int64_t{1}, std::multiplies<>());
    shape[at] *= repeats[at];
    y = reshape(expand(reshape(y, {outer, 1, inner}), {outer, repeats[at], inner}), shape);
  }
  return y.storage() == x.storage() ? clone(y) : y;
}

Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats) {
  std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(0, x.axes() - static_cast<int64_t>(repeats.size()))), 1);
  all.insert(all.end(), repeats.begin(), repeats.end());
  return repeat(x, all);
}

namespace {

// column - row of each element of the last two axes: where it lies beside the main diagonal.
Tensor beside_diagonal(const char* who, const Tensor& x) {
  ROTE_CHECK(x.axes() >= 2, ShapeError, who, ": x is ", describe(x), "; it must have two axes or more.");
  return sub(reshape(arange(x.size(-1)), {1, x.size(-1)}), reshape(arange(x.size(-2)), {x.size(-2), 1}));
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) { return where(le(beside_diagonal("tril", x), static_cast<double>(diagonal)), x, scalar(0, x.dtype())); }
Tensor triu(const Tensor& x, int64_t diagonal) { return where(ge(beside_diagonal("triu", x), static_cast<double>(diagonal)), x, scalar(0, x.dtype())); }

Tensor block_diag(const std::vector<Tensor>& xs) {
  ROTE_CHECK(!xs.empty(), ArgumentError, "block_diag: no tensors; give at least one.");
  int64_t rows = 0, columns = 0;
  std::vector<Tensor> blocks;
  const DType dtype = result_type(xs);
  for (const Tensor& x : xs) {
    ROTE_CHECK(x.axes() <= 2, ShapeError, "block_diag: one tensor is ", describe(x), "; each has at most two axes.");
    blocks.push_back(to(with_axes(x, 2), dtype));
    rows += blocks.back().size(0);
    columns += blocks.back().size(1);
  }
  Tensor y;
  int64_t offset = 0;
  for (const Tensor& block : blocks) {
    const Tensor placed = place(block, {rows, columns}, {columns, 1}, offset);
    y = y.defined() ? add(y, placed) : placed;
    offset += block.size(0) * columns + block.size(1);
  }
  return y;
}

std::vector<Composition> rearrange_compositions() {
  return {
      {"fliplr", [](const Arguments& a) -> Value {
         ROTE_CHECK(a.tensor("self").axes() >= 2, ShapeError, "fliplr: x is ", describe(a.tensor("self")), "; it must have two axes or more.");
         return flip(a.tensor("self"), {1});
       }},
      {"flipud", [](const Arguments& a) -> Value {
         ROTE_CHECK(a.tensor("self").axes() >= 1, ShapeError, "flipud: x is ", describe(a.tensor("self")), "; it must have an axis.");
         return flip(a.tensor("self"), {0});
       }},
      {"roll", [](const Arguments& a) -> Value { return roll(a.tensor("self"), a.list("shifts"), a.list("dims")); }},
      {"rot90", [](const Arguments& a) -> Value {
         const std::vector<int64_t> plane = a.list("dims");
         ROTE_CHECK(plane.size() == 2, ArgumentError, "rot90: ", plane.size(), " axes; a plane has two.");
         return rot90(a.tensor("self"), a.integer("k"), plane[0], plane[1]);
       }},
      {"repeat", [](const Arguments& a) -> Value { return repeat(a.tensor("self"), a.list("repeats")); }},
      {"tile", [](const Arguments& a) -> Value { return tile(a.tensor("self"), a.list("dims")); }},
      {"tril", [](const Arguments& a) -> Value { return tril(a.tensor("self"), a.integer("diagonal")); }},
      {"triu", [](const Arguments& a) -> Value { return triu(a.tensor("self"), a.integer("diagonal")); }},
      {"block_diag", [](const Arguments& a) -> Value { return block_diag(a.tensors("tensors")); }},
  };
}

}  // namespace rote

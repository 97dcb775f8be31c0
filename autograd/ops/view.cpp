#include "autograd/ops/view.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/ops/strides.h"
#include "autograd/sum_to.h"

namespace rote {

namespace {

// Strides under which a tensor of `shape` and `strides` reads as `to` in logical order; false where none exist.
bool view_strides(const Shape& shape, const Strides& strides, const Shape& to, Strides& out) {
  out = contiguous_strides(to);
  if (to.numel() == 0) return true;
  int t = to.axes() - 1;
  for (int last = shape.axes() - 1; last >= 0;) {
    int first = last;
    int64_t block = shape[last], step = strides[last];  // of the innermost axis that is not of size 1, whose stride means nothing
    for (; first > 0 && (shape[first - 1] == 1 || block == 1 || strides[first - 1] == step * block); block *= shape[--first])
      if (block == 1) step = strides[first - 1];
    int64_t left = block;
    while (t >= 0 && (left > 1 || to[t] == 1)) {
      if (left % to[t] != 0) return false;
      out[t] = step;
      step *= to[t];
      left /= to[t--];
    }
    if (left != 1) return false;
    last = first - 1;
  }
  for (; t >= 0; --t) out[t] = 1;
  return true;
}

Shape resolved_shape(const Tensor& x, const std::vector<int64_t>& wanted) {
  Shape shape(wanted);
  int open = -1;
  int64_t known = 1;
  for (int i = 0; i < shape.axes(); ++i) {
    if (shape[i] == -1) {
      ROTE_CHECK(open < 0, ShapeError, "reshape: shape ", shape, " leaves two sizes open (-1); one can follow from the others.");
      open = i;
    } else {
      ROTE_CHECK(shape[i] >= 0, ShapeError, "reshape: shape ", shape, " has a negative size; only -1 may stand for an open one.");
      known *= shape[i];
    }
  }
  if (open >= 0) {
    ROTE_CHECK(known != 0 && x.numel() % known == 0, ShapeError, "reshape: ", describe(x), " has ", x.numel(), " elements, which do not fill ", shape, ".");
    shape[open] = x.numel() / known;
  }
  ROTE_CHECK(shape.numel() == x.numel(), ShapeError, "reshape: ", describe(x), " has ", x.numel(), " elements but ", shape, " holds ", shape.numel(), ".");
  return shape;
}

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

Tensor reshaped(const Tensor& x, const Shape& shape) {
  Strides strides;
  if (view_strides(x.shape(), x.strides(), shape, strides)) return alias(x, shape, strides, x.offset());
  const Tensor copy = contiguous(x);
  return alias(copy, shape, contiguous_strides(shape), copy.offset());
}

struct SliceRange {
  int axis;
  int64_t first, count, step;
};

SliceRange slice_range(const Call& call) {
  const Shape& shape = call.in_shapes[0];
  const int axis = normalize_axis(call.integer(0), shape.axes(), "slice");
  ROTE_CHECK(shape.axes() > 0, ShapeError, "slice: a tensor without axes has nothing to slice.");
  const int64_t n = shape[axis], step = call.integer(3);
  ROTE_CHECK(step > 0, ArgumentError, "slice: step is ", step, "; it must be at least 1.");
  const auto place = [n](int64_t bound) { return std::clamp<int64_t>(bound < 0 ? bound + n : bound, 0, n); };
  const int64_t first = place(call.integer(1)), last = std::max(first, place(call.integer(2)));
  const int64_t count = last > first ? (last - first - 1) / step + 1 : 0;
  return {axis, first, count, count > 1 ? step : 1};  // of one element the step has no bearing
}

int select_axis(const Call& call, int64_t& index) {
  const Shape& shape = call.in_shapes[0];
  ROTE_CHECK(shape.axes() > 0, ShapeError, "select: a tensor without axes has nothing to select.");
  const int axis = normalize_axis(call.integer(0), shape.axes(), "select");
  index = call.integer(1);
  ROTE_CHECK(index >= -shape[axis] && index < shape[axis], ShapeError, "select: index ", index, " of axis ", axis, ", which has size ", shape[axis], ".");
  if (index < 0) index += shape[axis];
  return axis;
}

}  // namespace

void Reshape::forward(Call& call) { call.out[0] = reshaped(call.in[0], resolved_shape(call.in[0], call.list(0))); }
void Reshape::backward(Call& call) { call.din[0] = reshape(call.dout[0], sizes(call.in_shapes[0])); }

void Permute::forward(Call& call) {
  const Tensor& x = call.in[0];
  const std::vector<int64_t>& axes = call.list(0);
  ROTE_CHECK(static_cast<int>(axes.size()) == x.axes(), ShapeError, "permute: ", axes.size(), " axes for ", describe(x), "; each axis must be named once.");
  Shape shape;
  Strides strides;
  bool seen[Shape::kMaxAxes] = {};
  for (const int64_t a : axes) {
    const int axis = normalize_axis(a, x.axes(), "permute");
    ROTE_CHECK(!seen[axis], ShapeError, "permute: axis ", a, " is named twice; each axis must be named once.");
    seen[axis] = true;
    shape.append(x.shape()[axis]);
    strides.append(x.strides()[axis]);
  }
  call.out[0] = alias(x, shape, strides, x.offset());
}

void Permute::backward(Call& call) {
  const std::vector<int64_t>& axes = call.list(0);
  std::vector<int64_t> back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) back[static_cast<size_t>(normalize_axis(axes[i], call.dout[0].axes(), "permute"))] = static_cast<int64_t>(i);
  call.din[0] = permute(call.dout[0], back);
}

void Slice::forward(Call& call) {
  const Tensor& x = call.in[0];
  const SliceRange r = slice_range(call);
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape[r.axis] = r.count;
  strides[r.axis] *= r.step;
  call.out[0] = alias(x, shape, strides, x.offset() + r.first * x.strides()[r.axis]);
}

void Slice::backward(Call& call) {
  const SliceRange r = slice_range(call);
  Strides strides = contiguous_strides(call.in_shapes[0]);
  const int64_t offset = r.first * strides[r.axis];
  strides[r.axis] *= r.step;
  call.din[0] = place(call.dout[0], sizes(call.in_shapes[0]), sizes(strides), offset);
}

void Select::forward(Call& call) {
  const Tensor& x = call.in[0];
  int64_t index;
  const int axis = select_axis(call, index);
  Shape shape;
  Strides strides;
  for (int i = 0; i < x.axes(); ++i) {
    if (i == axis) continue;
    shape.append(x.shape()[i]);
    strides.append(x.strides()[i]);
  }
  call.out[0] = alias(x, shape, strides, x.offset() + index * x.strides()[axis]);
}

void Select::backward(Call& call) {
  int64_t index;
  const int axis = select_axis(call, index);
  const Strides all = contiguous_strides(call.in_shapes[0]);
  Strides strides;
  for (int i = 0; i < all.axes(); ++i)
    if (i != axis) strides.append(all[i]);
  call.din[0] = place(call.dout[0], sizes(call.in_shapes[0]), sizes(strides), index * all[axis]);
}

void Expand::forward(Call& call) {
  const Tensor& x = call.in[0];
  Shape shape(call.list(0));
  const int lead = shape.axes() - x.axes();
  Strides strides;
  for (int i = 0; i < shape.axes(); ++i) {
    if (i >= lead && lead >= 0 && shape[i] == -1) shape[i] = x.shape()[i - lead];
    ROTE_CHECK(shape[i] >= 0, ShapeError, "expand: ", describe(x), " to ", Shape(call.list(0)), "; only -1 on an axis of the tensor may stand for a size.");
    const bool repeats = i < lead || (lead >= 0 && x.shape()[i - lead] == 1);
    strides.append(lead < 0 || repeats ? 0 : x.strides()[i - lead]);
  }
  ROTE_CHECK(lead >= 0 && broadcasts_to(x.shape(), shape), ShapeError, "expand: ", describe(x), " does not expand to ", Shape(call.list(0)),
             "; counted from the end, each size must be equal, or 1 in the tensor.");
  (void)shape.numel();  // refuses what 64 bits do not count
  call.out[0] = alias(x, shape, strides, x.offset());
}

void Expand::backward(Call& call) { call.din[0] = sum_to(call.dout[0], sizes(call.in_shapes[0])); }

void SumTo::forward(Call& call) {
  const Shape shape(call.list(0));
  ROTE_CHECK(broadcasts_to(shape, call.in_shapes[0]), ShapeError, "sum_to: ", shape, " does not broadcast to ", describe(call.in[0]), "; counted from the end, each size must be equal or 1.");
  call.out[0] = sum_to(call.in[0], shape, call.scope, &call.amax);
}
void SumTo::backward(Call& call) { call.din[0] = expand(call.dout[0], sizes(call.in_shapes[0])); }

void Clone::forward(Call& call) {
  const Tensor& x = call.in[0];
  call.out[0] = empty(x.shape(), {.dtype = x.dtype(), .device = x.device()});
  copy_elements(call.out[0], x);
}
void Clone::backward(Call& call) { call.din[0] = call.dout[0]; }

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  std::vector<int64_t> axes(static_cast<size_t>(x.axes()));
  std::iota(axes.begin(), axes.end(), 0);
  const int first = normalize_axis(a, x.axes(), "transpose"), second = normalize_axis(b, x.axes(), "transpose");
  if (!axes.empty()) std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return permute(x, axes);
}

Tensor flatten(const Tensor& x, int64_t first, int64_t last) {
  const int a = normalize_axis(first, x.axes(), "flatten"), b = normalize_axis(last, x.axes(), "flatten");
  ROTE_CHECK(a <= b, ShapeError, "flatten: axis ", first, " lies after axis ", last, ".");
  if (a == b && x.axes() > 0) return x;
  std::vector<int64_t> shape;
  int64_t joined = 1;
  for (int i = 0; i < x.axes(); ++i) {
    if (i >= a && i <= b) joined *= x.shape()[i];
    if (i == b) shape.push_back(joined);
    if (i < a || i > b) shape.push_back(x.shape()[i]);
  }
  if (x.axes() == 0) shape.push_back(1);
  return reshape(x, shape);
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  const int at = normalize_axis(axis, x.axes(), "squeeze");
  if (x.axes() == 0 || x.shape()[at] != 1) return x;
  return select(x, at, 0);
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  const int at = normalize_axis(axis, x.axes() + 1, "unsqueeze");
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.begin() + at, 1);
  return reshape(x, shape);
}

Tensor squeeze(const Tensor& x) {
  Tensor y = x;
  for (int i = x.axes() - 1; i >= 0; --i) y = squeeze(y, i);
  return y;
}

Tensor view(const Tensor& x, const std::vector<int64_t>& shape) {
  const Tensor y = reshape(x, shape);
  ROTE_CHECK(y.numel() == 0 || y.storage() == x.storage(), ShapeError, "view: the elements of ", describe(x), " do not lie in the order of ", y.shape(),
             "; reshape copies them.");
  return y;
}

Tensor t(const Tensor& x) {
  ROTE_CHECK(x.axes() <= 2, ShapeError, "t: x is ", describe(x), "; it must have at most two axes (transpose takes more).");
  return x.axes() < 2 ? x : transpose(x, 0, 1);
}

Tensor narrow(const Tensor& x, int64_t axis, int64_t first, int64_t count) {
  const int at = normalize_axis(axis, x.axes(), "narrow");
  const int64_t n = x.size(at), from = first < 0 ? first + n : first;
  ROTE_CHECK(from >= 0 && from <= n && count >= 0 && count <= n - from, ShapeError, "narrow: ", count, " from ", first, " of axis ", axis, ", which has size ", n, ".");
  return slice(x, at, from, from + count);
}

Tensor movedim(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  ROTE_CHECK(from.size() == to.size(), ArgumentError, "movedim: ", from.size(), " axes to ", to.size(), " places; each axis needs one.");
  std::vector<int64_t> axes(static_cast<size_t>(x.axes()), -1);
  std::vector<bool> moved(axes.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t source = static_cast<size_t>(normalize_axis(from[i], x.axes(), "movedim")), place = static_cast<size_t>(normalize_axis(to[i], x.axes(), "movedim"));
    if (x.axes() == 0) continue;
    ROTE_CHECK(!moved[source] && axes[place] < 0, ShapeError, "movedim: axis ", from[i], " or place ", to[i], " is named twice; each at most once.");
    moved[source] = true;
    axes[place] = static_cast<int64_t>(source);
  }
  size_t next = 0;
  for (int64_t& axis : axes) {
    if (axis >= 0) continue;
    while (moved[next]) ++next;
    axis = static_cast<int64_t>(next++);
  }
  return permute(x, axes);
}

Tensor unflatten(const Tensor& x, int64_t axis, const std::vector<int64_t>& sizes) {
  const int at = normalize_axis(axis, x.axes(), "unflatten");
  ROTE_CHECK(!sizes.empty(), ArgumentError, "unflatten: no sizes; give at least one.");
  const Shape part = resolved_shape(arange(x.size(at)), sizes);  // -1 follows from the size of this axis alone
  std::vector<int64_t> shape(x.shape().begin(), x.shape().begin() + at);
  shape.insert(shape.end(), part.begin(), part.end());
  shape.insert(shape.end(), x.shape().begin() + at + 1, x.shape().end());
  return reshape(x, shape);
}

Tensor with_axes(const Tensor& x, int axes) {
  std::vector<int64_t> shape = sizes(x.shape());
  if (x.axes() >= axes) return x;
  if (axes == 3 && x.axes() == 2) shape.push_back(1);
  else shape.insert(shape.begin(), static_cast<size_t>(std::min(axes, 2) - x.axes()), 1);
  if (axes == 3 && x.axes() < 2) shape.push_back(1);
  return reshape(x, shape);
}

std::vector<Tensor> unbind(const Tensor& x, int64_t axis) {
  ROTE_CHECK(x.axes() > 0, ShapeError, "unbind: a tensor without axes has none to take apart.");
  const int at = normalize_axis(axis, x.axes(), "unbind");
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < x.size(at); ++i) parts.push_back(select(x, at, i));
  return parts;
}

std::vector<Composition> view_compositions() {
  static const auto shape_of = [](const Tensor& x) { return std::vector<int64_t>(x.shape().begin(), x.shape().end()); };
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return {
      {"view", [](const Arguments& a) -> Value { return view(a.tensor("self"), a.list("size")); }},
      {"view_as", [](const Arguments& a) -> Value { return view(a.tensor("self"), shape_of(a.tensor("other"))); }},
      {"reshape_as", [](const Arguments& a) -> Value { return reshape(a.tensor("self"), shape_of(a.tensor("other"))); }},
      {"expand_as", [](const Arguments& a) -> Value { return expand(a.tensor("self"), shape_of(a.tensor("other"))); }},
      {"clone", [](const Arguments& a) -> Value {
         a.ignore("memory_format");
         return clone(a.tensor("self"));
       }},
      {"contiguous", [](const Arguments& a) -> Value {  // x itself where it is
         const Tensor x = a.tensor("self");
         const bool plain = !a.given("memory_format") || a.word("memory_format") == "contiguous_format";
         return plain && x.is_contiguous() ? x : clone(x);
       }},
      {"slice.Tensor", [](const Arguments& a) -> Value {
         return slice(a.tensor("self"), a.integer("dim"), a.given("start") ? a.integer("start") : 0, a.given("end") ? a.integer("end") : kEnd, a.integer("step"));
       }},
      {"narrow.Tensor", [](const Arguments& a) -> Value {
         const Tensor start = a.tensor("start");
         ROTE_CHECK(start.axes() == 0 && info(start.dtype()).category == 1, ArgumentError, "narrow: start is ", describe(start), "; it must be one integer.");
         return narrow(a.tensor("self"), a.integer("dim"), start.item_i64(), a.integer("length"));
       }},
      {"narrow", [](const Arguments& a) -> Value { return narrow(a.tensor("self"), a.integer("dim"), a.integer("start"), a.integer("length")); }},
      {"transpose.int; swapdims", [](const Arguments& a) -> Value { return transpose(a.tensor("self"), a.integer("dim0"), a.integer("dim1")); }},
      {"swapaxes", [](const Arguments& a) -> Value { return transpose(a.tensor("self"), a.integer("axis0"), a.integer("axis1")); }},
      {"t", [](const Arguments& a) -> Value { return t(a.tensor("self")); }},
      {"mT; mH; matrix_H", [](const Arguments& a) -> Value {  // numbers are real: H is T
         const Tensor x = a.tensor("self");
         ROTE_CHECK(x.axes() != 1 && (x.axes() <= 2 || a.op() != "matrix_H"), ShapeError, a.op(), ": x is ", describe(x), "; it must have ",
                    a.op() == "matrix_H" ? "two axes." : "two axes or more.");
         return x.axes() == 0 ? x : transpose(x, -2, -1);
       }},
      {"numpy_T", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         std::vector<int64_t> axes(static_cast<size_t>(x.axes()));
         std::iota(axes.rbegin(), axes.rend(), 0);
         return permute(x, axes);
       }},
      {"atleast_1d; atleast_2d; atleast_3d", [](const Arguments& a) -> Value { return with_axes(a.tensor("self"), a.op()[8] - '0'); }},
      {"atleast_1d.Sequence; atleast_2d.Sequence; atleast_3d.Sequence", [](const Arguments& a) -> Value {
         std::vector<Tensor> out;
         for (const Tensor& x : a.tensors("tensors")) out.push_back(with_axes(x, a.op()[8] - '0'));
         return out;
       }},
      {"movedim.intlist; movedim.int; moveaxis.intlist; moveaxis.int", [](const Arguments& a) -> Value { return movedim(a.tensor("self"), a.list("source"), a.list("destination")); }},
      {"flatten.using_ints", [](const Arguments& a) -> Value { return flatten(a.tensor("self"), a.integer("start_dim"), a.integer("end_dim")); }},
      {"ravel", [](const Arguments& a) -> Value { return reshape(a.tensor("self"), {-1}); }},
      {"unflatten.int", [](const Arguments& a) -> Value { return unflatten(a.tensor("self"), a.integer("dim"), a.list("sizes")); }},
      {"squeeze", [](const Arguments& a) -> Value { return squeeze(a.tensor("self")); }},
      {"squeeze.dim; squeeze.dims", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         std::vector<int> axes;
         for (const int64_t axis : a.list("dim")) axes.push_back(normalize_axis(axis, x.axes(), "squeeze"));
         std::sort(axes.rbegin(), axes.rend());
         ROTE_CHECK(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), ShapeError, "squeeze: an axis is named twice; each at most once.");
         Tensor y = x;
         for (const int axis : axes) y = squeeze(y, axis);
         return y;
       }},
      {"unsqueeze", [](const Arguments& a) -> Value { return unsqueeze(a.tensor("self"), a.integer("dim")); }},
      {"unbind.int", [](const Arguments& a) -> Value { return unbind(a.tensor("self"), a.integer("dim")); }},
  };
}

}  // namespace rote

#include "autograd/ops/strides.h"

#include <algorithm>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"
#include "tensor/strided.h"

namespace rote {

namespace {

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

// The shape and strides of an attribute pair, and the last element that they reach from offset; -1 where the view is empty.
struct Layout {
  Shape shape, strides;
  int64_t offset, last;
};

// at + steps·stride; a place that no memory has is refused here.
int64_t reached(const char* who, int64_t at, int64_t steps, int64_t stride) {
  int64_t way = 0;
  ROTE_CHECK(!__builtin_mul_overflow(steps, stride, &way) && !__builtin_add_overflow(at, way, &at), ShapeError, who, ": a stride of ", stride, " over ", steps,
             " steps reaches beyond any memory.");
  return at;
}

Layout layout_of(const Call& call) {
  const char* who = call.op->row.name;
  Layout l{Shape(call.list(0)), Shape(call.list(1)), call.integer(2), call.integer(2)};
  ROTE_CHECK(l.shape.axes() == l.strides.axes(), ShapeError, who, ": shape ", l.shape, " but strides ", l.strides, "; they must have as many entries.");
  ROTE_CHECK(l.offset >= 0, ArgumentError, who, ": offset is ", l.offset, "; it must be 0 or more.");
  for (int i = 0; i < l.shape.axes(); ++i) {
    ROTE_CHECK(l.shape[i] >= 0 && l.strides[i] >= 0, ShapeError, who, ": shape ", l.shape, " and strides ", l.strides, " hold a negative number; there is none.");
    l.last = reached(who, l.last, l.shape[i] - 1, l.strides[i]);
  }
  if (l.shape.numel() == 0) l.last = -1;
  return l;
}

// Whether two elements of the shape could lie in one place: true where the strides do not rule it out.
bool overlaps(const Shape& shape, const Strides& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, reach
  for (int i = 0; i < shape.axes(); ++i)
    if (shape[i] > 1) axes.emplace_back(strides[i], (shape[i] - 1) * strides[i]);
  std::sort(axes.begin(), axes.end());
  int64_t covered = 0;
  for (const auto& [stride, reach] : axes) {
    if (stride <= covered) return true;
    covered += reach;
  }
  return false;
}

// x's elements added to y, contiguous, at offset + Σ index·strides in logical order of x.
template <class T>
void add_at(const Tensor& y, const Tensor& x, const Strides& strides, int64_t offset) {
  const Runs runs = common_runs(x.shape(), {x.strides(), strides});
  const T* from = static_cast<const T*>(x.raw());
  T* to = static_cast<T*>(y.raw()) + offset;
  for_each_run(runs, [&](const int64_t* at) {
    for (int64_t i = 0; i < runs.length; ++i) {
      T& sum = to[at[1] + i * runs.step[1]];
      const T v = from[at[0] + i * runs.step[0]];
      if constexpr (std::is_integral_v<T>) sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(v));
      else sum += v;
    }
  });
}

}  // namespace

void AsStrided::forward(Call& call) {
  const Tensor& x = call.in[0];
  const Layout l = layout_of(call);
  const int64_t held = x.storage()->bytes() / size_of(x.dtype());
  ROTE_CHECK(l.last < held, ShapeError, "as_strided: shape ", l.shape, " with strides ", l.strides, " from ", l.offset, " on reaches element ", l.last, " but the storage of ",
             describe(x), " holds ", held, ".");
  call.attrs[3] = sizes(x.strides());
  call.attrs[4] = x.offset();
  call.out[0] = alias(x, l.shape, l.strides, l.offset);
}

// Through a copy of the storage between the first and the last element that x or the view shows: what the view shows there, x is given.
void AsStrided::backward(Call& call) {
  const Layout l = layout_of(call);
  const Shape& shape = call.in_shapes[0];
  const Tensor& dy = call.dout[0];
  const Strides x_strides(call.list(3));
  const int64_t x_offset = call.integer(4), first = std::min(x_offset, l.offset);
  int64_t last = std::max(x_offset, l.last);
  int64_t x_last = x_offset;
  bool repeats = false;
  for (int i = 0; i < shape.axes(); ++i) {
    x_last += (shape[i] - 1) * x_strides[i];
    repeats = repeats || (shape[i] > 1 && x_strides[i] == 0);
  }
  last = std::max(last, x_last);
  if (shape.numel() == 0 || l.last < 0) {
    call.din[0] = zeros(shape, {.dtype = dy.dtype()});
    return;
  }
  const std::vector<int64_t> memory = {last - first + 1};
  Tensor dx = as_strided(place(dy, memory, call.list(1), l.offset - first), sizes(shape), call.list(3), x_offset - first);
  if (repeats) {  // elements of x that are one in memory share its gradient
    const Tensor uses = place(full(shape, 1, {.dtype = dy.dtype()}), memory, call.list(3), x_offset - first);
    dx = div(dx, as_strided(uses, sizes(shape), call.list(3), x_offset - first));
  }
  call.din[0] = dx;
}

void Place::forward(Call& call) {
  const Tensor& x = call.in[0];
  const Shape shape(call.list(0));
  const Strides strides(call.list(1));
  const int64_t offset = call.integer(2);
  ROTE_CHECK(strides.axes() == x.axes(), ShapeError, "place: strides ", strides, " for ", describe(x), "; each axis needs one.");
  int64_t last = offset;
  for (int i = 0; i < x.axes(); ++i) {
    ROTE_CHECK(strides[i] >= 0, ShapeError, "place: strides ", strides, " hold a negative number; there is none.");
    last = reached("place", last, x.shape()[i] - 1, strides[i]);
  }
  ROTE_CHECK(offset >= 0 && (x.numel() == 0 || last < shape.numel()), ShapeError, "place: ", describe(x), " with strides ", strides, " from ", offset,
             " on reaches element ", last, " of ", shape, ", which has ", shape.numel(), ".");
  const DType dtype = x.dtype(), wide = size_of(dtype) == 2 && is_floating(dtype) ? DType::f32 : dtype;
  if (x.numel() == 0 || !overlaps(x.shape(), strides)) {
    call.out[0] = zeros(shape, {.dtype = dtype});
    if (x.numel() > 0) copy_elements(alias(call.out[0], x.shape(), strides, offset), x);
    return;
  }
  const Tensor y = zeros(shape, {.dtype = wide});
  visit(wide, [&](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>) add_at<T>(y, converted(x, wide), strides, offset);
  });
  call.saw(detail::amax_word(y));
  call.out[0] = converted(y, dtype);
}

void Place::backward(Call& call) {
  const Tensor& dy = call.dout[0];
  call.din[0] = as_strided(dy.is_contiguous() && dy.offset() == 0 ? dy : clone(dy), sizes(call.in_shapes[0]), call.list(1), call.integer(2));
}

namespace {

// A diagonal as a view of a tensor with the given strides.
struct DiagonalView {
  Shape shape;
  Strides strides;
  int64_t offset = 0;
};

DiagonalView diagonal_view(const Call& call, const Shape& shape, const Strides& strides) {
  const int first = normalize_axis(call.integer(1), shape.axes(), "diagonal"), second = normalize_axis(call.integer(2), shape.axes(), "diagonal");
  ROTE_CHECK(shape.axes() >= 2, ShapeError, "diagonal: x has shape ", shape, "; a diagonal needs two axes.");
  ROTE_CHECK(first != second, ShapeError, "diagonal: both axes are ", first, "; they must differ.");
  const int64_t offset = call.integer(0), down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  const int64_t n = std::max<int64_t>(0, std::min(shape[first] - down, shape[second] - right));
  DiagonalView d;
  for (int i = 0; i < shape.axes(); ++i) {
    if (i == first || i == second) continue;
    d.shape.append(shape[i]);
    d.strides.append(strides[i]);
  }
  d.shape.append(n);
  d.strides.append(strides[first] + strides[second]);
  if (n > 0) d.offset = down * strides[first] + right * strides[second];
  return d;
}

struct Windows {
  int axis;
  int64_t count, size, step;
};

Windows windows(const Call& call) {
  const Shape& shape = call.in_shapes[0];
  const int axis = normalize_axis(call.integer(0), shape.axes(), "unfold");
  const int64_t n = shape.axes() == 0 ? 1 : shape[axis], size = call.integer(1), step = call.integer(2);
  ROTE_CHECK(size >= 0 && size <= n, ArgumentError, "unfold: size is ", size, " but axis ", axis, " of ", shape, " has ", n, " elements; a window fits in it.");
  ROTE_CHECK(step > 0, ArgumentError, "unfold: step is ", step, "; it must be at least 1.");
  return {axis, (n - size) / step + 1, size, step};
}

// The view of all windows of a tensor with the given strides; a tensor without axes is one window.
void unfolded(const Windows& w, Shape& shape, Strides& strides) {
  const int64_t along = shape.axes() == 0 ? 1 : strides[w.axis];
  if (shape.axes() > 0) {
    shape[w.axis] = w.count;
    strides[w.axis] = along * w.step;
  }
  shape.append(w.size);
  strides.append(along);
}

}  // namespace

void Diagonal::forward(Call& call) {
  const Tensor& x = call.in[0];
  const DiagonalView d = diagonal_view(call, x.shape(), x.strides());
  call.out[0] = alias(x, d.shape, d.strides, x.offset() + d.offset);
}

void Diagonal::backward(Call& call) {
  const Shape& shape = call.in_shapes[0];
  const DiagonalView d = diagonal_view(call, shape, contiguous_strides(shape));
  call.din[0] = place(call.dout[0], sizes(shape), sizes(d.strides), d.offset);
}

void Unfold::forward(Call& call) {
  const Tensor& x = call.in[0];
  Shape shape = x.shape();
  Strides strides = x.strides();
  unfolded(windows(call), shape, strides);
  call.out[0] = alias(x, shape, strides, x.offset());
}

void Unfold::backward(Call& call) {
  Shape shape = call.in_shapes[0];
  Strides strides = contiguous_strides(shape);
  unfolded(windows(call), shape, strides);
  call.din[0] = place(call.dout[0], sizes(call.in_shapes[0]), sizes(strides));
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t first, int64_t second) {
  ROTE_CHECK(x.axes() > 0, ShapeError, "diag_embed: x is ", describe(x), "; it must have an axis.");
  const int a = normalize_axis(first, x.axes() + 1, "diag_embed"), b = normalize_axis(second, x.axes() + 1, "diag_embed");
  ROTE_CHECK(a != b, ShapeError, "diag_embed: both axes are ", a, "; they must differ.");
  const int64_t n = x.size(-1) + std::abs(offset);
  Shape shape;
  for (int i = 0, from = 0; i <= x.axes(); ++i) shape.append(i == a || i == b ? n : x.shape()[from++]);
  const Strides all = contiguous_strides(shape);
  std::vector<int64_t> strides;
  for (int i = 0; i <= x.axes(); ++i)
    if (i != a && i != b) strides.push_back(all[i]);
  strides.push_back(all[a] + all[b]);
  return place(x, sizes(shape), strides, offset >= 0 ? offset * all[b] : -offset * all[a]);
}

Tensor diag(const Tensor& x, int64_t offset) {
  ROTE_CHECK(x.axes() == 1 || x.axes() == 2, ShapeError, "diag: x is ", describe(x), "; it must have one axis or two.");
  return x.axes() == 1 ? diag_embed(x, offset) : clone(diagonal(x, offset));
}

Tensor trace(const Tensor& x) {
  ROTE_CHECK(x.axes() == 2, ShapeError, "trace: x is ", describe(x), "; it must be a matrix.");
  return sum(diagonal(x));
}

namespace {

// The logical places in x of a view of it, which view() makes of any tensor of x's shape.
template <class View>
Tensor scattered_view(const char* who, const Tensor& x, const Tensor& src, const View& view) {
  const Tensor places = view(reshape(arange(x.numel()), sizes(x.shape())));
  ROTE_CHECK(src.shape() == places.shape(), ShapeError, who, ": src is ", describe(src), " but the view of ", describe(x), " has shape ", places.shape(), "; they must be equal.");
  const int64_t n = places.numel();
  return reshape(scatter(reshape(x, {x.numel()}), 0, reshape(places, {n}), reshape(to(src, x.dtype()), {n})), sizes(x.shape()));
}

}  // namespace

Tensor select_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t index) {
  return scattered_view("select_scatter", x, src, [&](const Tensor& t) { return select(t, axis, index); });
}
Tensor slice_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t first, int64_t last, int64_t step) {
  return scattered_view("slice_scatter", x, src, [&](const Tensor& t) { return slice(t, axis, first, last, step); });
}
Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int64_t offset, int64_t first, int64_t second) {
  return scattered_view("diagonal_scatter", x, src, [&](const Tensor& t) { return diagonal(t, offset, first, second); });
}

std::vector<Composition> strides_compositions() {
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return {
      {"as_strided", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         return as_strided(x, a.list("size"), a.list("stride"), a.given("storage_offset") ? a.integer("storage_offset") : x.offset());
       }},
      {"diag_embed", [](const Arguments& a) -> Value { return diag_embed(a.tensor("self"), a.integer("offset"), a.integer("dim1"), a.integer("dim2")); }},
      {"diag", [](const Arguments& a) -> Value { return diag(a.tensor("self"), a.integer("diagonal")); }},
      {"diagflat", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         return diag_embed(reshape(x, {x.numel()}), a.integer("offset"));
       }},
      {"trace", [](const Arguments& a) -> Value { return trace(a.tensor("self")); }},
      {"select_scatter", [](const Arguments& a) -> Value { return select_scatter(a.tensor("self"), a.tensor("src"), a.integer("dim"), a.integer("index")); }},
      {"slice_scatter", [](const Arguments& a) -> Value {
         return slice_scatter(a.tensor("self"), a.tensor("src"), a.integer("dim"), a.given("start") ? a.integer("start") : 0, a.given("end") ? a.integer("end") : kEnd,
                              a.integer("step"));
       }},
      {"diagonal_scatter", [](const Arguments& a) -> Value {
         return diagonal_scatter(a.tensor("self"), a.tensor("src"), a.integer("offset"), a.integer("dim1"), a.integer("dim2"));
       }},
  };
}

}  // namespace rote

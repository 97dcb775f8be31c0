#include "autograd/ops/reduce.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"
#include "kernels/pool.h"
#include "tensor/launch.h"

namespace rote {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The axes of a reduction: which go, and the result's shape with and without them.
struct Reduced {
  bool axis[Shape::kMaxAxes] = {};
  Shape kept, with_ones;
  int64_t count = 1;  // elements per result
};

Reduced reduced_axes(const Call& call) {
  const Shape& shape = call.in_shapes[0];
  const char* who = call.op->row.name;
  Reduced r;
  for (const int64_t a : call.list(0)) {
    const int axis = normalize_axis(a, shape.axes(), who);
    ROTE_CHECK(!r.axis[axis], ShapeError, who, ": axis ", a, " is named twice; each axis at most once.");
    r.axis[axis] = true;
  }
  for (int i = 0; i < shape.axes(); ++i) {
    if (call.list(0).empty()) r.axis[i] = true;
    if (r.axis[i]) r.count *= shape[i];
    else r.kept.append(shape[i]);
    r.with_ones.append(r.axis[i] ? 1 : shape[i]);
  }
  return r;
}

// x seen with the reduced axes last.
Tensor reduced_last(const Tensor& x, const Reduced& r) {
  Shape shape;
  Strides strides;
  for (const bool reduced : {false, true})
    for (int i = 0; i < x.axes(); ++i)
      if (r.axis[i] == reduced) {
        shape.append(x.shape()[i]);
        strides.append(x.strides()[i]);
      }
  return alias(x, shape, strides, x.offset());
}

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

// y, whose reduced axes are gone or 1, under x's shape; an op.
Tensor repeated(const Tensor& y, const Reduced& r, const Shape& shape) { return expand(reshape(y, sizes(r.with_ones)), sizes(shape)); }

// How many elements a reduction over these axes joins.
int64_t count_along(const Tensor& x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x.numel();
  int64_t n = 1;
  for (const int64_t axis : axes) n *= x.axes() == 0 ? 1 : x.size(axis);
  return n;
}

Tensor empty_result(const Call& call, const Reduced& r, DType dtype) { return empty(call.flag(1) ? r.with_ones : r.kept, {.dtype = dtype}); }

// Integers, computed in i64: y = step over each row, from `first` on.
template <class F>
Tensor folded(const Call& call, const Reduced& r, DType dtype, int64_t first, F&& step) {
  const Tensor x = reduced_last(call.in[0], r), y = full(call.flag(1) ? r.with_ones : r.kept, static_cast<double>(first), {.dtype = DType::i64});
  const BlockSource from(x, x.shape());
  int64_t buffer[kBlock];
  int64_t* to = y.data<int64_t>();
  int64_t value = first, taken = 0;
  for (int64_t begin = 0, n = x.numel(); begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    gather(from, begin, count, buffer);
    for (int64_t i = 0; i < count; ++i) {
      value = step(value, buffer[i]);
      if (++taken < r.count) continue;
      *to++ = value;
      value = first, taken = 0;
    }
  }
  return converted(y, dtype);
}

// Floating numbers: f(rows, elements of a row, x, y) gives the status word. 16 bits are computed in f32 and rounded once.
template <class F>
Tensor reduced(Call& call, const Reduced& r, F&& f) {
  const DType dtype = call.in_dtypes[0], wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor y = empty_result(call, r, wide);
  with_real(call, wide, [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(reduced_last(converted(call.in[0], wide), r));
    call.saw(f(y.numel(), r.count, static_cast<const Real*>(x.template data<Real>()), y.template data<Real>()));
  });
  return converted(y, dtype);
}

// f(row) gives a status word; rows in tasks of about 16 thousand elements.
template <class F>
uint32_t each_row(int64_t rows, int64_t n, F&& f) {
  const int64_t chunk = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n));
  return parallel((rows + chunk - 1) / chunk, [&](int64_t task) -> uint32_t {
    uint32_t word = 0;
    for (int64_t row = task * chunk; row < std::min(rows, (task + 1) * chunk); ++row) word = std::max(word, f(row));
    return word;
  });
}

int64_t wrapped_sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t wrapped_product(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

}  // namespace

void Sum::forward(Call& call) {
  const Reduced r = reduced_axes(call);
  if (!is_floating(call.in_dtypes[0])) call.out[0] = folded(call, r, DType::i64, 0, wrapped_sum);
  else call.out[0] = reduced(call, r, [](int64_t rows, int64_t n, const auto* x, auto* y) { return kernels<std::decay_t<decltype(*y)>>().sum_rows(rows, n, x, y); });
}

void Sum::backward(Call& call) { call.din[0] = repeated(call.dout[0], reduced_axes(call), call.in_shapes[0]); }

void Amax::forward(Call& call) {
  const Reduced r = reduced_axes(call);
  ROTE_CHECK(r.count > 0, ShapeError, "amax: ", describe(call.in[0]), " has no elements along the reduced axes; a largest needs one.");
  if (!is_floating(call.in_dtypes[0]))
    call.out[0] = folded(call, r, call.in_dtypes[0], std::numeric_limits<int64_t>::min(), [](int64_t a, int64_t b) { return std::max(a, b); });
  else
    call.out[0] = reduced(call, r, [](int64_t rows, int64_t n, const auto* x, auto* y) { return kernels<std::decay_t<decltype(*y)>>().max_rows(rows, n, x, y); });
}

void Amax::backward(Call& call) {
  const Reduced r = reduced_axes(call);
  const Shape& shape = call.in_shapes[0];
  const Tensor hit = eq(detach(call.in[0]), repeated(detach(call.out[0]), r, shape));
  std::vector<int64_t> axes;
  for (int i = 0; i < shape.axes(); ++i)
    if (r.axis[i]) axes.push_back(i);
  call.din[0] = div(mul(repeated(call.dout[0], r, shape), hit), sum(hit, axes, true));
}

void Prod::forward(Call& call) {
  const Reduced r = reduced_axes(call);
  if (!is_floating(call.in_dtypes[0])) {
    call.out[0] = folded(call, r, DType::i64, 1, wrapped_product);
    return;
  }
  call.out[0] = reduced(call, r, [](int64_t rows, int64_t n, const auto* x, auto* y) {
    return each_row(rows, n, [&](int64_t row) -> uint32_t {
      double product = 1;
      for (int64_t i = 0; i < n; ++i) product *= x[row * n + i];
      y[row] = static_cast<std::decay_t<decltype(*y)>>(product);
      return std::bit_cast<uint32_t>(static_cast<float>(y[row])) & 0x7FFFFFFFu;
    });
  });
}

namespace {

// x [R,n] -> [R,n]: the product of the others in the row. Products from the left and from the right, each by doubling steps.
Tensor product_of_others(const Tensor& x) {
  const int64_t n = x.size(1);
  const auto ones = [&](int64_t count) { return full({x.size(0), count}, 1, {.dtype = x.dtype()}); };
  const auto later = [&](const Tensor& p, int64_t by) { return cat({ones(by), slice(p, 1, 0, n - by)}, 1); };
  const auto earlier = [&](const Tensor& p, int64_t by) { return cat({slice(p, 1, by, n), ones(by)}, 1); };
  Tensor before = later(x, 1), after = earlier(x, 1);
  for (int64_t step = 1; step < n; step *= 2) {
    before = mul(before, later(before, step));
    after = mul(after, earlier(after, step));
  }
  return mul(before, after);
}

}  // namespace

// dx = dy·y/x, and where an x is 0 dy times the product of the others.
void Prod::backward(Call& call) {
  const Reduced r = reduced_axes(call);
  const Shape& shape = call.in_shapes[0];
  const Tensor x = widened(call.in[0]), dy = repeated(widened(call.dout[0]), r, shape);
  if (shape.axes() == 0) {  // itself, an infinity too
    call.din[0] = dy;
    return;
  }
  if (!any(eq(x, 0.0)).item_i64()) {
    call.din[0] = mul(dy, div(repeated(call.out[0], r, shape), x));
    return;
  }
  std::vector<int64_t> last, back(static_cast<size_t>(shape.axes()));
  for (const bool reduced : {false, true})
    for (int i = 0; i < shape.axes(); ++i)
      if (r.axis[i] == reduced) last.push_back(i);
  for (size_t i = 0; i < last.size(); ++i) back[static_cast<size_t>(last[i])] = static_cast<int64_t>(i);
  const Tensor rows = permute(x, last);
  const Tensor others = product_of_others(reshape(rows, {x.numel() / r.count, r.count}));
  call.din[0] = mul(dy, permute(reshape(others, sizes(rows.shape())), back));
}

namespace {

Reduced along(const Call& call, const Shape& shape, int64_t& n) {
  const int axis = normalize_axis(call.integer(0), shape.axes(), call.op->row.name);
  Reduced r;
  for (int i = 0; i < shape.axes(); ++i) {
    r.axis[i] = i == axis;
    if (i != axis) r.kept.append(shape[i]);
    r.with_ones.append(i == axis ? 1 : shape[i]);
  }
  n = shape.axes() == 0 ? 1 : shape[axis];
  return r;
}

}  // namespace

void MaxAlong::forward(Call& call) {
  int64_t n;
  const Reduced r = along(call, call.in_shapes[0], n);
  ROTE_CHECK(n > 0, ShapeError, "max_along: axis ", call.integer(0), " of ", describe(call.in[0]), " is empty; a largest needs an element.");
  const bool least = call.flag(2);
  const Tensor x = contiguous(reduced_last(call.in[0], r));
  const Tensor y = empty_result(call, r, x.dtype()), index = empty_result(call, r, DType::i64);
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    const T* from = static_cast<const T*>(x.raw());
    T* value = static_cast<T*>(y.raw());
    each_row(y.numel(), n, [&](int64_t row) -> uint32_t {
      const T* p = from + row * n;
      int64_t best = 0;
      Wide top = convert<Wide>(p[0]);
      for (int64_t i = 1; i < n && top == top; ++i) {
        const Wide v = convert<Wide>(p[i]);
        if (least ? v >= top : v <= top) continue;
        best = i;
        top = v;
      }
      value[row] = p[best];
      index.data<int64_t>()[row] = best;
      return 0;
    });
  });
  call.out = {y, index};
}

void MaxAlong::backward(Call& call) {
  int64_t n;
  const Reduced r = along(call, call.in_shapes[0], n);
  std::vector<int64_t> line;
  for (int i = 0; i < call.in_shapes[0].axes(); ++i) line.push_back(r.axis[i] ? n : 1);
  const Tensor dy = reshape(call.dout[0], sizes(r.with_ones)), index = reshape(detach(call.out[1]), sizes(r.with_ones));
  call.din[0] = where(eq(index, reshape(arange(n), line)), dy, number_for(dy, 0.0));
}

Tensor mean(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "mean: x is ", describe(x), "; a mean of integers needs a floating dtype (to() converts).");
  return to(div(sum(widened(x), axes, keepdim), static_cast<double>(count_along(x, axes))), x.dtype());
}

Tensor nansum(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  return sum(is_floating(x.dtype()) ? where(isnan(x), number_for(x, 0.0), x) : x, axes, keepdim);
}

Tensor nanmean(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "nanmean: x is ", describe(x), "; a mean of integers needs a floating dtype (to() converts).");
  return to(div(nansum(widened(x), axes, keepdim), sum(eq(x, x), axes, keepdim)), x.dtype());
}

Tensor amin(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  if (is_floating(x.dtype())) return neg(amax(neg(x), axes, keepdim));
  // -1 - v reverses the order of i64 without an overflow.
  const Tensor wide = to(x, DType::i64);
  return to(sub(scalar(-1, DType::i64), amax(sub(scalar(-1, DType::i64), wide), axes, keepdim)), x.dtype());
}

namespace {

// With fewer elements than the correction the value is that of a division by 0; its gradient, as torch has it, that of one by n - correction.
Tensor variance(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim, const Tensor& center) {
  const double n = static_cast<double>(count_along(x, axes)) - correction;
  const Tensor squares = sum(square(sub(x, center)), axes, keepdim), v = div(squares, n);
  return n < 0 ? add(v, detach(div(squares, 0.0))) : v;
}

// √v with derivative 0 at 0, where the root's own is infinite.
Tensor root(const Tensor& v) {
  const Tensor zero = eq(v, 0.0);
  return where(zero, v, sqrt(where(zero, number_for(v, 1.0), v)));
}

}  // namespace

Tensor var(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim) {
  const Tensor wide = widened(x);
  return to(variance(wide, axes, correction, keepdim, mean(wide, axes, true)), x.dtype());
}
Tensor std_deviation(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim) {
  return to(root(var(widened(x), axes, correction, keepdim)), x.dtype());
}

Tensor norm(const Tensor& x, double order, const std::vector<int64_t>& axes, bool keepdim) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "norm: x is ", describe(x), "; it must have a floating dtype (to() converts).");
  ROTE_CHECK((order >= 0 && order < kInfinity) || count_along(x, axes) > 0, ShapeError, "norm: ", describe(x), " has no elements along the reduced axes; of order ", order,
             " the norm needs one.");
  const Tensor wide = widened(x);
  const auto value = [&] {
    if (order == 2) return root(sum(square(wide), axes, keepdim));
    if (order == 1) return sum(abs(wide), axes, keepdim);
    if (order == kInfinity) return amax(abs(wide), axes, keepdim);
    if (order == -kInfinity) return amin(abs(wide), axes, keepdim);
    if (order == 0) return sum(where(eq(wide, 0.0), sign(wide), number_for(wide, 1.0)), axes, keepdim);
    // |x| with a gradient that hands a NaN on, but at 0 ends the infinite one of a power below 1.
    const Tensor plain = mul(wide, sign(wide)), magnitude = order > 1 ? plain : where(eq(wide, 0.0), abs(wide), plain);
    const Tensor total = sum(pow(magnitude, order), axes, keepdim);
    if (order < 0) return pow(total, 1 / order);
    const Tensor zero = eq(total, 0.0);  // whose power would have an infinite derivative
    return where(zero, total, pow(where(zero, number_for(total, 1.0), total), 1 / order));
  };
  return to(value(), x.dtype());
}

Tensor logsumexp(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32;
  const Tensor wide = to(x, dtype == DType::f64 ? dtype : DType::f32);
  // Of an empty row nothing is subtracted; of one whose largest is infinite neither.
  if (count_along(x, axes) == 0) return to(log(sum(exp(wide), axes, keepdim)), dtype);
  const Tensor largest = amax(detach(wide), axes, true);
  const Tensor shift = where(isinf(largest), number_for(largest, 0.0), largest);
  const Tensor total = log(sum(exp(sub(wide, shift)), axes, keepdim));
  return to(add(total, reshape(shift, sizes(total.shape()))), dtype);
}

Tensor any(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) { return ne(sum(ne(x, 0.0), axes, keepdim), 0.0); }
Tensor all(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) { return eq(sum(eq(x, 0.0), axes, keepdim), 0.0); }

namespace {

Tensor self_in_dtype(const Arguments& a) {
  const Tensor x = a.tensor("self");
  return to(x, a.dtype("dtype").value_or(x.dtype()));
}

// Sums and products of narrow integers are i64 unless a dtype is asked for.
Tensor in_asked_dtype(const Arguments& a, const Tensor& y) { return to(y, a.dtype("dtype").value_or(y.dtype())); }

// max and min over all elements, of which there must be one.
Tensor only_some(const Arguments& a) {
  const Tensor x = a.tensor("self");
  ROTE_CHECK(x.numel() > 0, ShapeError, a.op(), ": x is ", describe(x), "; it must have an element.");
  return x;
}

Tensor arg_of(const Arguments& a, Tensor (*f)(const Tensor&, int64_t, bool)) {
  const Tensor x = a.tensor("self");
  const bool keepdim = a.flag("keepdim");
  if (a.given("dim")) return f(x, a.integer("dim"), keepdim);
  const Tensor y = f(flatten(x), 0, false);
  return keepdim ? reshape(y, std::vector<int64_t>(static_cast<size_t>(x.axes()), 1)) : y;
}

// The overloads of var and std: `correction` (none: 1) or `unbiased`.
struct Deviation {
  Tensor x, center;
  DType dtype;
  std::vector<int64_t> axes;
  double correction;
  bool keepdim;
  explicit Deviation(const Arguments& a)
      : x(widened(a.tensor("self"))), dtype(a.tensor("self").dtype()), axes(a.list("dim")), correction(1), keepdim(a.given("keepdim") && a.flag("keepdim")) {
    if (a.given("correction")) correction = a.number("correction");
    if (a.given("unbiased")) correction = a.flag("unbiased") ? 1 : 0;
    center = mean(x, axes, true);
  }
  Tensor mean_shaped(const Tensor& v) const { return to(reshape(center, sizes(v.shape())), dtype); }
  Tensor spread() const { return to(variance(x, axes, correction, keepdim, center), dtype); }
  Tensor deviation() const { return to(root(variance(x, axes, correction, keepdim, center)), dtype); }
};

// any and all keep u8 for u8.
Tensor truth(const Arguments& a, Tensor (*f)(const Tensor&, const std::vector<int64_t>&, bool)) {
  const Tensor x = a.tensor("self");
  const Tensor y = a.given("dim") && a.list("dim").empty() ? ne(x, 0.0) : f(x, a.list("dim"), a.given("keepdim") && a.flag("keepdim"));
  return x.dtype() == DType::u8 ? to(y, DType::u8) : y;
}

}  // namespace

std::vector<Composition> reduce_compositions() {
  return {
      {"sum", [](const Arguments& a) -> Value { return in_asked_dtype(a, sum(self_in_dtype(a))); }},
      {"sum.dim_IntList", [](const Arguments& a) -> Value { return in_asked_dtype(a, sum(self_in_dtype(a), a.list("dim"), a.flag("keepdim"))); }},
      {"mean", [](const Arguments& a) -> Value { return mean(self_in_dtype(a)); }},
      {"mean.dim", [](const Arguments& a) -> Value { return mean(self_in_dtype(a), a.list("dim"), a.flag("keepdim")); }},
      {"amin", [](const Arguments& a) -> Value { return amin(a.tensor("self"), a.list("dim"), a.flag("keepdim")); }},
      {"max", [](const Arguments& a) -> Value { return amax(only_some(a)); }},
      {"min", [](const Arguments& a) -> Value { return amin(only_some(a)); }},
      {"argmax", [](const Arguments& a) -> Value { return arg_of(a, argmax); }},
      {"argmin", [](const Arguments& a) -> Value { return arg_of(a, argmin); }},
      {"var; var.dim; var.correction", [](const Arguments& a) -> Value { return Deviation(a).spread(); }},
      {"std; std.dim; std.correction", [](const Arguments& a) -> Value { return Deviation(a).deviation(); }},
      {"var_mean; var_mean.dim; var_mean.correction", [](const Arguments& a) -> Value {
         const Deviation d(a);
         const Tensor v = d.spread();
         return std::vector<Tensor>{v, d.mean_shaped(v)};
       }},
      {"std_mean; std_mean.dim; std_mean.correction", [](const Arguments& a) -> Value {
         const Deviation d(a);
         const Tensor v = d.deviation();
         return std::vector<Tensor>{v, d.mean_shaped(v)};
       }},
      {"prod", [](const Arguments& a) -> Value { return in_asked_dtype(a, prod(self_in_dtype(a))); }},
      {"prod.dim_int", [](const Arguments& a) -> Value { return in_asked_dtype(a, prod(self_in_dtype(a), {a.integer("dim")}, a.flag("keepdim"))); }},
      {"nansum", [](const Arguments& a) -> Value { return in_asked_dtype(a, nansum(self_in_dtype(a), a.list("dim"), a.flag("keepdim"))); }},
      {"nanmean", [](const Arguments& a) -> Value { return nanmean(self_in_dtype(a), a.list("dim"), a.flag("keepdim")); }},
      {"max.dim", [](const Arguments& a) -> Value { return max_along(a.tensor("self"), a.integer("dim"), a.flag("keepdim")); }},
      {"min.dim", [](const Arguments& a) -> Value { return min_along(a.tensor("self"), a.integer("dim"), a.flag("keepdim")); }},
      {"aminmax", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         const bool keepdim = a.flag("keepdim");
         return std::vector<Tensor>{amin(x, a.list("dim"), keepdim), amax(x, a.list("dim"), keepdim)};
       }},
      {"logsumexp", [](const Arguments& a) -> Value { return logsumexp(a.tensor("self"), a.list("dim"), a.flag("keepdim")); }},
      {"any; any.dim; any.dims", [](const Arguments& a) -> Value { return truth(a, any); }},
      {"all; all.dim; all.dims", [](const Arguments& a) -> Value { return truth(a, all); }},
      {"count_nonzero; count_nonzero.dim_IntList", [](const Arguments& a) -> Value { return sum(ne(a.tensor("self"), 0.0), a.list("dim")); }},
  };
}

}  // namespace rote

#include "autograd/ops/reduce.h"

#include <algorithm>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

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

// x with the reduced axes last, contiguous.
Tensor reduced_last(const Tensor& x, const Reduced& r) {
  Shape shape;
  Strides strides;
  for (const bool reduced : {false, true})
    for (int i = 0; i < x.axes(); ++i)
      if (r.axis[i] == reduced) {
        shape.append(x.shape()[i]);
        strides.append(x.strides()[i]);
      }
  return contiguous(alias(x, shape, strides, x.offset()));
}

// y, whose reduced axes are gone or 1, seen under x's shape.
Tensor repeated(const Tensor& y, const Reduced& r, const Shape& shape) {
  const Tensor plain = contiguous(y);
  Strides strides = contiguous_strides(r.with_ones);
  for (int i = 0; i < shape.axes(); ++i)
    if (r.axis[i]) strides[i] = 0;
  return alias(plain, shape, strides, plain.offset());
}

// How many elements a reduction over these axes joins.
int64_t count_along(const Tensor& x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x.numel();
  int64_t n = 1;
  for (const int64_t axis : axes) n *= x.axes() == 0 ? 1 : x.size(axis);
  return n;
}

// Integers, computed in i64 with wrap-around: y = fold over each row, from `first` on.
template <class F>
Tensor folded(const Call& call, const Reduced& r, DType dtype, int64_t first, F&& step) {
  const Tensor x = reduced_last(converted(call.in[0], DType::i64), r);
  const Tensor y = empty(call.flag(1) ? r.with_ones : r.kept, {.dtype = DType::i64});
  const int64_t* p = x.data<int64_t>();
  for (int64_t row = 0; row < y.numel(); ++row) {
    int64_t value = first;
    for (int64_t i = 0; i < r.count; ++i) value = step(value, *p++);
    y.data<int64_t>()[row] = value;
  }
  return converted(y, dtype);
}

}  // namespace

void Sum::forward(Call& call) {
  const Reduced r = reduced_axes(call);
  if (!is_floating(call.in_dtypes[0])) {
    call.out[0] = folded(call, r, DType::i64, 0, [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
    return;
  }
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = reduced_last(call.in[0], r);
    call.out[0] = empty(call.flag(1) ? r.with_ones : r.kept, {.dtype = x.dtype()});
    call.saw(kernels<Real>().sum_rows(call.out[0].numel(), r.count, x.data<Real>(), call.out[0].data<Real>()));
  });
}

void Sum::backward(Call& call) { call.din[0] = repeated(call.dout[0], reduced_axes(call), call.in_shapes[0]); }

void Amax::forward(Call& call) {
  const Reduced r = reduced_axes(call);
  ROTE_CHECK(r.count > 0, ShapeError, "amax: ", describe(call.in[0]), " has no elements along the reduced axes; a largest needs one.");
  if (!is_floating(call.in_dtypes[0])) {
    call.out[0] = folded(call, r, call.in_dtypes[0], std::numeric_limits<int64_t>::min(), [](int64_t a, int64_t b) { return std::max(a, b); });
    return;
  }
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = reduced_last(call.in[0], r);
    call.out[0] = empty(call.flag(1) ? r.with_ones : r.kept, {.dtype = x.dtype()});
    call.saw(kernels<Real>().max_rows(call.out[0].numel(), r.count, x.data<Real>(), call.out[0].data<Real>()));
  });
}

void Amax::backward(Call& call) {
  const Reduced r = reduced_axes(call);
  const Shape& shape = call.in_shapes[0];
  const Tensor hit = converted(eq(call.in[0], repeated(call.out[0], r, shape)), call.in_dtypes[0]);
  std::vector<int64_t> axes;
  for (int i = 0; i < shape.axes(); ++i)
    if (r.axis[i]) axes.push_back(i);
  const Tensor share = div(hit, sum(hit, axes, true));
  call.din[0] = mul(share, repeated(call.dout[0], r, shape));
}

void Argmax::forward(Call& call) {
  const Tensor& x = call.in[0];
  const int axis = normalize_axis(call.integer(0), x.axes(), "argmax");
  Reduced r;
  for (int i = 0; i < x.axes(); ++i) {
    r.axis[i] = i == axis;
    if (i != axis) r.kept.append(x.shape()[i]);
    r.with_ones.append(i == axis ? 1 : x.shape()[i]);
  }
  const int64_t n = x.axes() == 0 ? 1 : x.shape()[axis];
  ROTE_CHECK(n > 0, ShapeError, "argmax: axis ", axis, " of ", describe(x), " is empty; a largest needs an element.");
  call.out[0] = empty(call.flag(1) ? r.with_ones : r.kept, {.dtype = DType::i64});
  int64_t* y = call.out[0].data<int64_t>();
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const Tensor plain = reduced_last(x, r);
    const T* p = static_cast<const T*>(plain.raw());
    for (int64_t row = 0; row < call.out[0].numel(); ++row, p += n) {
      int64_t best = 0;
      for (int64_t i = 1; i < n; ++i) {
        const auto value = convert<std::conditional_t<std::is_integral_v<T>, int64_t, double>>(p[i]);
        const auto top = convert<std::conditional_t<std::is_integral_v<T>, int64_t, double>>(p[best]);
        if (top == top && !(value <= top)) best = i;
      }
      y[row] = best;
    }
  });
}

Tensor mean(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "mean: x is ", describe(x), "; a mean of integers needs a floating dtype (to() converts).");
  const Tensor total = sum(x, axes, keepdim);
  return div(total, static_cast<double>(count_along(x, axes)));
}

Tensor amin(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  if (is_floating(x.dtype())) return neg(amax(neg(x), axes, keepdim));
  // -1 - v reverses the order of i64 without an overflow.
  const Tensor wide = to(x, DType::i64);
  return to(sub(scalar(-1, DType::i64), amax(sub(scalar(-1, DType::i64), wide), axes, keepdim)), x.dtype());
}

Tensor argmin(const Tensor& x, int64_t axis, bool keepdim) {
  return argmax(is_floating(x.dtype()) ? neg(x) : sub(scalar(-1, DType::i64), to(x, DType::i64)), axis, keepdim);
}

namespace {

Tensor variance(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim, const Tensor& center) {
  const double n = static_cast<double>(count_along(x, axes)) - correction;
  return div(sum(square(sub(x, center)), axes, keepdim), std::max(n, 0.0));
}

// √v with derivative 0 at 0, where the root's own is infinite.
Tensor root(const Tensor& v) {
  const Tensor zero = eq(v, 0.0);
  return where(zero, v, sqrt(where(zero, number_for(v, 1.0), v)));
}

}  // namespace

Tensor var(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim) {
  return variance(x, axes, correction, keepdim, mean(x, axes, true));
}
Tensor std_deviation(const Tensor& x, const std::vector<int64_t>& axes, double correction, bool keepdim) { return root(var(x, axes, correction, keepdim)); }

Tensor norm(const Tensor& x, double order, const std::vector<int64_t>& axes, bool keepdim) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "norm: x is ", describe(x), "; it must have a floating dtype (to() converts).");
  if (order == 2) return root(sum(square(x), axes, keepdim));
  if (order == 1) return sum(abs(x), axes, keepdim);
  ROTE_CHECK(order == std::numeric_limits<double>::infinity(), ArgumentError, "norm: order is ", order, "; it is 1, 2 or infinity.");
  return amax(abs(x), axes, keepdim);
}

Tensor logsumexp(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) {
  const Tensor wide = is_floating(x.dtype()) ? x : to(x, DType::f32);
  // Of an empty row nothing is subtracted; of one whose largest is infinite neither.
  if (count_along(x, axes) == 0) return log(sum(exp(wide), axes, keepdim));
  const Tensor largest = amax(detach(wide), axes, true);
  const Tensor shift = where(isinf(largest), number_for(largest, 0.0), largest);
  const Tensor total = log(sum(exp(sub(wide, shift)), axes, keepdim));
  return add(total, keepdim ? shift : reshape(shift, std::vector<int64_t>(total.shape().begin(), total.shape().end())));
}

Tensor any(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) { return ne(sum(ne(x, 0.0), axes, keepdim), 0.0); }
Tensor all(const Tensor& x, const std::vector<int64_t>& axes, bool keepdim) { return eq(sum(eq(x, 0.0), axes, keepdim), 0.0); }

namespace {

Tensor self_in_dtype(const Arguments& a) {
  const Tensor x = a.tensor("self");
  return to(x, a.dtype("dtype").value_or(x.dtype()));
}

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
  std::vector<int64_t> axes;
  double correction;
  bool keepdim;
  explicit Deviation(const Arguments& a)
      : x(a.tensor("self")), axes(a.list("dim")), correction(1), keepdim(a.given("keepdim") && a.flag("keepdim")) {
    if (a.given("correction")) correction = a.number("correction");
    if (a.given("unbiased")) correction = a.flag("unbiased") ? 1 : 0;
    center = mean(x, axes, true);
  }
  Tensor mean_shaped(const Tensor& v) const { return reshape(center, std::vector<int64_t>(v.shape().begin(), v.shape().end())); }
  Tensor value() const { return variance(x, axes, correction, keepdim, center); }
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
      {"sum", [](const Arguments& a) -> Value { return sum(self_in_dtype(a)); }},
      {"sum.dim_IntList", [](const Arguments& a) -> Value { return sum(self_in_dtype(a), a.list("dim"), a.flag("keepdim")); }},
      {"mean", [](const Arguments& a) -> Value { return mean(self_in_dtype(a)); }},
      {"mean.dim", [](const Arguments& a) -> Value { return mean(self_in_dtype(a), a.list("dim"), a.flag("keepdim")); }},
      {"amin", [](const Arguments& a) -> Value { return amin(a.tensor("self"), a.list("dim"), a.flag("keepdim")); }},
      {"max", [](const Arguments& a) -> Value { return amax(only_some(a)); }},
      {"min", [](const Arguments& a) -> Value { return amin(only_some(a)); }},
      {"argmax", [](const Arguments& a) -> Value { return arg_of(a, argmax); }},
      {"argmin", [](const Arguments& a) -> Value { return arg_of(a, argmin); }},
      {"var; var.dim; var.correction", [](const Arguments& a) -> Value { return Deviation(a).value(); }},
      {"std; std.dim; std.correction", [](const Arguments& a) -> Value { return root(Deviation(a).value()); }},
      {"var_mean; var_mean.dim; var_mean.correction", [](const Arguments& a) -> Value {
         const Deviation d(a);
         const Tensor v = d.value();
         return std::vector<Tensor>{v, d.mean_shaped(v)};
       }},
      {"std_mean; std_mean.dim; std_mean.correction", [](const Arguments& a) -> Value {
         const Deviation d(a);
         const Tensor v = root(d.value());
         return std::vector<Tensor>{v, d.mean_shaped(v)};
       }},
      {"linalg_vector_norm", [](const Arguments& a) -> Value {
         const double order = a.number("ord");
         if (order != 1 && order != 2 && order != std::numeric_limits<double>::infinity()) throw Lacking{str("norms of order ", order)};
         return norm(self_in_dtype(a), order, a.list("dim"), a.flag("keepdim"));
       }},
      {"logsumexp", [](const Arguments& a) -> Value { return logsumexp(a.tensor("self"), a.list("dim"), a.flag("keepdim")); }},
      {"any; any.dim; any.dims", [](const Arguments& a) -> Value { return truth(a, any); }},
      {"all; all.dim; all.dims", [](const Arguments& a) -> Value { return truth(a, all); }},
      {"count_nonzero; count_nonzero.dim_IntList", [](const Arguments& a) -> Value { return sum(ne(a.tensor("self"), 0.0), a.list("dim")); }},
  };
}

}  // namespace rote

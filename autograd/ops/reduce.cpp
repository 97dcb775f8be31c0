#include "autograd/ops/reduce.h"

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

}  // namespace

void Sum::forward(Call& call) {
  const Reduced r = reduced_axes(call);
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
  const Tensor total = sum(x, axes, keepdim);
  return div(total, static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(total.numel(), 1)));
}

}  // namespace rote

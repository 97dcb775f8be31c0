#include "autograd/ops/linear.h"

#include <cmath>

#include "autograd/arithmetic.h"
#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/stored.h"
#include "autograd/ops/view.h"
#include "autograd/sum_to.h"
#include "kernels/pool.h"

namespace rote {

void Linear::forward(Call& call) {
  with_wide_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), b = call.in[2].defined() ? contiguous(as_reals(call, call.in[2])) : Tensor();
    const Tensor &w = call.in[1], &y = call.out[0];
    const int64_t O = w.size(0), I = w.size(1);
    call.saw(product(Gemm<Real>{.M = I == 0 ? y.numel() / std::max<int64_t>(O, 1) : x.numel() / I,
                                .N = O,
                                .K = I,
                                .a = elements<Real>(x, call.lower),
                                .a_row = I,
                                .a_col = 1,
                                .b = elements<Real>(w, call.lower),
                                .b_row = w.strides()[1],
                                .b_col = w.strides()[0],
                                .c = results<Real>(y),
                                .c_row = O,
                                .bias = values<Real>(b)}));
  });
}

void Linear::backward(Call& call) {
  with_wide_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor dy = contiguous(call.dout[0]);
    const Tensor& w = call.in[1];
    const Shape& shape = call.in_shapes[0];
    const int64_t O = call.in_shapes[1][0], I = call.in_shapes[1][1], rows = shape.slice(0, shape.axes() - 1).numel();
    if (call.wants(0)) {
      const Tensor dx = empty(call.in_shapes[0], {.dtype = call.in_dtypes[0]});
      call.saw(product(Gemm<Real>{.M = rows, .N = I, .K = O, .a = elements<Real>(dy), .a_row = O, .a_col = 1, .b = elements<Real>(w, call.lower), .b_row = w.strides()[0],
                                  .b_col = w.strides()[1], .c = results<Real>(dx), .c_row = I}));
      call.din[0] = dx;
    }
    if (call.wants(1)) {
      const Tensor x = contiguous(call.in[0]);
      const Tensor dw = empty({O, I}, {.dtype = call.in_dtypes[1]});
      call.saw(product(Gemm<Real>{.M = O, .N = I, .K = rows, .a = elements<Real>(dy), .a_row = 1, .a_col = O, .b = elements<Real>(x, call.lower), .b_row = I, .b_col = 1,
                                  .c = results<Real>(dw), .c_row = I, .leaf = call.leaf(0, rows)}));
      call.din[1] = dw;
    }
    if (call.wants(2)) {
      const Tensor db = empty({O}, {.dtype = size_of(dy.dtype()) == 2 ? DType::f32 : dy.dtype()});
      call.saw(kernels<Real>().sum_columns(rows, O, call.leaf(0, rows), elements<Real>(dy), db.data<Real>()));
      call.din[2] = db;
    }
  });
}

void Linear::backward_in_ops(Call& call) {
  const Tensor& dy = call.dout[0];
  const int64_t O = call.in_shapes[1][0], I = call.in_shapes[1][1];
  const Shape& shape = call.in_shapes[0];
  const int64_t rows = shape.slice(0, shape.axes() - 1).numel();
  const Tensor dy_rows = reshape(dy, {rows, O});
  if (call.wants(0)) call.din[0] = reshape(matmul(dy_rows, call.in[1]), {shape.begin(), shape.end()});
  if (call.wants(1)) call.din[1] = matmul(t(dy_rows), reshape(call.in[0], {rows, I}));
  if (call.wants(2)) call.din[2] = sum(dy_rows, {0});
}

namespace {

// [*,M,K]·[*,K,N] with equal leading axes: one GEMM a matrix, as one batch where the leading axes merge.
template <class Real>
uint32_t multiply(const Tensor& x, const Tensor& y, const Elements<Real>& a, const Elements<Real>& b, const Tensor& z, int64_t leaf) {
  const int lead = z.axes() - 2;
  const int64_t M = z.size(-2), N = z.size(-1), K = x.size(-1);
  Shape batch = z.shape().slice(0, lead);
  Strides xs = x.strides().slice(0, lead), ys = y.strides().slice(0, lead), zs = z.strides().slice(0, lead);
  uint32_t amax = 0;
  const auto one = [&](int64_t count, int64_t x_batch, int64_t y_batch, int64_t z_batch, int64_t xo, int64_t yo, int64_t zo) {
    amax = std::max(amax, product(Gemm<Real>{.batch = count, .M = M, .N = N, .K = K, .a = a.from(xo), .a_batch = x_batch,
                                             .a_row = x.strides()[lead], .a_col = x.strides()[lead + 1], .b = b.from(yo),
                                             .b_batch = y_batch, .b_row = y.strides()[lead], .b_col = y.strides()[lead + 1],
                                             .c = results<Real>(z).from(zo), .c_batch = z_batch, .c_row = N, .leaf = leaf}));
  };
  if (lead == 0) {
    one(1, 0, 0, 0, 0, 0, 0);
    return amax;
  }
  int64_t outer = 1;
  for (int i = 0; i < lead - 1; ++i) outer *= batch[i];
  for (int64_t b = 0; b < outer; ++b) {
    int64_t xo = 0, yo = 0, zo = 0, rest = b;
    for (int i = lead - 2; i >= 0; --i) {
      const int64_t index = rest % batch[i];
      rest /= batch[i];
      xo += index * xs[i];
      yo += index * ys[i];
      zo += index * zs[i];
    }
    one(batch[lead - 1], xs[lead - 1], ys[lead - 1], zs[lead - 1], xo, yo, zo);
  }
  return amax;
}

Tensor expanded(const Tensor& x, const Shape& lead) {
  Shape shape = lead;
  shape.append(x.size(-2));
  shape.append(x.size(-1));
  const int extra = shape.axes() - x.axes();
  Strides strides;
  for (int i = 0; i < shape.axes(); ++i) strides.append(i < extra || (i < lead.axes() && x.shape()[i - extra] == 1) ? 0 : x.strides()[i - extra]);
  return alias(x, shape, strides, x.offset());
}

Tensor swapped(const Tensor& x) {
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int last = x.axes() - 1;
  std::swap(shape[last], shape[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return alias(x, shape, strides, x.offset());
}

Shape product_shape(const Tensor& x, const Tensor& y, Shape& lead) {
  ROTE_CHECK(x.axes() >= 2 && y.axes() >= 2, ShapeError, "matmul: x is ", describe(x), " and y ", describe(y), "; both need at least two axes here.");
  ROTE_CHECK(x.size(-1) == y.size(-2), ShapeError, "matmul: inner sizes differ, x ", describe(x), " and y ", describe(y), "; y needs ", x.size(-1), " rows.");
  lead = broadcast(x.shape().slice(0, x.axes() - 2), y.shape().slice(0, y.axes() - 2), "matmul");
  Shape shape = lead;
  shape.append(x.size(-2));
  shape.append(y.size(-1));
  return shape;
}

// A factor of a product: an input, which autocast may have the kernel round, or a gradient, which is taken as it is.
struct Factor {
  Tensor x;
  std::optional<DType> lower = {};
};

// In the given dtype. leaf: rows of a sample leaf where the inner axis runs over samples, else 0.
Tensor product(Call& call, const Factor& left, const Factor& right, DType dtype, int64_t leaf = 0) {
  Shape lead;
  const Shape shape = product_shape(left.x, right.x, lead);
  const Tensor z = empty(shape, {.dtype = dtype}), x = expanded(left.x, lead), y = expanded(right.x, lead);
  with_wide_real(call, x.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(multiply<Real>(x, y, elements<Real>(x, left.lower), elements<Real>(y, right.lower), z, leaf));
  });
  return z;
}

}  // namespace

void Matmul::forward(Call& call) {
  const Factor x{call.in[0], call.lower}, y{call.in[1], call.lower};
  call.out[0] = product(call, x, y, call.lower.value_or(x.x.dtype()));
}

void Matmul::backward(Call& call) {
  const Factor dz{call.dout[0]};
  // Sums over axes that were broadcast are of Reals.
  const auto gradient = [&](size_t i, const Factor& left, const Factor& right, int64_t leaf) {
    const bool broadcasts = dz.x.axes() != call.in_shapes[i].axes() || dz.x.shape().slice(0, dz.x.axes() - 2) != call.in_shapes[i].slice(0, dz.x.axes() - 2);
    const DType dtype = broadcasts && size_of(call.in_dtypes[i]) == 2 ? DType::f32 : call.in_dtypes[i];
    call.din[i] = sum_to(product(call, left, right, dtype, leaf), call.in_shapes[i], call.scope, &call.amax);
  };
  if (call.wants(0)) gradient(0, dz, {swapped(call.in[1]), call.lower}, 0);
  if (!call.wants(1)) return;
  // Of a matrix x the rows may be those of samples.
  const Tensor& x = call.in[0];
  gradient(1, {swapped(x), call.lower}, dz, x.axes() == 2 ? call.leaf(0, x.size(0)) : 0);
}

void Matmul::backward_in_ops(Call& call) {
  const Tensor& dz = call.dout[0];
  const auto shaped = [&](const Tensor& g, size_t i) { return sum_to(g, {call.in_shapes[i].begin(), call.in_shapes[i].end()}); };
  if (call.wants(0)) call.din[0] = shaped(matmul(dz, transpose(call.in[1], -2, -1)), 0);
  if (call.wants(1)) call.din[1] = shaped(matmul(transpose(call.in[0], -2, -1), dz), 1);
}

// One output row at a time, all of y's columns side by side.
void MatmulIntegers::forward(Call& call) {
  Shape lead;
  const Tensor z = zeros(product_shape(call.in[0], call.in[1], lead), {.dtype = DType::i64});
  const Tensor x = contiguous(expanded(call.in[0], lead)), y = contiguous(expanded(call.in[1], lead));
  const int64_t M = z.size(-2), N = z.size(-1), K = x.size(-1);
  const auto *a = reinterpret_cast<const uint64_t*>(x.data<int64_t>()), *b = reinterpret_cast<const uint64_t*>(y.data<int64_t>());
  auto* c = reinterpret_cast<uint64_t*>(z.data<int64_t>());
  parallel(N == 0 ? 0 : z.numel() / N, [&](int64_t row) -> uint32_t {
    for (int64_t k = 0; k < K; ++k)
      for (int64_t j = 0; j < N; ++j) c[row * N + j] += a[row * K + k] * b[(row / M * K + k) * N + j];
    return 0;
  });
  call.out[0] = z;
}

namespace {

// Narrower integers wrap when they are stored.
Tensor integer_product(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(info(x.dtype()).category == 1 && x.dtype() == y.dtype(), DTypeError, "matmul: x is ", describe(x), " and y ", describe(y),
             "; both must be of one integer dtype, or of one floating dtype.");
  return to(apply<MatmulIntegers>({to(x, DType::i64), to(y, DType::i64)}), x.dtype());
}

}  // namespace

Tensor matmul(const Tensor& x, const Tensor& y) {
  ROTE_CHECK(x.axes() > 0 && y.axes() > 0, ShapeError, "matmul: x is ", describe(x), " and y ", describe(y), "; both need an axis (mul multiplies by a scalar).");
  const Tensor left = x.axes() == 1 ? unsqueeze(x, 0) : x;
  const Tensor right = y.axes() == 1 ? unsqueeze(y, 1) : y;
  Tensor z = is_floating(x.dtype()) ? apply<Matmul>({left, right}) : integer_product(left, right);
  if (y.axes() == 1) z = squeeze(z, -1);
  if (x.axes() == 1) z = squeeze(z, y.axes() == 1 ? -1 : -2);
  return z;
}

namespace {

// A tensor argument with exactly so many axes.
Tensor with_axes(const Arguments& a, const char* name, int axes) {
  const Tensor x = a.tensor(name);
  ROTE_CHECK(x.axes() == axes, ShapeError, a.op(), ": ", name, " is ", describe(x), "; it must have ", axes, axes == 1 ? " axis." : " axes.");
  return x;
}

Tensor batched(const Arguments& a, const char* x, const char* y) {
  const Tensor left = with_axes(a, x, 3), right = with_axes(a, y, 3);
  ROTE_CHECK(left.size(0) == right.size(0), ShapeError, a.op(), ": ", x, " is ", describe(left), " and ", y, " ", describe(right), "; the batches must be equal.");
  return matmul(left, right);
}

// beta·self + alpha·product, rounded once; with beta = 0 nothing of self shows, not even NaN. Between integers both count as such.
Tensor added(const Arguments& a, const Tensor& self, const Tensor& product) {
  const auto factor = [&](const char* name) { return is_floating(product.dtype()) ? a.number(name) : std::trunc(a.number(name)); };
  ROTE_CHECK(broadcasts_to(self.shape(), product.shape()), ShapeError, a.op(), ": self is ", describe(self), "; it must broadcast to ", product.shape(), ".");
  const double alpha = factor("alpha"), beta = factor("beta");
  const Tensor scaled = alpha == 1 ? product : mul(product, alpha), x = widened(self);
  if (beta == 0) return to(add(scaled, where(scalar(0, DType::boolean), x, scalar(0, x.dtype()))), self.dtype());
  return to(add(beta == 1 ? x : mul(x, beta), scaled), self.dtype());
}

// added() to f(x, y) of two further arguments, all three of one dtype.
Value added_product(const Arguments& a, const char* x_name, const char* y_name, int x_axes, int y_axes, Tensor (*f)(const Tensor&, const Tensor&)) {
  const Tensor self = a.tensor("self"), x = with_axes(a, x_name, x_axes), y = with_axes(a, y_name, y_axes);
  for (const Tensor* other : {&x, &y})
    ROTE_CHECK(self.dtype() == other->dtype(), DTypeError, a.op(), ": self is ", describe(self), " but a factor ", describe(*other), "; the dtypes must be equal.");
  if (x_axes == 3)
    ROTE_CHECK(x.size(0) == y.size(0), ShapeError, a.op(), ": ", x_name, " is ", describe(x), " and ", y_name, " ", describe(y), "; the batches must be equal.");
  return added(a, self, f(widened(x), widened(y)));
}

Tensor inner(const Arguments& a, const char* x, const char* y) {
  const Tensor left = with_axes(a, x, 1), right = with_axes(a, y, 1);
  return matmul(left, right);
}

Tensor outer(const Tensor& x, const Tensor& y) { return mul(unsqueeze(x, 1), unsqueeze(y, 0)); }

}  // namespace

std::vector<Composition> linear_compositions() {
  return {
      {"linear", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("input"), w = a.tensor("weight"), b = a.tensor_or_none("bias");
         if (w.axes() != 1 && is_floating(x.dtype())) return linear(x, w, b);
         const Tensor y = matmul(x, t(w));  // of integers, or with one output feature, whose axis is left out
         return b.defined() ? add(y, b) : y;
       }},
      {"matmul", [](const Arguments& a) -> Value { return matmul(a.tensor("self"), a.tensor("other")); }},
      {"mm", [](const Arguments& a) -> Value { return matmul(with_axes(a, "self", 2), with_axes(a, "mat2", 2)); }},
      {"bmm", [](const Arguments& a) -> Value { return batched(a, "self", "mat2"); }},
      {"mv", [](const Arguments& a) -> Value { return matmul(with_axes(a, "self", 2), with_axes(a, "vec", 1)); }},
      {"dot", [](const Arguments& a) -> Value { return inner(a, "self", "tensor"); }},
      {"vdot", [](const Arguments& a) -> Value { return inner(a, "self", "other"); }},
      {"outer", [](const Arguments& a) -> Value { return outer(with_axes(a, "self", 1), with_axes(a, "vec2", 1)); }},
      {"addmm", [](const Arguments& a) -> Value { return added_product(a, "mat1", "mat2", 2, 2, matmul); }},
      {"addmv", [](const Arguments& a) -> Value { return added_product(a, "mat", "vec", 2, 1, matmul); }},
      {"addr", [](const Arguments& a) -> Value { return added_product(a, "vec1", "vec2", 1, 1, outer); }},
      {"baddbmm", [](const Arguments& a) -> Value { return added_product(a, "batch1", "batch2", 3, 3, matmul); }},
      {"addbmm", [](const Arguments& a) -> Value {
         return added_product(a, "batch1", "batch2", 3, 3, [](const Tensor& x, const Tensor& y) { return sum(matmul(x, y), {0}); });
       }},
  };
}

}  // namespace rote

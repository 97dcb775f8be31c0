#include "autograd/ops/softmax.h"

#include <algorithm>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

template <class Real>
using RowKernel = uint32_t (*KernelTable<Real>::*)(int64_t, int64_t, const Real*, Real*);
template <class Real>
using RowGradKernel = uint32_t (*KernelTable<Real>::*)(int64_t, int64_t, const Real*, const Real*, Real*);

// The kernels give a row of -inf throughout the weights 0, as one whose keys are all masked. Nothing is masked here: the row has no
// softmax, and NaN says so.
template <class Real>
void no_maximum(Call& call, const Tensor& x, int64_t n) {
  constexpr Real kLowest = -std::numeric_limits<Real>::infinity();
  const Real* in = x.data<Real>();
  Real* out = call.out[0].data<Real>();
  for (int64_t row = 0; row < x.numel(); row += n) {
    int64_t i = 0;
    while (i < n && in[row + i] == kLowest) ++i;
    if (i < n) continue;
    std::fill_n(out + row, n, std::numeric_limits<Real>::quiet_NaN());
    call.saw(0x7FC00000u);
  }
}

template <class Real>
void rows_forward(Call& call, RowKernel<Real> kernel) {
  const Tensor x = contiguous(call.in[0]);
  const int64_t n = x.size(-1);
  if (x.numel() == 0) return;
  call.saw((kernels<Real>().*kernel)(x.numel() / n, n, x.data<Real>(), call.out[0].data<Real>()));
  no_maximum<Real>(call, x, n);
}

template <class Real>
void rows_backward(Call& call, RowGradKernel<Real> kernel) {
  const Tensor dy = contiguous(call.dout[0]);
  const Tensor& y = call.out[0];
  const Tensor dx = empty(y.shape(), {.dtype = y.dtype()});
  call.din[0] = dx;
  if (y.numel() == 0) return;
  const int64_t n = y.size(-1);
  call.saw((kernels<Real>().*kernel)(y.numel() / n, n, y.data<Real>(), dy.data<Real>(), dx.data<Real>()));
}

template <class Op>
Tensor over_axis(const Tensor& x, int64_t axis, const char* who) {
  const int at = normalize_axis(axis, x.axes(), who);
  if (x.axes() == 0) return reshape(apply<Op>({reshape(x, {1})}), {});
  if (at == x.axes() - 1) return apply<Op>({x});
  return clone(transpose(apply<Op>({transpose(x, at, -1)}), at, -1));  // contiguous, as PyTorch's
}

}  // namespace

void Softmax::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) { rows_forward<decltype(t)>(call, &KernelTable<decltype(t)>::softmax); });
}
void Softmax::backward(Call& call) {
  with_real(call, call.out[0].dtype(), [&](auto t) { rows_backward<decltype(t)>(call, &KernelTable<decltype(t)>::softmax_backward); });
}
void Softmax::backward_in_ops(Call& call) {
  const Tensor &y = call.out[0], &dy = call.dout[0];
  call.din[0] = mul(y, sub(dy, sum(mul(y, dy), {-1}, true)));
}
void LogSoftmax::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) { rows_forward<decltype(t)>(call, &KernelTable<decltype(t)>::log_softmax); });
}
void LogSoftmax::backward(Call& call) {
  with_real(call, call.out[0].dtype(), [&](auto t) { rows_backward<decltype(t)>(call, &KernelTable<decltype(t)>::log_softmax_backward); });
}
void LogSoftmax::backward_in_ops(Call& call) { call.din[0] = sub(call.dout[0], mul(exp(call.out[0]), sum(call.dout[0], {-1}, true))); }

Tensor softmax(const Tensor& x, int64_t axis) { return over_axis<Softmax>(x, axis, "softmax"); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return over_axis<LogSoftmax>(x, axis, "log_softmax"); }

Tensor masked_softmax(const Tensor& x, const Tensor& mask) {
  const Tensor y = softmax(masked_fill(x, logical_not(mask), -std::numeric_limits<double>::infinity()));
  return masked_fill(y, logical_not(mask), 0);
}

namespace {

Tensor in_dtype(const Arguments& a) {
  const Tensor x = a.tensor("self");
  return to(x, a.dtype("dtype").value_or(x.dtype()));
}

}  // namespace

std::vector<Composition> softmax_compositions() {
  return {
      {"softmax.int; _softmax", [](const Arguments& a) -> Value { return softmax(in_dtype(a), a.integer("dim")); }},
      {"log_softmax.int; _log_softmax", [](const Arguments& a) -> Value { return log_softmax(in_dtype(a), a.integer("dim")); }},
  };
}

}  // namespace rote

#include "autograd/ops/norm.h"

#include "autograd/ops/real.h"

namespace rote {

void LayerNorm::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    const int64_t C = x.size(-1), rows = call.out[1].numel();
    call.saw(kernels<Real>().layer_norm(rows, C, static_cast<Real>(call.number(0)), x.data<Real>(), values<Real>(call.in[1]), values<Real>(call.in[2]),
                                        call.out[0].data<Real>(), call.out[1].data<Real>(), call.out[2].data<Real>()));
  });
}

void LayerNorm::backward(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "layer_norm: mean and rstd are statistics without a derivative; use mean() and var().");
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), dy = contiguous(call.dout[0]);
    const Shape& shape = call.in_shapes[0];
    const int64_t C = shape[shape.axes() - 1], rows = call.out[1].numel();
    const auto made = [&](int i) {
      const size_t at = static_cast<size_t>(i);
      if (call.wants(i)) call.din[at] = empty(call.in_shapes[at], {.dtype = dy.dtype()});
      return call.wants(i) ? call.din[at].template data<Real>() : nullptr;
    };
    Real *dx = made(0), *dw = made(1), *db = made(2);
    call.saw(kernels<Real>().layer_norm_backward(rows, C, call.leaf(0, rows), x.data<Real>(), values<Real>(call.in[1]), call.out[1].data<Real>(),
                                                 call.out[2].data<Real>(), dy.data<Real>(), dx, dw, db));
  });
}

}  // namespace rote

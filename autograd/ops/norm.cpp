#include "autograd/ops/norm.h"

#include "autograd/boxed.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"

namespace rote {

void LayerNorm::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), b = plain(call.in[2]);
    const int64_t C = x.size(-1), rows = call.out[1].numel();
    call.saw(kernels<Real>().layer_norm(rows, C, static_cast<Real>(call.number(0)), x.data<Real>(), values<Real>(w), values<Real>(b),
                                        call.out[0].data<Real>(), call.out[1].data<Real>(), call.out[2].data<Real>()));
  });
}

void LayerNorm::backward(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "layer_norm: mean and rstd are statistics without a derivative; use mean() and var().");
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), dy = contiguous(call.dout[0]);
    const Shape& shape = call.in_shapes[0];
    const int64_t C = shape[shape.axes() - 1], rows = call.out[1].numel();
    const auto made = [&](int i) {
      const size_t at = static_cast<size_t>(i);
      if (call.wants(i)) call.din[at] = empty(call.in_shapes[at], {.dtype = dy.dtype()});
      return call.wants(i) ? call.din[at].template data<Real>() : nullptr;
    };
    Real *dx = made(0), *dw = made(1), *db = made(2);
    call.saw(kernels<Real>().layer_norm_backward(rows, C, call.leaf(0, rows), x.data<Real>(), values<Real>(w), call.out[1].data<Real>(),
                                                 call.out[2].data<Real>(), dy.data<Real>(), dx, dw, db));
  });
}

namespace {

// Over the trailing axes that normalized_shape names, as one axis; then y, mean and rstd in torch's shapes.
std::vector<Tensor> over_trailing(const Arguments& a) {
  const Tensor x = a.tensor("input"), w = a.tensor_or_none("weight"), b = a.tensor_or_none("bias");
  const Shape trailing(a.list("normalized_shape"));
  const int lead = x.axes() - trailing.axes();
  ROTE_CHECK(trailing.axes() > 0 && lead >= 0 && x.shape().slice(lead, x.axes()) == trailing, ShapeError, "layer_norm: x is ", describe(x),
             " but normalized_shape ", trailing, "; x must end in it.");
  for (const Tensor* p : {&w, &b})
    ROTE_CHECK(!p->defined() || p->shape() == trailing, ShapeError, "layer_norm: weight or bias is ", describe(*p), "; it must be ", trailing, ".");
  const auto joined = [](const Tensor& p) { return p.defined() ? flatten(p) : p; };
  const Tensor rows = trailing.axes() == 1 ? x : flatten(x, lead, -1);
  const std::vector<Tensor> out = apply_all<LayerNorm>({rows, joined(w), joined(b)}, {a.number("eps")});
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end()), statistics(x.shape().begin(), x.shape().begin() + lead);
  statistics.resize(shape.size(), 1);
  return {reshape(out[0], shape), reshape(out[1], statistics), reshape(out[2], statistics)};
}

}  // namespace

std::vector<Composition> norm_compositions() {
  return {
      {"layer_norm", [](const Arguments& a) -> Value {
         a.ignore("cudnn_enable");
         return over_trailing(a)[0];
       }},
      {"native_layer_norm", [](const Arguments& a) -> Value { return over_trailing(a); }},
  };
}

}  // namespace rote

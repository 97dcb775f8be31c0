#include "autograd/ops/index.h"

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"

namespace rote {

void Embedding::forward(Call& call) {
  const Tensor ids = contiguous(call.in[0]), w = contiguous(call.in[1]);
  const int64_t V = w.size(0), n = ids.numel();
  const int64_t* id = ids.data<int64_t>();
  for (int64_t i = 0; i < n; ++i)
    ROTE_CHECK(id[i] >= 0 && id[i] < V, ArgumentError, "embedding: id ", id[i], " at element ", i, " but w is ", describe(w), "; ids lie in 0…", V - 1, ".");
  with_real(call, w.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(kernels<Real>().embedding(n, w.size(1), id, w.data<Real>(), call.out[0].data<Real>()));
  });
}

void Embedding::backward(Call& call) {
  const Tensor ids = contiguous(call.in[0]), dy = contiguous(call.dout[0]);
  const Shape& shape = call.in_shapes[1];
  const Tensor dw = empty(shape, {.dtype = dy.dtype()});
  with_real(call, dy.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(kernels<Real>().embedding_backward(ids.numel(), shape[1], shape[0], call.leaf(0, ids.numel()), call.integer(0), ids.data<int64_t>(),
                                                dy.data<Real>(), dw.data<Real>()));
  });
  call.din[1] = dw;
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  ROTE_CHECK(mask.dtype() == DType::boolean, DTypeError, "masked_fill: mask is ", describe(mask), "; it must be bool.");
  return where(mask, number_for(x, value), x);
}

std::vector<Composition> index_compositions() {
  return {
      {"embedding", [](const Arguments& a) -> Value {
         const Tensor ids = a.tensor("indices");
         return embedding(ids.dtype() == DType::i32 ? to(ids, DType::i64) : ids, a.tensor("weight"), a.integer("padding_idx"));
       }},
      {"masked_fill.Scalar; masked_fill.Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), mask = a.tensor("mask"), value = a.tensor("value");
         ROTE_CHECK(mask.dtype() == DType::boolean, DTypeError, "masked_fill: mask is ", describe(mask), "; it must be bool.");
         ROTE_CHECK(value.axes() == 0, ShapeError, "masked_fill: value is ", describe(value), "; it must be one number.");
         return where(mask, to(value, x.dtype()), x);
       }},
  };
}

}  // namespace rote

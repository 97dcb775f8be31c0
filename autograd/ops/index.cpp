#include "autograd/ops/index.h"

#include <functional>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"

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

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices) {
  ROTE_CHECK(indices.axes() <= 1, ShapeError, "index_select: the indices are ", describe(indices), "; they must have one axis.");
  const int64_t N = indices.numel();
  if (x.axes() == 0) return reshape(embedding(reshape(indices, {N}), reshape(x, {1, 1})), {});
  const int at = normalize_axis(axis, x.axes(), "index_select");
  const Tensor first = movedim(x, {at}, {0});
  std::vector<int64_t> shape(first.shape().begin(), first.shape().end());
  const int64_t V = shape[0], C = std::accumulate(shape.begin() + 1, shape.end(), int64_t{1}, std::multiplies<>());
  shape[0] = N;
  return movedim(reshape(embedding(reshape(indices, {N}), reshape(first, {V, C})), shape), {0}, {at});
}

namespace {

Tensor indices_of(const Arguments& a, const char* name) {
  const Tensor ids = a.tensor(name);
  return ids.dtype() == DType::i32 ? to(ids, DType::i64) : ids;
}

}  // namespace

std::vector<Composition> index_compositions() {
  return {
      {"embedding", [](const Arguments& a) -> Value {
         return embedding(indices_of(a, "indices"), a.tensor("weight"), a.integer("padding_idx"));
       }},
      {"index_select", [](const Arguments& a) -> Value { return index_select(a.tensor("self"), a.integer("dim"), indices_of(a, "index")); }},
      {"masked_fill.Scalar; masked_fill.Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), mask = a.tensor("mask"), value = a.tensor("value");
         ROTE_CHECK(mask.dtype() == DType::boolean, DTypeError, "masked_fill: mask is ", describe(mask), "; it must be bool.");
         ROTE_CHECK(value.axes() == 0, ShapeError, "masked_fill: value is ", describe(value), "; it must be one number.");
         return where(mask, to(value, x.dtype()), x);
       }},
  };
}

}  // namespace rote

#include "autograd/ops/loss.h"

#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/sum_to.h"

namespace rote {

void CrossEntropy::forward(Call& call) {
  const Tensor labels = contiguous(call.in[1]);
  const int64_t V = call.in[0].size(-1), rows = labels.numel(), ignored = call.integer(0);
  const int64_t* label = labels.data<int64_t>();
  for (int64_t i = 0; i < rows; ++i)
    ROTE_CHECK((label[i] >= 0 && label[i] < V) || label[i] == ignored, ArgumentError, "cross_entropy: label ", label[i], " at element ", i, " but there are ",
               V, " classes; labels lie in 0…", V - 1, " or are ", ignored, " (not scored).");
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    call.saw(kernels<Real>().cross_entropy(rows, V, x.data<Real>(), label, ignored, values<Real>(call.in[2]), static_cast<Real>(call.number(1)),
                                           call.out[0].data<Real>(), call.out[1].data<Real>()));
  });
}

void CrossEntropy::backward(Call& call) {
  if (!call.wants(0)) return;
  with_real(call, call.out[1].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), labels = contiguous(call.in[1]), dloss = contiguous(call.dout[0]);
    const Tensor dx = empty(x.shape(), {.dtype = x.dtype()});
    call.saw(kernels<Real>().cross_entropy_backward(labels.numel(), x.size(-1), x.data<Real>(), labels.data<int64_t>(), call.integer(0),
                                                    values<Real>(call.in[2]), static_cast<Real>(call.number(1)), call.out[1].data<Real>(),
                                                    dloss.data<Real>(), dx.data<Real>()));
    call.din[0] = dx;
  });
}

void LossSum::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    Real* y = call.out[0].data<Real>();
    call.saw(kernels<Real>().sum_columns(x.numel(), 1, call.leaf(0, x.numel()), x.data<Real>(), y));
    *y /= static_cast<Real>(call.number(0));
  });
}

void LossSum::backward(Call& call) {
  const double dy = call.dout[0].item();
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    call.din[0] = full(call.in_shapes[0], static_cast<Real>(dy) / static_cast<Real>(call.number(0)), {.dtype = DTypeOf<Real>::value});
  });
}

int64_t count_targets(const Tensor& labels, int64_t ignore_index) {
  const Tensor plain = contiguous(labels);
  const int64_t* label = plain.data<int64_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < plain.numel(); ++i) n += label[i] != ignore_index;
  return n;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const Tensor losses = cross_entropy_each(logits, labels, options);
  double n = static_cast<double>(count_targets(labels, options.ignore_index));
  if (options.weight.defined()) {
    n = 0;
    const Tensor plain = contiguous(labels), weight = converted(contiguous(options.weight), DType::f64);
    for (int64_t i = 0; i < plain.numel(); ++i)
      if (const int64_t label = plain.data<int64_t>()[i]; label != options.ignore_index) n += weight.data<double>()[label];
  }
  return loss_sum(losses, n);
}

}  // namespace rote

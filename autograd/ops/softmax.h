// autograd/ops/softmax.h — softmax and its logarithm over one axis.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Softmax {  // y = eˣ/Σeˣ over the last axis; a row of -inf throughout gives NaN
  static constexpr Row row{.name = "softmax", .schema = "softmax(x[*,C]) -> y[*,C]", .saves = "y", .autocast = Autocast::f32,
                           .samples = "*=2,3 C=4; * C=5; *=0 C=3"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct LogSoftmax {  // y = x - log Σeˣ over the last axis
  static constexpr Row row{.name = "log_softmax", .schema = "log_softmax(x[*,C]) -> y[*,C]", .saves = "y", .autocast = Autocast::f32,
                           .samples = "*=2,3 C=4; * C=5; *=0 C=3"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

Tensor softmax(const Tensor& x, int64_t axis = -1);
Tensor log_softmax(const Tensor& x, int64_t axis = -1);
// Over the last axis, of the elements that the mask (bool, broadcasts to x) keeps; the others get 0, also in a row that keeps none.
Tensor masked_softmax(const Tensor& x, const Tensor& mask);

std::vector<Composition> softmax_compositions();

using SoftmaxOps = OpList<Softmax, LogSoftmax>;

}  // namespace rote

#include "nn/loss.h"

#include <algorithm>

#include "autograd/ops/loss.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"

namespace rote::nn {

namespace {

std::vector<int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

// Labels under the shape of what they are compared with.
Tensor shaped(const Tensor& labels, const Shape& shape, DType dtype) {
  ROTE_CHECK(labels.numel() == shape.numel(), ShapeError, "loss: labels are ", describe(labels), " but the logits score ", shape.numel(), " targets, ", shape,
             "; one label each is needed.");
  return reshape(converted(labels, dtype), extents(shape));
}

}  // namespace

double divisor(const Signature& signature, const Batch& in, size_t which) {
  const TargetCounts counts = in.num_items.empty() ? count_targets(signature, in) : in.num_items;
  ROTE_CHECK(which < counts.size(), ArgumentError, "loss: num_items has ", counts.size(), " counts; one for each of the labels ", signature.labels, " is needed.");
  return static_cast<double>(std::max<int64_t>(counts[which], 1));
}

Tensor class_loss(const Tensor& logits, const Tensor& labels, double n, int64_t ignore_index) {
  if (!labels.defined()) return {};
  const Shape rows = logits.shape().slice(0, logits.axes() - 1);
  return loss_sum(cross_entropy_each(logits, shaped(labels, rows, DType::i64), {.ignore_index = ignore_index}), n);
}

Tensor next_token_loss(const Tensor& logits, const Batch& in) {
  const Tensor labels = in.find("labels");
  if (!labels.defined()) return {};
  const int64_t T = labels.size(1);
  const double n = divisor({.scored = Scored::next_token}, in);
  return class_loss(slice(logits, 1, 0, T - 1), contiguous(slice(labels, 1, 1, T)), n);
}

Tensor squared_loss(const Tensor& logits, const Tensor& targets, double n) {
  return loss_sum(square(logits - shaped(targets, logits.shape(), logits.dtype())), n);
}

Tensor binary_loss(const Tensor& logits, const Tensor& targets, double n) {
  return loss_sum(bce_with_logits(logits, shaped(targets, logits.shape(), logits.dtype())), n);
}

}  // namespace rote::nn

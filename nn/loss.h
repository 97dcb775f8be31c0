// nn/loss.h — the losses of heads: Σ over the scored targets / N, N the window's count where the batch gives it, else the batch's own.
#pragma once

#include "nn/model.h"

namespace rote::nn {

// What the loss of label key `which` is divided by: at least 1, so that a batch without any target adds 0.
double divisor(const Signature& signature, const Batch& in, size_t which = 0);

// logits [*,V], labels i64 of as many elements as logits have rows; -100 is not scored. Undefined without labels.
Tensor class_loss(const Tensor& logits, const Tensor& labels, double n, int64_t ignore_index = -100);
// The loss of Scored::next_token: logits [B,T,V] at t against labels [B,T] at t+1. Undefined without labels.
Tensor next_token_loss(const Tensor& logits, const Batch& in);
// logits [*] and targets of as many elements: squared error, binary cross-entropy of logits.
Tensor squared_loss(const Tensor& logits, const Tensor& targets, double n);
Tensor binary_loss(const Tensor& logits, const Tensor& targets, double n);

}  // namespace rote::nn

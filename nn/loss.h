// nn/loss.h — the losses of heads: Σ over the scored targets / N, N the window's count where the batch gives it, else the batch's own.
#pragma once

#include "nn/model.h"

namespace rote::nn {

// What the loss of label key `which` is divided by: at least 1, so that a batch without any target adds 0.
double divisor(const Signature& signature, const Batch& in, size_t which = 0);

// logits [*,V], labels i64 of as many elements as logits have rows; -100 is not scored. Undefined without labels.
struct ClassLossOptions {
  int64_t ignore_index = -100;
  double smoothing = 0;
};
Tensor class_loss(const Tensor& logits, const Tensor& labels, double n, const ClassLossOptions& options = {});
// The loss of Scored::next_token: logits [B,T,V] at t against labels [B,T] at t+1. Undefined without labels.
Tensor next_token_loss(const Tensor& logits, const Batch& in, double smoothing = 0);
// The loss of a model that scores classes (rows, not_ignored, next_token) from its logits and the batch's labels, each target smoothed: it costs
// (1-s)·(-log p[label]) + s/V·Σ -log p.  Szegedy et al. 2015, arXiv:1512.00567. ArgumentError where no classes are scored.
Tensor smoothed_loss(const Signature& signature, const Tensor& logits, const Batch& in, double smoothing);
// The loss of a sequence classifier by the config's problem_type: cross-entropy of logits [B,L] and labels [B], binary cross-entropy with
// floating labels [B,L], or squared error. Where the config leaves it open, the first labels decide: one label is a regression, integers
// are classes, floating ones are multi-label. Undefined without labels.
Tensor sequence_loss(const Tensor& logits, const Batch& in, Config& config);
Scored sequence_scored(const Config& config);
// start_logits and end_logits [B,T] from logits [B,T,2], and where start_positions and end_positions [B] are given the loss: the mean of the two
// cross-entropies, each over the positions inside of the row.
void answer_spans(ModelOutput& out, const Tensor& logits, const Batch& in, const Signature& signature);
// What a head passes on of its encoder's output.
ModelOutput with_states_of(const ModelOutput& encoded);
// Of x [B,T,L] the place of each row's last id that is not the padding: [B,L]. Without a pad_token_id the last place, of one row only.
Tensor at_last_token(const Tensor& x, const Tensor& input_ids, const std::optional<int64_t>& pad_token_id);
// logits [*] and targets of as many elements: squared error, binary cross-entropy of logits.
Tensor squared_loss(const Tensor& logits, const Tensor& targets, double n);
Tensor binary_loss(const Tensor& logits, const Tensor& targets, double n);

}  // namespace rote::nn

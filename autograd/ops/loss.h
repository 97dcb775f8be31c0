// autograd/ops/loss.h — losses of classes per target, and their sum over a window's targets. Labels of -100 are not scored.
#pragma once

#include "autograd/ops/regression.h"

namespace rote {

struct CrossEntropy {  // loss = -w[label]·((1-s)·log p[label]) - s/V·Σ w·log p; 0 where the label is ignored.  Szegedy et al. 2015, arXiv:1512.00567
  static constexpr Row row{.name = "cross_entropy",
                           .schema = "cross_entropy(logits[*,V], i64 labels[*], weight[V]?, ignore_index=-100, label_smoothing=0.0) -> wide loss[*], wide lse[*]",
                           .saves = "logits labels weight lse", .constants = "weight", .autocast = Autocast::f32,
                           .samples = "*=2,3 V=4; * V=3; *=0 V=2; *=4 V=3 ignore_index=1 label_smoothing=0.2"};
  static constexpr bool takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct NllLoss {  // loss = -w[label]·x[label] of log-probabilities x; 0 where the label is ignored
  static constexpr Row row{.name = "nll_loss", .schema = "nll_loss(x[*,V], i64 labels[*], weight[V]?, ignore_index=-100) -> loss[*]",
                           .saves = "labels weight", .constants = "weight", .autocast = Autocast::f32,
                           .samples = "*=2,3 V=4; * V=3; *=0 V=2; *=4 V=3 ignore_index=1"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct LossSum {  // y = Σx / n: samples are leaves, then the tree
  static constexpr Row row{.name = "loss_sum", .schema = "loss_sum(x[*], n) -> y[]", .samples = "*=2,3 n=4.0; *=5 n=1.0; *= n=2.0; *=0 n=1.0"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct CrossEntropyOptions {
  Tensor weight = {};  // [V]: of the classes
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};

// logits [*,V], labels i64 [*] -> loss [*], f32 of 16-bit logits. Labels outside 0…V-1 other than ignore_index: ArgumentError.
inline Tensor cross_entropy_each(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {}) {
  return apply<CrossEntropy>({logits, labels, options.weight}, {options.ignore_index, options.label_smoothing});
}
// Σ losses / n with n the window's target count.
inline Tensor loss_sum(const Tensor& losses, double n) { return apply<LossSum>({losses}, {n}); }
// The mean is over the scored targets (weighted by weight where given), as PyTorch's cross_entropy.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {}, Reduction reduction = Reduction::mean);
// Class probabilities [*,V] in place of labels: -Σ w·t·log p with t smoothed; the mean is over the rows.
Tensor cross_entropy_of_probabilities(const Tensor& logits, const Tensor& probabilities, const CrossEntropyOptions& options = {},
                                      Reduction reduction = Reduction::mean);

// x [*,V] log-probabilities, labels i64 [*]; the mean is weighted, over the scored targets. label_smoothing is none of its options.
Tensor nll_loss(const Tensor& x, const Tensor& labels, const CrossEntropyOptions& options = {}, Reduction reduction = Reduction::mean);

struct MarginOptions {
  int64_t p = 1;       // 1 or 2
  double margin = 1;
  Tensor weight = {};  // [V]: of the classes
};
// x [N,V], labels i64 [N]: Σ max(0, margin - x[label] + x[c])^p·w[label] / V over the other classes c.
Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, const MarginOptions& options = {}, Reduction reduction = Reduction::mean);
// x [N,V], labels i64 [N,V], of each row those before its first -1: Σ max(0, 1 - x[j] + x[c]) / V over the labels j and the classes c that are none.
Tensor multilabel_margin_loss(const Tensor& x, const Tensor& labels, Reduction reduction = Reduction::mean);

std::vector<Composition> loss_compositions();

// How many labels differ from ignore_index.
int64_t count_targets(const Tensor& labels, int64_t ignore_index = -100);

using LossOps = OpList<CrossEntropy, NllLoss, LossSum>;

}  // namespace rote

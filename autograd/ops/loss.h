// autograd/ops/loss.h — losses per target, and their sum over a window's targets. Labels of -100 are not scored.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct CrossEntropy {  // loss = -w[label]·((1-s)·log p[label]) - s/V·Σ w·log p; 0 where the label is ignored.  Szegedy et al. 2015, arXiv:1512.00567
  static constexpr Row row{.name = "cross_entropy", .schema = "cross_entropy(logits[*,V], i64 labels[*], weight[V]?, ignore_index=-100, label_smoothing=0.0) -> loss[*], wide lse[*]", .saves = "logits labels weight lse", .constants = "weight", .autocast = Autocast::f32, .samples = "*=2,3 V=4; * V=3; *=0 V=2"};
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

// logits [*,V], labels i64 [*] -> loss [*]. Labels outside 0…V-1 other than ignore_index: ArgumentError.
inline Tensor cross_entropy_each(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {}) {
  return apply<CrossEntropy>({logits, labels, options.weight}, {options.ignore_index, options.label_smoothing});
}
// Σ losses / n with n the window's target count.
inline Tensor loss_sum(const Tensor& losses, double n) { return apply<LossSum>({losses}, {n}); }
// The mean over the scored targets (weighted by weight where given), as PyTorch's cross_entropy.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});
// What becomes of the losses of the elements.
enum class Reduction { none, mean, sum };
Tensor reduced(const Tensor& losses, Reduction reduction);
// Losses of an input against a target that broadcasts with it.
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);  // (x - t)²
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);   // |x - t|
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1, Reduction reduction = Reduction::mean);  // d²/(2·beta) where |d| < beta, else |d| - beta/2
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1, Reduction reduction = Reduction::mean);     // delta times that.  Huber 1964
std::vector<Composition> loss_compositions();

// How many labels differ from ignore_index.
int64_t count_targets(const Tensor& labels, int64_t ignore_index = -100);

using LossOps = OpList<CrossEntropy, LossSum>;

}  // namespace rote

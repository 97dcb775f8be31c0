// autograd/ops/ctc.h — connectionist temporal classification: the loss of a label sequence whose alignment is not known.
#pragma once

#include "autograd/ops/regression.h"

namespace rote {

// loss[n] = -log Σ p(path) over the paths of blanks and labels that collapse to the labels of sample n.  Graves et al. 2006.
// log_probs of a sample count up to its input length, labels up to its target length; what lies behind has the gradient 0.
// of_scores: the gradient has p added, as PyTorch's has. Behind a log_softmax both give the same gradient of the scores.
struct CtcLoss {
  static constexpr Row row{.name = "ctc_loss",
                           .schema = "ctc_loss(log_probs[T,N,V], i64 labels[N,L], i64 input_lengths[N], i64 target_lengths[N], blank=0, of_scores=false) -> loss[N], wide alpha",
                           .saves = "log_probs labels input_lengths target_lengths loss alpha",
                           .once = "the posterior of its alignments is not differentiated", .autocast = Autocast::f32,
                           .samples = "T=5 N=2 L=3 V=4; T=4 N=1 L=1 V=2; T=3 N=0 L=2 V=2"};
  static void infer(Call& call);
  static void forward(Call& call);
  static void backward(Call& call);
};

struct CtcOptions {
  int64_t blank = 0;
  bool zero_infinity = false;  // targets that no path reaches cost 0 in place of infinity, and have the gradient 0
  bool of_scores = false;
};

// log_probs [T,N,V] or [T,V]; labels i64 [N,L], or all samples' labels in a row, [Σ target_lengths]; lengths i64 [N]. The mean is that of the
// losses over their target lengths (1 at least).
Tensor ctc_loss(const Tensor& log_probs, const Tensor& labels, const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
                const CtcOptions& options = {}, Reduction reduction = Reduction::mean);

std::vector<Composition> ctc_compositions();

using CtcOps = OpList<CtcLoss>;

}  // namespace rote

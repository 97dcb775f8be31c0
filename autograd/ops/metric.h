// autograd/ops/metric.h — distances between vectors and the losses that compare them. Compositions; 16-bit floats are computed in f32.
#pragma once

#include "autograd/ops/regression.h"

namespace rote {

// ‖x - y + eps‖ of order p over the last axis of the two, which broadcast.
Tensor pairwise_distance(const Tensor& x, const Tensor& y, double p = 2, double eps = 1e-6, bool keepdim = false);
// x·y / (‖x‖·‖y‖) along an axis of the two, which broadcast; a norm counts as eps at least, its derivative is that of the norm itself.
Tensor cosine_similarity(const Tensor& x, const Tensor& y, int64_t axis = 1, double eps = 1e-8);

// max(0, margin - t·(x - y)), t is 1 where x should rank higher, else -1.
Tensor margin_ranking_loss(const Tensor& x, const Tensor& y, const Tensor& target, double margin = 0, Reduction reduction = Reduction::mean);
// x where t = 1, max(0, margin - x) where t = -1.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1, Reduction reduction = Reduction::mean);
// x, y [N,C] and t [N], or [C] and []: 1 - cosine where t = 1, max(0, cosine - margin) where t = -1.
Tensor cosine_embedding_loss(const Tensor& x, const Tensor& y, const Tensor& target, double margin = 0, Reduction reduction = Reduction::mean);

struct TripletOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;  // the negative is compared with the nearer of anchor and positive.  Balntas et al. 2016
};
// max(0, margin + d(anchor, positive) - d(anchor, negative)).
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletOptions& options = {},
                           Reduction reduction = Reduction::mean);

std::vector<Composition> metric_compositions();

}  // namespace rote

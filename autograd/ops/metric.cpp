#include "autograd/ops/metric.h"

#include "autograd/boxed.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"
#include "autograd/ops/wide.h"

namespace rote {

using Inputs = std::vector<Tensor>;

Tensor pairwise_distance(const Tensor& x, const Tensor& y, double p, double eps, bool keepdim) {
  return loss_in_f32({x, y}, [&](const Inputs& in) { return norm(add(sub(in[0], in[1]), eps), p, {-1}, keepdim); });
}

namespace {

// The norm along an axis, from eps on. The derivative stays that of the norm: n - n is 0.
Tensor norm_from(const Tensor& x, int64_t axis, double eps) {
  const Tensor n = norm(x, 2, {axis}, true);
  const Tensor fixed = detach(n);
  return add(sub(n, fixed), clamp_min(fixed, eps));
}

}  // namespace

Tensor cosine_similarity(const Tensor& x, const Tensor& y, int64_t axis, double eps) {
  ROTE_CHECK(eps >= 0, ArgumentError, "cosine_similarity: eps is ", eps, "; it must be 0 or more.");
  const DType common = result_type({x, y});
  return loss_in_f32({to(x, common), to(y, common)}, [&](const Inputs& in) {
    const Shape shape = broadcast(in[0].shape(), in[1].shape(), "cosine_similarity");
    const std::vector<int64_t> wanted(shape.begin(), shape.end());
    const int at = normalize_axis(axis, shape.axes(), "cosine_similarity");
    const auto unit = [&](const Tensor& v) {
      const Tensor all = expand(v, wanted);
      return div(all, norm_from(all, at, eps));
    };
    return sum(mul(unit(in[0]), unit(in[1])), {at});
  });
}

Tensor margin_ranking_loss(const Tensor& x, const Tensor& y, const Tensor& target, double margin, Reduction reduction) {
  return loss_in_f32({x, y, target}, [&](const Inputs& in) {
    const Tensor apart = mul(neg(in[2]), sub(in[0], in[1]));
    return reduced(clamp_min(add(is_floating(apart.dtype()) ? apart : to(apart, DType::f32), margin), 0), reduction);
  });
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) {
    const Tensor zero = number_for(in[0], 0.0);
    const Tensor apart = where(ne(in[1], 1.0), clamp_min(add(neg(in[0]), margin), 0), zero);
    return reduced(add(apart, where(ne(in[1], -1.0), in[0], zero)), reduction);
  });
}

Tensor cosine_embedding_loss(const Tensor& x, const Tensor& y, const Tensor& target, double margin, Reduction reduction) {
  ROTE_CHECK(target.axes() <= 1 && x.axes() == target.axes() + 1 && y.axes() == x.axes(), ShapeError, "cosine_embedding_loss: x is ", describe(x), ", y ",
             describe(y), " and the target ", describe(target), "; they must be [N,C], [N,C] and [N], or [C], [C] and [].");
  return loss_in_f32({x, y, target}, [&](const Inputs& in) {
    constexpr double kEps = 1e-12f;  // under the root, so that vectors of zeros have a cosine of 0; of f32 in f64 too, as in PyTorch
    const auto dot = [](const Tensor& a, const Tensor& b) { return sum(mul(a, b), {-1}); };
    const Tensor squares = mul(add(dot(in[0], in[0]), kEps), add(dot(in[1], in[1]), kEps));
    const Tensor cosine = div(dot(in[0], in[1]), sqrt(squares)), zero = number_for(cosine, 0.0);
    const Tensor together = where(eq(in[2], 1.0), add(neg(cosine), 1.0), zero);
    return reduced(add(together, where(eq(in[2], -1.0), clamp_min(sub(cosine, margin), 0), zero)), reduction);
  });
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletOptions& options, Reduction reduction) {
  ROTE_CHECK(anchor.axes() == positive.axes() && anchor.axes() == negative.axes(), ShapeError, "triplet_margin_loss: the anchor is ", describe(anchor),
             ", the positive ", describe(positive), " and the negative ", describe(negative), "; all must have as many axes.");
  return loss_in_f32({anchor, positive, negative}, [&](const Inputs& in) {
    const auto distance = [&](const Tensor& x, const Tensor& y) { return pairwise_distance(x, y, options.p, options.eps); };
    const Tensor near = distance(in[0], in[1]);
    Tensor far = distance(in[0], in[2]);
    if (options.swap) far = minimum(far, distance(in[1], in[2]));
    return reduced(clamp_min(sub(add(near, options.margin), far), 0), reduction);
  });
}

std::vector<Composition> metric_compositions() {
  return {
      {"pairwise_distance", [](const Arguments& a) -> Value {
         return pairwise_distance(a.tensor("x1"), a.tensor("x2"), a.number("p"), a.number("eps"), a.flag("keepdim"));
       }},
      {"cosine_similarity", [](const Arguments& a) -> Value {
         return cosine_similarity(a.tensor("x1"), a.tensor("x2"), a.integer("dim"), a.number("eps"));
       }},
      {"margin_ranking_loss", [](const Arguments& a) -> Value {
         return margin_ranking_loss(a.tensor("input1"), a.tensor("input2"), a.tensor("target"), a.number("margin"), reduction_of(a));
       }},
      {"hinge_embedding_loss", [](const Arguments& a) -> Value {
         return hinge_embedding_loss(a.tensor("self"), a.tensor("target"), a.number("margin"), reduction_of(a));
       }},
      {"cosine_embedding_loss", [](const Arguments& a) -> Value {
         return cosine_embedding_loss(a.tensor("input1"), a.tensor("input2"), a.tensor("target"), a.number("margin"), reduction_of(a));
       }},
      {"triplet_margin_loss", [](const Arguments& a) -> Value {
         const TripletOptions options{.margin = a.number("margin"), .p = a.number("p"), .eps = a.number("eps"), .swap = a.flag("swap")};
         return triplet_margin_loss(a.tensor("anchor"), a.tensor("positive"), a.tensor("negative"), options, reduction_of(a));
       }},
  };
}

}  // namespace rote

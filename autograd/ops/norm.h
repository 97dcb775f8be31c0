// autograd/ops/norm.h — normalisation over the last axis.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct LayerNorm {  // y = (x - mean)·rstd·w + b.  Ba, Kiros & Hinton 2016, arXiv:1607.06450
  static constexpr Row row{.name = "layer_norm", .schema = "layer_norm(x[*,C], w[C]?, b[C]?, eps=1e-5) -> y[*,C], wide mean[*], wide rstd[*]", .saves = "x w mean rstd", .autocast = Autocast::f32, .samples = "*=2,3 C=4; * C=5; *=0 C=3"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// x [*,C]; w, b [C] or none. Statistics over C, in two passes.
inline Tensor layer_norm(const Tensor& x, const Tensor& w = {}, const Tensor& b = {}, double eps = 1e-5) { return apply<LayerNorm>({x, w, b}, {eps}); }

std::vector<Composition> norm_compositions();

using NormOps = OpList<LayerNorm>;

}  // namespace rote

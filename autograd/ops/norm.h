// autograd/ops/norm.h — normalisation: over the last axes (layer, RMS), over groups of channels, over the batch.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct LayerNorm {  // y = (x - mean)·rstd·w + b.  Ba, Kiros & Hinton 2016, arXiv:1607.06450
  static constexpr Row row{.name = "layer_norm", .schema = "layer_norm(x[*,C], w[C]?, b[C]?, eps=1e-5) -> y[*,C], wide mean[*], wide rstd[*]",
                           .saves = "x w mean rstd", .autocast = Autocast::f32, .samples = "*=2,3 C=4; * C=5; *=0 C=3"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);  // that of the statistics too
};

struct RmsNorm {  // y = x·rstd·w with rstd = 1/√(mean of x² + eps).  Zhang & Sennrich 2019, arXiv:1910.07467
  static constexpr Row row{.name = "rms_norm", .schema = "rms_norm(x[*,C], w[C]?, eps=1e-5) -> y[*,C], wide rstd[*]", .saves = "x w rstd",
                           .autocast = Autocast::f32, .samples = "*=2,3 C=4; * C=5; *=0 C=3"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

// y = (x - mean)·rstd·w + b with the statistics of each group of C/groups channels of a sample.  Wu & He 2018, arXiv:1803.08494
struct GroupNormOp {
  static constexpr Row row{.name = "group_norm", .schema = "group_norm(x[N,C,*], w[C]?, b[C]?, groups, eps=1e-5) -> y, wide mean, wide rstd",
                           .saves = "x w mean rstd", .autocast = Autocast::f32,
                           .samples = "N=2 C=4 *=3 groups=2; N=2 C=3 * groups=1; N=1 C=4 *=2,2 groups=4; N=0 C=2 *=2 groups=2"};
  static void infer(Call& call);
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);  // that of the statistics too
};

// y = (x - mean)/√(var + eps)·w + b of each channel, in training with the mean and the variance of the batch, else with those given. Its sums
// over samples depend on how a batch is cut into micro-batches.  Ioffe & Szegedy 2015, arXiv:1502.03167
struct BatchNormOp {
  static constexpr Row row{.name = "batch_norm",
                           .schema = "batch_norm(x[N,C,*], w[C]?, b[C]?, given_mean[C]?, given_var[C]?, training, eps=1e-5) -> y[N,C,*], wide mean[C], wide var[C]",
                           .saves = "x w mean var", .constants = "given_mean given_var", .autocast = Autocast::f32,
                           .samples = "N=2 C=3 *=2,2 training=false; N=3 C=2 *=4 training=true; N=4 C=5 * training=true; N=3 C=2 * training=false",
                           .low = 0.5, .high = 2};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

// x [*,C]; w, b [C] or none. Statistics over C, in two passes.
inline Tensor layer_norm(const Tensor& x, const Tensor& w = {}, const Tensor& b = {}, double eps = 1e-5) { return apply<LayerNorm>({x, w, b}, {eps}); }
inline Tensor rms_norm(const Tensor& x, const Tensor& w = {}, double eps = 1e-5) { return apply<RmsNorm>({x, w}, {eps}); }

// x [N,C,*]; w, b [C] or none.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& w = {}, const Tensor& b = {}, double eps = 1e-5);

// A batch norm's parameters and statistics [C], each may be none. In training the statistics are written: (1 - momentum)·old + momentum·new.
struct ChannelState {
  Tensor w = {}, b = {}, running_mean = {}, running_var = {};
};
struct BatchNormOptions {
  bool training = false;
  double momentum = 0.1, eps = 1e-5;
};
Tensor batch_norm(const Tensor& x, const ChannelState& state, const BatchNormOptions& options = {});
// Each channel of each sample by its own statistics; without `training` by the running ones.  Ulyanov et al. 2016, arXiv:1607.08022
Tensor instance_norm(const Tensor& x, const ChannelState& state, const BatchNormOptions& options = {.training = true});

std::vector<Composition> norm_compositions();

using NormOps = OpList<LayerNorm, RmsNorm, GroupNormOp, BatchNormOp>;

}  // namespace rote

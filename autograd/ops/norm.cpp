#include "autograd/ops/norm.h"

#include <limits>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/mode.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"
#include "autograd/ops/wide.h"
#include "kernels/rare_table.h"

namespace rote {

namespace {

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

// Gradients of a row kernel's inputs, made where they are wanted.
template <class Real>
Real* made(Call& call, int i) {
  if (!call.wants(i)) return nullptr;
  Tensor& dx = call.din[static_cast<size_t>(i)];
  dx = empty(call.in_shapes[static_cast<size_t>(i)], {.dtype = DTypeOf<Real>::value});
  return dx.data<Real>();
}

Tensor sum_over_rows(const Tensor& x) {
  std::vector<int64_t> lead(static_cast<size_t>(x.axes()) - 1);
  std::iota(lead.begin(), lead.end(), 0);
  return lead.empty() ? x : sum(x, lead);
}

Tensor last_mean(const Tensor& x) { return mean(x, {-1}, true); }

// dx of h = d·rstd with d = x - mean and rstd = 1/√(mean of d² + eps) over the last axis, from the gradients of h, mean and rstd, of which the
// latter two may be none; without `centred` nothing is subtracted.
Tensor normal_gradient(const Tensor& h, const Tensor& rstd, const Tensor& dh, const Tensor& dmean, const Tensor& drstd, bool centred) {
  const double n = static_cast<double>(h.size(-1));
  Tensor inner = sub(dh, mul(h, last_mean(mul(dh, h))));
  if (centred) inner = sub(inner, last_mean(dh));
  if (drstd.defined()) inner = sub(inner, mul(h, div(mul(rstd, unsqueeze(drstd, -1)), n)));
  const Tensor dx = mul(rstd, inner);
  return dmean.defined() ? add(dx, div(unsqueeze(dmean, -1), n)) : dx;
}

Tensor first_gradient(const Call& call) { return call.dout[0].defined() ? call.dout[0] : zeros(call.in_shapes[0], {.dtype = call.in[0].dtype()}); }

// Gradients of y = h·w + b, in ops.
void norm_gradients(Call& call, const Tensor& dmean, const Tensor& drstd, bool centred) {
  const Tensor &x = call.in[0], &w = call.in[1], dy = first_gradient(call);
  const Tensor d = centred ? sub(x, last_mean(x)) : x;
  const Tensor rstd = rsqrt(add(last_mean(square(d)), call.number(0)));
  const Tensor h = mul(d, rstd);
  if (call.wants(0)) call.din[0] = normal_gradient(h, rstd, w.defined() ? mul(dy, w) : dy, dmean, drstd, centred);
  if (call.wants(1)) call.din[1] = sum_over_rows(mul(dy, h));
  if (centred && call.wants(2)) call.din[2] = sum_over_rows(dy);
}

template <class Real>
void norm_forward(Call& call, const Tensor& b, Real* mean, Real* rstd) {
  const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), shift = plain(b);
  const int64_t C = x.size(-1), rows = call.out[1].numel();
  call.saw(kernels<Real>().layer_norm(rows, C, static_cast<Real>(call.number(0)), x.data<Real>(), values<Real>(w), values<Real>(shift),
                                      call.out[0].data<Real>(), mean, rstd));
}

template <class Real>
void norm_backward(Call& call, const Real* mean, const Real* rstd, Real* db) {
  const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), dy = contiguous(call.dout[0]);
  const int64_t C = x.size(-1), rows = call.out[1].numel();
  Real *dx = made<Real>(call, 0), *dw = made<Real>(call, 1);
  call.saw(kernels<Real>().layer_norm_backward(rows, C, call.leaf(0, rows), x.data<Real>(), values<Real>(w), mean, rstd, dy.data<Real>(), dx, dw, db));
}

}  // namespace

void LayerNorm::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    norm_forward<Real>(call, call.in[2], call.out[1].data<Real>(), call.out[2].data<Real>());
  });
}

void LayerNorm::backward(Call& call) {
  if (call.dout[1].defined() || call.dout[2].defined()) return backward_in_ops(call);
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    norm_backward<Real>(call, call.out[1].data<Real>(), call.out[2].data<Real>(), made<Real>(call, 2));
  });
}

void LayerNorm::backward_in_ops(Call& call) { norm_gradients(call, call.dout[1], call.dout[2], true); }

void RmsNorm::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    norm_forward<Real>(call, {}, nullptr, call.out[1].data<Real>());
  });
}

void RmsNorm::backward(Call& call) {
  if (call.dout[1].defined()) return backward_in_ops(call);
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    norm_backward<Real>(call, nullptr, call.out[1].data<Real>(), nullptr);
  });
}

void RmsNorm::backward_in_ops(Call& call) { norm_gradients(call, {}, call.dout[1], false); }

namespace {

template <class Real>
GroupNorm<Real> grouped(const Call& call, const Tensor& x, const Tensor& w) {
  const Shape& shape = call.in_shapes[0];
  GroupNorm<Real> norm;
  norm.N = shape[0], norm.C = shape[1], norm.S = shape.slice(2, shape.axes()).numel();
  norm.groups = call.integer(0);
  norm.eps = static_cast<Real>(call.number(1));
  norm.x = x.data<Real>(), norm.w = values<Real>(w);
  norm.mean = call.out[1].data<Real>(), norm.rstd = call.out[2].data<Real>();
  return norm;
}

}  // namespace

void GroupNormOp::infer(Call& call) {
  const Shape& shape = call.in_shapes[0];
  const int64_t C = shape[1], groups = call.integer(0);
  ROTE_CHECK(groups > 0 && C > 0 && C % groups == 0, ShapeError, "group_norm: the ", C, " channels of x, ", describe(call.in[0]), ", do not make ", groups, " groups.");
  const DType dtype = call.in[0].dtype();
  call.out[0] = empty(shape, {.dtype = dtype});
  for (const size_t i : {1u, 2u}) call.out[i] = empty({shape[0], groups}, {.dtype = dtype});
}

void GroupNormOp::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), b = plain(call.in[2]);
    GroupNorm<Real> norm = grouped<Real>(call, x, w);
    norm.b = values<Real>(b), norm.y = call.out[0].data<Real>();
    call.saw(rare_kernels<GroupNormTable, Real>().group_norm(norm));
  });
}

void GroupNormOp::backward(Call& call) {
  if (call.dout[1].defined() || call.dout[2].defined()) return backward_in_ops(call);
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), dy = contiguous(call.dout[0]);
    Real *dx = made<Real>(call, 0), *dw = made<Real>(call, 1), *db = made<Real>(call, 2);
    call.saw(rare_kernels<GroupNormTable, Real>().group_norm_backward(
        {.forward = grouped<Real>(call, x, w), .leaf = call.leaf(0, x.size(0)), .dy = dy.data<Real>(), .dx = dx, .dw = dw, .db = db}));
  });
}

void GroupNormOp::backward_in_ops(Call& call) {
  const Tensor &x = call.in[0], &w = call.in[1];
  const int64_t N = x.size(0), C = x.size(1), S = x.shape().slice(2, x.axes()).numel(), groups = call.integer(0);
  const std::vector<int64_t> by_channel = {N, C, S}, by_group = {N, groups, C / groups * S};
  const Tensor rows = reshape(x, by_group), dy = reshape(first_gradient(call), by_channel);
  const Tensor d = sub(rows, last_mean(rows));
  const Tensor rstd = rsqrt(add(last_mean(square(d)), call.number(1)));
  const Tensor h = mul(d, rstd);
  if (call.wants(0)) {
    const Tensor dh = reshape(w.defined() ? mul(dy, reshape(w, {C, 1})) : dy, by_group);
    call.din[0] = reshape(normal_gradient(h, rstd, dh, call.dout[1], call.dout[2], true), sizes(x.shape()));
  }
  if (call.wants(1)) call.din[1] = sum(mul(dy, reshape(h, by_channel)), {0, 2});
  if (call.wants(2)) call.din[2] = sum(dy, {0, 2});
}

namespace {

template <class Real>
BatchNorm<Real> described(const Call& call, const Tensor& x, const Tensor& w) {
  const Shape& shape = call.in_shapes[0];
  BatchNorm<Real> norm;
  norm.N = shape[0], norm.C = shape[1], norm.S = shape.slice(2, shape.axes()).numel();
  norm.leaf = call.leaf(0, norm.N);
  norm.training = call.flag(0);
  norm.eps = static_cast<Real>(call.number(1));
  norm.x = x.data<Real>(), norm.w = values<Real>(w);
  norm.mean = call.out[1].data<Real>(), norm.var = call.out[2].data<Real>();
  return norm;
}

}  // namespace

void BatchNormOp::forward(Call& call) {
  if (!call.flag(0)) {
    for (const size_t i : {3u, 4u}) {
      ROTE_CHECK(call.in[i].defined(), ArgumentError, "batch_norm: ", i == 3 ? "running_mean" : "running_var",
                 " is none; outside of training the statistics must be given.");
      copy_elements(call.out[i - 2], call.in[i]);
    }
  }
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), b = plain(call.in[2]);
    BatchNorm<Real> norm = described<Real>(call, x, w);
    norm.b = values<Real>(b), norm.y = call.out[0].data<Real>();
    call.saw(rare_kernels<BatchNormTable, Real>().batch_norm(norm));
  });
}

void BatchNormOp::backward(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "batch_norm: its statistics have no derivative; use mean() and var().");
  with_real(call, call.dout[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = plain(call.in[1]), dy = contiguous(call.dout[0]);
    Real *dx = made<Real>(call, 0), *dw = made<Real>(call, 1), *db = made<Real>(call, 2);
    call.saw(rare_kernels<BatchNormTable, Real>().batch_norm_backward({.forward = described<Real>(call, x, w), .dy = dy.data<Real>(), .dx = dx, .dw = dw, .db = db}));
  });
}

void BatchNormOp::backward_in_ops(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "batch_norm: its statistics have no derivative; use mean() and var().");
  const Tensor &x = call.in[0], &w = call.in[1], &dy = call.dout[0];
  const bool training = call.flag(0);
  std::vector<int64_t> axes = {0}, of_channel(static_cast<size_t>(x.axes()), 1);
  for (int64_t i = 2; i < x.axes(); ++i) axes.push_back(i);
  of_channel[1] = x.size(1);
  const auto middle = [&](const Tensor& t) { return mean(t, axes, true); };
  const Tensor d = sub(x, training ? middle(x) : reshape(detach(call.out[1]), of_channel));
  const Tensor rstd = rsqrt(add(training ? middle(square(d)) : reshape(detach(call.out[2]), of_channel), call.number(1)));
  const Tensor h = mul(d, rstd);
  if (call.wants(0)) {
    const Tensor g = training ? sub(sub(dy, middle(dy)), mul(h, middle(mul(dy, h)))) : dy;
    call.din[0] = mul(g, w.defined() ? mul(rstd, reshape(w, of_channel)) : rstd);
  }
  if (call.wants(1)) call.din[1] = sum(mul(dy, h), axes);
  if (call.wants(2)) call.din[2] = sum(dy, axes);
}

namespace {

void check_channels(const char* who, const char* name, const Tensor& p, int64_t C) {
  ROTE_CHECK(!p.defined() || (p.axes() == 1 && p.size(0) == C), ShapeError, who, ": ", name, " is ", describe(p), "; it must be [", C, "].");
}

// Everything in f32 where dtypes differ or have 16 bits; `narrow` gives results x's dtype again.
struct Wide {
  DType dtype, own;
  Wide(const Tensor& x, const std::vector<Tensor>& others) : dtype(x.dtype()), own(x.dtype()) {
    if (size_of(own) == 2) dtype = DType::f32;
    for (const Tensor& p : others)
      if (p.defined() && p.dtype() == DType::f64) dtype = DType::f64;
  }
  Tensor operator()(const Tensor& x) const { return x.defined() ? to(x, dtype) : x; }
  Tensor narrow(const Tensor& y) const { return to(y, own); }
};

}  // namespace

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& w, const Tensor& b, double eps) {
  const Wide wide(x, {w, b});
  return wide.narrow(apply<GroupNormOp>({wide(x), wide(w), wide(b)}, {groups, eps}));
}

namespace {

// A running statistic moves toward the batch's.
void follow(const Tensor& running, const Tensor& batch, double momentum) {
  if (!running.defined()) return;
  const Tensor now = converted(running, batch.dtype());
  copy_(running, to(add(mul(now, 1 - momentum), mul(batch, momentum)), running.dtype()));
}

// y and, in training, the mean and variance of the batch.
std::vector<Tensor> batch_norm_with_statistics(const Tensor& x, const ChannelState& state, const BatchNormOptions& options) {
  constexpr const char* kWho = "batch_norm";
  const auto& [w, b, running_mean, running_var] = state;
  if (x.numel() == 0) {  // nothing to normalise; what has a gradient gets zeros
    Tensor y = x;
    if (w.defined() && w.numel() > 0) y = mul(y, select(w, 0, 0));
    if (b.defined() && b.numel() > 0) y = add(y, select(b, 0, 0));
    return {y, zeros({0}), zeros({0})};
  }
  ROTE_CHECK(x.axes() >= 2, ShapeError, kWho, ": x is ", describe(x), "; it must be [N,C,*].");
  const int64_t C = x.size(1);
  check_channels(kWho, "w", w, C);
  check_channels(kWho, "b", b, C);
  check_channels(kWho, "running_mean", running_mean, C);
  check_channels(kWho, "running_var", running_var, C);
  const bool training = options.training;
  ROTE_CHECK(!training || x.numel() != C, ShapeError, kWho, ": x is ", describe(x), "; training needs more than one value a channel, for a variance.");
  const Wide wide(x, {w, b});
  std::vector<Tensor> out = apply_all<BatchNormOp>({wide(x), wide(w), wide(b), training ? Tensor() : wide(running_mean), training ? Tensor() : wide(running_var)},
                                                   {training, options.eps});
  if (training) {
    const NoGrad guard;
    const double n = static_cast<double>(x.numel() / C);
    follow(running_mean, out[1], options.momentum);
    follow(running_var, mul(out[2], n / (n - 1)), options.momentum);
  }
  out[0] = wide.narrow(out[0]);
  return out;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const ChannelState& state, const BatchNormOptions& options) { return batch_norm_with_statistics(x, state, options)[0]; }

Tensor instance_norm(const Tensor& x, const ChannelState& state, const BatchNormOptions& options) {
  constexpr const char* kWho = "instance_norm";
  ROTE_CHECK(x.axes() >= 2, ShapeError, kWho, ": x is ", describe(x), "; it must be [N,C,*].");
  ROTE_CHECK(options.training || (state.running_mean.defined() && state.running_var.defined()), ArgumentError, kWho,
             ": running_mean or running_var is none; outside of training the statistics must be given.");
  const int64_t N = x.size(0), C = x.size(1);
  // The channels of all samples side by side, as the channels of one.
  const auto repeated = [&](const char* name, const Tensor& p) {
    check_channels(kWho, name, p, C);
    return p.defined() ? reshape(expand(p, {N, C}), {N * C}) : p;
  };
  const auto copied = [&](const char* name, const Tensor& p) {
    const NoGrad guard;
    return p.defined() ? clone(to(repeated(name, p), p.dtype() == DType::f64 ? DType::f64 : DType::f32)) : p;
  };
  const ChannelState all{repeated("w", state.w), repeated("b", state.b), copied("running_mean", state.running_mean), copied("running_var", state.running_var)};
  std::vector<int64_t> shape = sizes(x.shape());
  shape[0] = 1, shape[1] = N * C;
  const Tensor y = reshape(batch_norm(reshape(x, shape), all, options), sizes(x.shape()));
  const NoGrad guard;
  if (options.training && N > 0) {
    if (state.running_mean.defined()) copy_(state.running_mean, mean(reshape(all.running_mean, {N, C}), {0}));
    if (state.running_var.defined()) copy_(state.running_var, mean(reshape(all.running_var, {N, C}), {0}));
  }
  return y;
}

namespace {

// Over the trailing axes that normalized_shape names, as one axis.
struct Trailing {
  Tensor rows, w, b;
  Wide wide;
  std::vector<int64_t> shape, statistics;  // of y; of mean and rstd

  Trailing(const Arguments& a, const Tensor& bias) : w(a.tensor_or_none("weight")), b(bias), wide(a.tensor("input"), {w, b}) {
    const Tensor x = a.tensor("input");
    const Shape trailing(a.list("normalized_shape"));
    const int lead = x.axes() - trailing.axes();
    ROTE_CHECK(trailing.axes() > 0 && lead >= 0 && x.shape().slice(lead, x.axes()) == trailing, ShapeError, a.op(), ": input is ", describe(x),
               " but normalized_shape ", trailing, "; input must end in it.");
    for (const Tensor* p : {&w, &b})
      ROTE_CHECK(!p->defined() || p->shape() == trailing, ShapeError, a.op(), ": ", p == &w ? "weight" : "bias", " is ", describe(*p), "; it must be ", trailing, ".");
    const auto joined = [&](const Tensor& p) { return p.defined() ? wide(flatten(p)) : p; };
    rows = wide(trailing.axes() == 1 ? x : flatten(x, lead, -1));
    w = joined(w), b = joined(b);
    shape = sizes(x.shape());
    statistics.assign(shape.begin(), shape.begin() + lead);
    statistics.resize(shape.size(), 1);
  }
  Tensor result(const Tensor& y) const { return wide.narrow(reshape(y, shape)); }
};

std::vector<Tensor> layer_normed(const Arguments& a) {
  const Trailing t(a, a.tensor_or_none("bias"));
  const std::vector<Tensor> out = apply_all<LayerNorm>({t.rows, t.w, t.b}, {a.number("eps")});
  return {t.result(out[0]), t.wide.narrow(reshape(out[1], t.statistics)), t.wide.narrow(reshape(out[2], t.statistics))};
}

ChannelState state_of(const Arguments& a) {
  return {a.tensor_or_none("weight"), a.tensor_or_none("bias"), a.tensor_or_none("running_mean"), a.tensor_or_none("running_var")};
}

}  // namespace

std::vector<Composition> norm_compositions() {
  return {
      {"layer_norm", [](const Arguments& a) -> Value {
         a.ignore("cudnn_enable");
         return layer_normed(a)[0];
       }},
      {"native_layer_norm", [](const Arguments& a) -> Value { return layer_normed(a); }},
      {"rms_norm", [](const Arguments& a) -> Value {
         const Trailing t(a, {});
         // Without eps it is the step of the numbers computed in.
         const double step = t.wide.dtype == DType::f64 ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
         return t.result(rms_norm(t.rows, t.w, a.given("eps") ? a.number("eps") : step));
       }},
      {"group_norm", [](const Arguments& a) -> Value {
         a.ignore("cudnn_enabled");
         return group_norm(a.tensor("input"), a.integer("num_groups"), a.tensor_or_none("weight"), a.tensor_or_none("bias"), a.number("eps"));
       }},
      {"native_group_norm", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("input");
         const int64_t N = a.integer("N"), C = a.integer("C"), S = a.integer("HxW");
         ROTE_CHECK(x.axes() >= 2 && x.size(0) == N && x.size(1) == C && x.numel() == N * C * S, ShapeError, a.op(), ": input is ", describe(x), " but N, C, HxW are ",
                    N, ", ", C, ", ", S, "; they are its sizes.");
         const Tensor w = a.tensor_or_none("weight"), b = a.tensor_or_none("bias");
         const Wide wide(x, {w, b});
         std::vector<Tensor> out = apply_all<GroupNormOp>({wide(x), wide(w), wide(b)}, {a.integer("group"), a.number("eps")});
         for (Tensor& y : out) y = wide.narrow(y);
         return out;
       }},
      {"batch_norm", [](const Arguments& a) -> Value {
         a.ignore("cudnn_enabled");
         return batch_norm(a.tensor("input"), state_of(a), {.training = a.flag("training"), .momentum = a.number("momentum"), .eps = a.number("eps")});
       }},
      {"native_batch_norm", [](const Arguments& a) -> Value {
         const double eps = a.number("eps");
         const bool training = a.flag("training");
         const std::vector<Tensor> out = batch_norm_with_statistics(a.tensor("input"), state_of(a), {.training = training, .momentum = a.number("momentum"), .eps = eps});
         if (!training) return std::vector<Tensor>{out[0], zeros({0}, {.dtype = out[1].dtype()}), zeros({0}, {.dtype = out[1].dtype()})};
         const NoGrad guard;
         return std::vector<Tensor>{out[0], detach(out[1]), rsqrt(add(detach(out[2]), eps))};
       }},
      {"instance_norm", [](const Arguments& a) -> Value {
         a.ignore("cudnn_enabled");
         const BatchNormOptions options{.training = a.flag("use_input_stats"), .momentum = a.number("momentum"), .eps = a.number("eps")};
         return instance_norm(a.tensor("input"), state_of(a), options);
       }},
  };
}

}  // namespace rote

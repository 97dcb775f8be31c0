#include "autograd/ops/loss.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/stored.h"
#include "autograd/ops/view.h"
#include "autograd/ops/wide.h"
#include "kernels/pool.h"
#include "kernels/scratch.h"
#include "tensor/launch.h"

namespace rote {

namespace {

void check_labels(const Call& call, int64_t V, int64_t ignored) {
  const Tensor labels = contiguous(call.in[1]);
  const int64_t* label = labels.data<int64_t>();
  for (int64_t i = 0; i < labels.numel(); ++i)
    ROTE_CHECK((label[i] >= 0 && label[i] < V) || label[i] == ignored, ArgumentError, call.op->row.name, ": label ", label[i], " at element ", i,
               " but there are ", V, " classes; labels lie in 0…", V - 1, " or are ", ignored, " (not scored).");
}

// f(element, label) for each label that is scored.
template <class F>
void each_scored(const Tensor& labels, int64_t ignored, F&& f) {
  const Tensor plain = contiguous(labels);
  const int64_t* label = plain.data<int64_t>();
  for (int64_t i = 0; i < plain.numel(); ++i)
    if (label[i] != ignored) f(i, label[i]);
}

// bool [*,V]: true at the labels that are scored.
Tensor at_labels(const Tensor& labels, int64_t V, int64_t ignored) {
  Shape shape = labels.shape();
  shape.append(V);
  const Tensor hit = zeros(shape, {.dtype = DType::boolean});
  each_scored(labels, ignored, [&](int64_t i, int64_t label) { hit.data<bool>()[i * V + label] = true; });
  return hit;
}

// [*]: `sign` times each label's weight (1 where there are none), 0 where it is not scored.
Tensor label_weights(const Tensor& labels, const Tensor& weight, int64_t ignored, double sign, DType dtype) {
  const Tensor of_label = zeros(labels.shape(), {.dtype = DType::f64});
  const Tensor wide = weight.defined() ? contiguous(converted(weight, DType::f64)) : weight;
  each_scored(labels, ignored, [&](int64_t i, int64_t label) { of_label.data<double>()[i] = sign * (wide.defined() ? wide.data<double>()[label] : 1); });
  return converted(of_label, dtype);
}

// What a mean over the targets divides by.
double target_weight(const Tensor& labels, const CrossEntropyOptions& options) {
  const Tensor weights = label_weights(labels, options.weight, options.ignore_index, 1, DType::f64);
  double n = 0;
  for (int64_t i = 0; i < weights.numel(); ++i) n += weights.data<double>()[i];
  return n;
}

Tensor reduced_targets(const Tensor& losses, const Tensor& labels, const CrossEntropyOptions& options, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return loss_sum(losses, reduction == Reduction::mean ? target_weight(labels, options) : 1);
}

}  // namespace

namespace {

// f(first, n, room) for some rows of V elements at a time, with room for them. Returns the largest word.
template <class Real, class F>
uint32_t in_row_blocks(int64_t rows, int64_t V, const F& f) {
  const int64_t block = std::max<int64_t>(1, 65536 / std::max<int64_t>(V, 1));
  return parallel((rows + block - 1) / block, [&](int64_t task) -> uint32_t {
    const int64_t first = task * block, n = std::min(block, rows - first);
    Real* const room = static_cast<Real*>(take_scratch(n * V * static_cast<int64_t>(sizeof(Real))));
    const uint32_t word = f(first, n, room);
    give_scratch(room);
    return word;
  });
}

}  // namespace

void CrossEntropy::forward(Call& call) {
  const Tensor labels = contiguous(call.in[1]);
  const int64_t V = call.in[0].size(-1);
  check_labels(call, V, call.integer(0));
  with_wide_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor& x = call.in[0];
    const Tensor weight = plain(as_reals(call, call.in[2]));
    const auto compute = [&](int64_t first, int64_t n, const Real* logits) {
      return kernels<Real>().cross_entropy(n, V, logits, labels.data<int64_t>() + first, call.integer(0), values<Real>(weight), static_cast<Real>(call.number(1)),
                                           call.out[0].data<Real>() + first, call.out[1].data<Real>() + first);
    };
    if (x.dtype() == DTypeOf<Real>::value) return call.saw(compute(0, labels.numel(), contiguous(x).template data<Real>()));
    const BlockSource from(x, x.shape());
    call.saw(in_row_blocks<Real>(labels.numel(), V, [&](int64_t first, int64_t n, Real* room) {
      gather(from, first * V, n * V, room);
      return compute(first, n, room);
    }));
  });
}

void CrossEntropy::backward(Call& call) {
  if (!call.wants(0)) return;
  with_real(call, call.out[1].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor& x = call.in[0];
    const Tensor labels = contiguous(call.in[1]), weight = plain(as_reals(call, call.in[2])), dloss = contiguous(call.dout[0]);
    const Tensor dx = call.din[0] = empty(x.shape(), {.dtype = x.dtype()});
    const int64_t V = x.size(-1);
    const auto compute = [&](int64_t first, int64_t n, const Real* logits, Real* out) {
      return kernels<Real>().cross_entropy_backward(n, V, logits, labels.data<int64_t>() + first, call.integer(0), values<Real>(weight), static_cast<Real>(call.number(1)),
                                                    call.out[1].data<Real>() + first, dloss.data<Real>() + first, out);
    };
    if (x.dtype() == DTypeOf<Real>::value) return call.saw(compute(0, labels.numel(), contiguous(x).template data<Real>(), dx.data<Real>()));
    const BlockSource from(x, x.shape()), to(dx, dx.shape());
    call.saw(in_row_blocks<Real>(labels.numel(), V, [&](int64_t first, int64_t n, Real* room) {
      gather(from, first * V, n * V, room);
      const uint32_t word = compute(first, n, room, room);
      scatter(to, first * V, n * V, room);
      return word;
    }));
  });
}

// dlogits = dloss·(p·Σt - t) with t_c = w_c·s/V + [c = label]·w_label·(1 - s).
void CrossEntropy::backward_in_ops(Call& call) {
  const Tensor &x = call.in[0], &labels = call.in[1], &weight = call.in[2];
  const int64_t V = x.size(-1), ignored = call.integer(0);
  const double s = call.number(1);
  const Tensor own = mul(label_weights(labels, weight, ignored, 1, x.dtype()), 1 - s);
  const Tensor others = weight.defined() ? mul(weight, s / static_cast<double>(V)) : full({V}, s / static_cast<double>(V), {.dtype = x.dtype()});
  const Tensor hit = at_labels(labels, V, ignored), zero = scalar(0, x.dtype());
  const Tensor target = add(others, where(hit, unsqueeze(own, -1), zero));
  const Tensor dx = mul(sub(mul(softmax(x), sum(target, {-1}, true)), target), unsqueeze(call.dout[0], -1));
  call.din[0] = where(unsqueeze(ne(labels, static_cast<double>(ignored)), -1), dx, zero);
}

void NllLoss::forward(Call& call) {
  const int64_t V = call.in[0].size(-1), ignored = call.integer(0);
  check_labels(call, V, ignored);
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), weight = plain(call.in[2]);
    const Real *in = x.data<Real>(), *w = values<Real>(weight);
    Real* loss = call.out[0].data<Real>();
    std::fill_n(loss, call.out[0].numel(), Real(0));
    Real largest = 0;
    each_scored(call.in[1], ignored, [&](int64_t i, int64_t label) {
      loss[i] = -in[i * V + label] * (w != nullptr ? w[label] : Real(1));
      const Real size = std::abs(loss[i]);
      if (!(size <= largest)) largest = size;
    });
    call.saw(std::bit_cast<uint32_t>(static_cast<float>(largest)) & 0x7FFFFFFFu);
  });
}

void NllLoss::backward(Call& call) {
  const Tensor &labels = call.in[1], &dloss = call.dout[0];
  const Shape& shape = call.in_shapes[0];
  const int64_t ignored = call.integer(0);
  const Tensor each = mul(dloss, label_weights(labels, call.in[2], ignored, -1, dloss.dtype()));
  call.din[0] = where(at_labels(labels, shape[shape.axes() - 1], ignored), unsqueeze(each, -1), scalar(0, dloss.dtype()));
}

void LossSum::forward(Call& call) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    Real* y = call.out[0].data<Real>();
    call.saw(kernels<Real>().sum_columns(x.numel(), 1, call.leaf(0, x.numel()), x.data<Real>(), y));
    *y /= static_cast<Real>(call.number(0));
  });
}

void LossSum::backward(Call& call) {
  const Shape& shape = call.in_shapes[0];
  call.din[0] = expand(div(call.dout[0], call.number(0)), {shape.begin(), shape.end()});
}

int64_t count_targets(const Tensor& labels, int64_t ignore_index) {
  int64_t n = 0;
  each_scored(labels, ignore_index, [&](int64_t, int64_t) { ++n; });
  return n;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options, Reduction reduction) {
  return loss_in_f32({logits, options.weight}, [&](const std::vector<Tensor>& in) {
    const CrossEntropyOptions wide{in[1], options.ignore_index, options.label_smoothing};
    return reduced_targets(cross_entropy_each(in[0], labels, wide), labels, wide, reduction);
  });
}

Tensor cross_entropy_of_probabilities(const Tensor& logits, const Tensor& probabilities, const CrossEntropyOptions& options, Reduction reduction) {
  ROTE_CHECK(probabilities.shape() == logits.shape(), ShapeError, "cross_entropy: the target is ", describe(probabilities),
             "; probabilities must have the shape of the logits, ", describe(logits), ".");
  return loss_in_f32({logits, probabilities, options.weight}, [&](const std::vector<Tensor>& in) {
    const double s = options.label_smoothing;
    const Tensor t = s > 0 ? add(mul(in[1], 1 - s), s / static_cast<double>(logits.size(-1))) : in[1];
    Tensor terms = mul(t, log_softmax(in[0]));
    if (in[2].defined()) {
      ROTE_CHECK(in[2].axes() == 1 && in[2].size(0) == logits.size(-1), ShapeError, "cross_entropy: weight is ", describe(in[2]), "; it must be [",
                 logits.size(-1), "].");
      terms = mul(terms, in[2]);
    }
    const Tensor losses = neg(sum(terms, {-1}));
    return reduction == Reduction::mean ? div(sum(losses), static_cast<double>(losses.numel())) : reduced(losses, reduction);
  });
}

Tensor nll_loss(const Tensor& x, const Tensor& labels, const CrossEntropyOptions& options, Reduction reduction) {
  return loss_in_f32({x, options.weight}, [&](const std::vector<Tensor>& in) {
    const CrossEntropyOptions wide{in[1], options.ignore_index, 0};
    return reduced_targets(apply<NllLoss>({in[0], labels, in[1]}, {options.ignore_index}), labels, wide, reduction);
  });
}

namespace {

constexpr int64_t kNoLabel = std::numeric_limits<int64_t>::min();  // where every label is scored

// [N,V] of an input [N,V], [V] or []; the classes must be there.
Tensor as_rows(const Tensor& x, const char* who) {
  ROTE_CHECK(x.axes() <= 2 && (x.axes() == 0 || x.size(-1) > 0), ShapeError, who, ": x is ", describe(x), "; it must be [N,V] or [V] with a class at least.");
  return x.axes() == 2 ? x : reshape(x, {1, x.numel()});
}

}  // namespace

Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, const MarginOptions& options, Reduction reduction) {
  constexpr const char* kWho = "multi_margin_loss";
  const int64_t p = options.p;
  ROTE_CHECK(p == 1 || p == 2, ArgumentError, kWho, ": p is ", p, "; it is 1 or 2.");
  const Tensor rows = as_rows(x, kWho);
  const int64_t N = rows.size(0), V = rows.size(1);
  ROTE_CHECK(labels.axes() <= 1 && labels.numel() == N, ShapeError, kWho, ": labels is ", describe(labels), " but x is ", describe(x), "; labels must be [", N, "].");
  const Tensor& w = options.weight;
  ROTE_CHECK(!w.defined() || (w.axes() == 1 && w.size(0) == V), ShapeError, kWho, ": weight is ", describe(w), "; it must be [", V, "].");
  return loss_in_f32({rows, w}, [&](const std::vector<Tensor>& in) {
    const Tensor of_row = reshape(labels, {N});
    const Tensor own = neg(apply<NllLoss>({in[0], of_row, Tensor()}, {kNoLabel}));
    const Tensor over = relu(add(sub(in[0], unsqueeze(own, -1)), options.margin));
    Tensor losses = where(at_labels(of_row, V, kNoLabel), number_for(over, 0.0), p == 2 ? square(over) : over);
    if (in[1].defined()) losses = mul(losses, unsqueeze(label_weights(of_row, in[1], kNoLabel, 1, losses.dtype()), -1));
    losses = div(sum(losses, {-1}), static_cast<double>(V));
    return reduced(reshape(losses, {labels.shape().begin(), labels.shape().end()}), reduction);
  });
}

Tensor multilabel_margin_loss(const Tensor& x, const Tensor& labels, Reduction reduction) {
  constexpr const char* kWho = "multilabel_margin_loss";
  const Tensor rows = as_rows(x, kWho);
  const int64_t N = rows.size(0), V = rows.size(1);
  ROTE_CHECK(labels.shape() == x.shape(), ShapeError, kWho, ": labels is ", describe(labels), " but x is ", describe(x), "; the shapes must be equal.");
  ROTE_CHECK(labels.dtype() == DType::i64, DTypeError, kWho, ": labels is ", describe(labels), "; it must be i64.");
  // How often each class is a label of its row.
  const Tensor count = zeros({N, V}, {.dtype = DType::f32}), given = contiguous(labels);
  for (int64_t n = 0; n < N; ++n)
    for (int64_t i = 0; i < V; ++i) {
      const int64_t label = given.data<int64_t>()[n * V + i];
      if (label == -1) break;
      ROTE_CHECK(label >= 0 && label < V, ArgumentError, kWho, ": label ", label, " in row ", n, " but there are ", V, " classes; labels lie in 0…", V - 1,
                 ", and -1 ends them.");
      count.data<float>()[n * V + label] += 1;
    }
  return loss_in_f32({rows}, [&](const std::vector<Tensor>& in) {
    const Tensor own = unsqueeze(count, 2), other = unsqueeze(eq(count, 0.0), 1);
    const Tensor over = relu(add(sub(unsqueeze(in[0], 1), unsqueeze(in[0], 2)), 1.0));  // [N, label, class]
    const Tensor counted = where(logical_and(own, other), mul(over, to(own, over.dtype())), number_for(over, 0.0));
    const Tensor losses = div(sum(counted, {1, 2}), static_cast<double>(V));
    return reduced(x.axes() == 2 ? losses : reshape(losses, {}), reduction);
  });
}

namespace {

// [N,V,...] with the classes last, or [V].
Tensor classes_last(const Tensor& x) { return x.axes() <= 2 ? x : movedim(x, {1}, {-1}); }

Tensor logits_of(const Arguments& a) {
  const Tensor x = a.tensor("self");
  ROTE_CHECK(x.axes() > 0, ShapeError, a.op(), ": the input is ", describe(x), "; it needs an axis of classes.");
  return classes_last(x);
}

// Labels, which may be bytes; or probabilities.
Tensor target_of(const Arguments& a) {
  const Tensor target = a.tensor("target");
  return target.dtype() == DType::u8 ? to(target, DType::i64) : target;
}

Tensor class_losses(const Arguments& a) {
  const Tensor logits = logits_of(a), target = target_of(a);
  const CrossEntropyOptions options{a.tensor_or_none("weight"), a.integer("ignore_index"), a.number("label_smoothing")};
  const double s = options.label_smoothing;
  ROTE_CHECK(s >= 0 && s <= 1, ArgumentError, "cross_entropy: label_smoothing is ", s, "; it lies in [0,1].");
  if (!is_floating(target.dtype())) return cross_entropy(logits, target, options, reduction_of(a));
  return cross_entropy_of_probabilities(logits, classes_last(target), options, reduction_of(a));
}

}  // namespace

std::vector<Composition> loss_compositions() {
  return {
      {"cross_entropy_loss", [](const Arguments& a) -> Value { return class_losses(a); }},
      {"nll_loss_nd; nll_loss; nll_loss2d", [](const Arguments& a) -> Value {
         return nll_loss(logits_of(a), target_of(a), {a.tensor_or_none("weight"), a.integer("ignore_index"), 0}, reduction_of(a));
       }},
      {"multi_margin_loss", [](const Arguments& a) -> Value {
         const MarginOptions options{a.integer("p"), a.number("margin"), a.tensor_or_none("weight")};
         return multi_margin_loss(a.tensor("self"), a.tensor("target"), options, reduction_of(a));
       }},
      {"multilabel_margin_loss", [](const Arguments& a) -> Value { return multilabel_margin_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
  };
}

}  // namespace rote

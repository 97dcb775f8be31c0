#include "autograd/ops/loss.h"

#include "autograd/boxed.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/view.h"
#include "autograd/sum_to.h"

namespace rote {

void CrossEntropy::forward(Call& call) {
  const Tensor labels = contiguous(call.in[1]);
  const int64_t V = call.in[0].size(-1), rows = labels.numel(), ignored = call.integer(0);
  const int64_t* label = labels.data<int64_t>();
  for (int64_t i = 0; i < rows; ++i)
    ROTE_CHECK((label[i] >= 0 && label[i] < V) || label[i] == ignored, ArgumentError, "cross_entropy: label ", label[i], " at element ", i, " but there are ",
               V, " classes; labels lie in 0…", V - 1, " or are ", ignored, " (not scored).");
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), weight = plain(call.in[2]);
    call.saw(kernels<Real>().cross_entropy(rows, V, x.data<Real>(), label, ignored, values<Real>(weight), static_cast<Real>(call.number(1)),
                                           call.out[0].data<Real>(), call.out[1].data<Real>()));
  });
}

void CrossEntropy::backward(Call& call) {
  if (!call.wants(0)) return;
  with_real(call, call.out[1].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), labels = contiguous(call.in[1]), weight = plain(call.in[2]), dloss = contiguous(call.dout[0]);
    const Tensor dx = empty(x.shape(), {.dtype = x.dtype()});
    call.saw(kernels<Real>().cross_entropy_backward(labels.numel(), x.size(-1), x.data<Real>(), labels.data<int64_t>(), call.integer(0),
                                                    values<Real>(weight), static_cast<Real>(call.number(1)), call.out[1].data<Real>(),
                                                    dloss.data<Real>(), dx.data<Real>()));
    call.din[0] = dx;
  });
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
  const Tensor plain = contiguous(labels);
  const int64_t* label = plain.data<int64_t>();
  int64_t n = 0;
  for (int64_t i = 0; i < plain.numel(); ++i) n += label[i] != ignore_index;
  return n;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const Tensor losses = cross_entropy_each(logits, labels, options);
  double n = static_cast<double>(count_targets(labels, options.ignore_index));
  if (options.weight.defined()) {
    n = 0;
    const Tensor plain = contiguous(labels), weight = converted(contiguous(options.weight), DType::f64);
    for (int64_t i = 0; i < plain.numel(); ++i)
      if (const int64_t label = plain.data<int64_t>()[i]; label != options.ignore_index) n += weight.data<double>()[label];
  }
  return loss_sum(losses, n);
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) { return reduced(square(sub(x, target)), reduction); }
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) { return reduced(abs(sub(x, target)), reduction); }

// d²/2 where |d| <= delta, else delta·(|d| - delta/2).
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  ROTE_CHECK(delta > 0, ArgumentError, "huber_loss: delta is ", delta, "; it must be positive.");
  const Tensor d = sub(x, target), size = abs(d);
  return reduced(where(le(size, delta), mul(square(d), 0.5), mul(sub(size, 0.5 * delta), delta)), reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  ROTE_CHECK(beta >= 0, ArgumentError, "smooth_l1_loss: beta is ", beta, "; it must not be negative.");
  if (beta == 0) return l1_loss(x, target, reduction);
  const Tensor d = sub(x, target), size = abs(d);
  return reduced(where(lt(size, beta), mul(square(d), 0.5 / beta), sub(size, 0.5 * beta)), reduction);
}

namespace {

Reduction reduction_of(const Arguments& a) {
  const int64_t word = a.integer("reduction");
  ROTE_CHECK(word >= 0 && word <= 2, ArgumentError, a.op(), ": reduction is ", word, "; 0 is none, 1 mean, 2 sum.");
  return word == 0 ? Reduction::none : word == 1 ? Reduction::mean : Reduction::sum;
}

// [N,C,...] with the classes last, or [C].
Tensor classes_last(const Tensor& x) { return x.axes() <= 2 ? x : movedim(x, {1}, {-1}); }

Tensor class_losses(const Arguments& a) {
  const Tensor x = a.tensor("self"), target = a.tensor("target");
  CrossEntropyOptions options;
  options.weight = a.tensor_or_none("weight");
  options.ignore_index = a.integer("ignore_index");
  options.label_smoothing = a.number("label_smoothing");
  const double s = options.label_smoothing;
  ROTE_CHECK(s >= 0 && s <= 1, ArgumentError, "cross_entropy: label_smoothing is ", s, "; it lies in [0,1].");
  ROTE_CHECK(x.axes() > 0, ShapeError, "cross_entropy: the logits are ", describe(x), "; they need an axis of classes.");
  const Tensor logits = classes_last(x);
  const Reduction reduction = reduction_of(a);
  if (is_floating(target.dtype())) {
    // Probabilities: -Σ w·t·log p over the classes; the mean is over the rows.
    ROTE_CHECK(target.shape() == x.shape(), ShapeError, "cross_entropy: the target is ", describe(target), "; probabilities must have the shape of the logits, ", describe(x), ".");
    const int64_t V = logits.size(-1);
    Tensor t = classes_last(target);
    if (s > 0) t = add(mul(t, 1 - s), s / static_cast<double>(V));
    Tensor terms = mul(t, log_softmax(logits));
    if (options.weight.defined()) terms = mul(terms, options.weight);
    const Tensor losses = neg(sum(terms, {-1}));
    if (reduction != Reduction::mean) return reduced(losses, reduction);
    return div(sum(losses), static_cast<double>(losses.numel()));
  }
  if (reduction == Reduction::mean) return cross_entropy(logits, target, options);
  return reduced(cross_entropy_each(logits, target, options), reduction);
}

// (1 - t)·x + (1 + (pos_weight - 1)·t)·log(1 + e^-x), times weight.
Tensor binary_losses(const Arguments& a) {
  const Tensor x = a.tensor("self"), t = a.tensor("target"), weight = a.tensor_or_none("weight"), positive = a.tensor_or_none("pos_weight");
  ROTE_CHECK(x.shape() == t.shape(), ShapeError, "bce_with_logits: x is ", describe(x), " and the target ", describe(t), "; the shapes must be equal.");
  Tensor losses;
  if (positive.defined()) {
    const Tensor share = add(mul(t, sub(positive, 1.0)), 1.0);
    losses = sub(mul(add(neg(t), 1.0), x), mul(share, log_sigmoid(x)));
  } else {
    losses = bce_with_logits(x, t);
  }
  if (weight.defined()) losses = mul(losses, weight);
  return reduced(losses, reduction_of(a));
}

}  // namespace

std::vector<Composition> loss_compositions() {
  return {
      {"cross_entropy_loss", [](const Arguments& a) -> Value { return class_losses(a); }},
      {"mse_loss", [](const Arguments& a) -> Value { return mse_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
      {"l1_loss", [](const Arguments& a) -> Value { return l1_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
      {"smooth_l1_loss", [](const Arguments& a) -> Value {
         return smooth_l1_loss(a.tensor("self"), a.tensor("target"), a.number("beta"), reduction_of(a));
       }},
      {"huber_loss", [](const Arguments& a) -> Value { return huber_loss(a.tensor("self"), a.tensor("target"), a.number("delta"), reduction_of(a)); }},
      {"binary_cross_entropy_with_logits", [](const Arguments& a) -> Value { return binary_losses(a); }},
      {"soft_margin_loss", [](const Arguments& a) -> Value {
         return reduced(neg(log_sigmoid(mul(a.tensor("self"), a.tensor("target")))), reduction_of(a));
       }},
  };
}

}  // namespace rote

#include "autograd/ops/regression.h"

#include <numbers>

#include "autograd/boxed.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/wide.h"

namespace rote {

using Inputs = std::vector<Tensor>;

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

Reduction reduction_of(const Arguments& a) {
  const int64_t word = a.integer("reduction");
  ROTE_CHECK(word >= 0 && word <= 2, ArgumentError, a.op(), ": reduction is ", word, "; 0 is none, 1 mean, 2 sum.");
  return word == 0 ? Reduction::none : word == 1 ? Reduction::mean : Reduction::sum;
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) { return reduced(square(sub(in[0], in[1])), reduction); });
}

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) { return reduced(abs(sub(in[0], in[1])), reduction); });
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  ROTE_CHECK(delta > 0, ArgumentError, "huber_loss: delta is ", delta, "; it must be positive.");
  return loss_in_f32({x, target}, [&](const Inputs& in) { return reduced(apply<Huber>({in[0], in[1]}, {delta}), reduction); });
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  ROTE_CHECK(beta >= 0, ArgumentError, "smooth_l1_loss: beta is ", beta, "; it must not be negative.");
  if (beta == 0) return l1_loss(x, target, reduction);
  return loss_in_f32({x, target}, [&](const Inputs& in) { return reduced(div(apply<Huber>({in[0], in[1]}, {beta}), beta), reduction); });
}

Tensor kl_div(const Tensor& x, const Tensor& target, bool log_target, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) {
    const Tensor& t = in[1];
    if (log_target) return reduced(mul(exp(t), sub(t, in[0])), reduction);
    const Tensor zero = eq(t, 0.0);
    const Tensor entropy = where(zero, t, mul(t, log(where(zero, number_for(t, 1.0), t))));
    return reduced(sub(entropy, mul(t, in[0])), reduction);
  });
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction reduction) {
  {
    const NoGrad guard;
    const auto inside = [](const Tensor& v) { return all(logical_and(ge(v, 0.0), le(v, 1.0))).item_i64() != 0; };
    ROTE_CHECK(inside(x), ArgumentError, "binary_cross_entropy: an element of x, ", describe(x),
               ", is not in [0,1]; probabilities are (binary_cross_entropy_with_logits takes logits).");
    ROTE_CHECK(inside(target), ArgumentError, "binary_cross_entropy: an element of the target, ", describe(target), ", is not in [0,1]; probabilities are.");
  }
  return loss_in_f32({x, target, weight}, [&](const Inputs& in) {
    const Tensor losses = apply<BinaryCrossEntropy>({in[0], in[1]});
    return reduced(in[2].defined() ? mul(losses, in[2]) : losses, reduction);
  });
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight, const Tensor& positive, Reduction reduction) {
  ROTE_CHECK(x.shape() == target.shape(), ShapeError, "binary_cross_entropy_with_logits: x is ", describe(x), " and the target ", describe(target),
             "; the shapes must be equal.");
  return loss_in_f32({x, target, weight, positive}, [&](const Inputs& in) {
    const Tensor& t = in[1];
    Tensor losses;
    if (in[3].defined()) {
      const Tensor share = add(mul(t, sub(in[3], 1.0)), 1.0);
      losses = sub(mul(add(neg(t), 1.0), in[0]), mul(share, log_sigmoid(in[0])));
    } else {
      losses = bce_with_logits(in[0], t);
    }
    return reduced(in[2].defined() ? mul(losses, in[2]) : losses, reduction);
  });
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) { return reduced(neg(log_sigmoid(mul(in[0], in[1]))), reduction); });
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options, Reduction reduction) {
  return loss_in_f32({x, target}, [&](const Inputs& in) {
    const Tensor& t = in[1];
    Tensor losses = options.log_input ? sub(exp(in[0]), mul(t, in[0])) : sub(in[0], mul(t, log(add(in[0], options.eps))));
    if (options.full) {
      const Tensor stirling = add(sub(mul(t, log(t)), t), mul(log(mul(t, 2 * std::numbers::pi)), 0.5));
      losses = add(losses, where(le(t, 1.0), number_for(t, 0.0), stirling));
    }
    return reduced(losses, reduction);
  });
}

std::vector<Composition> regression_compositions() {
  return {
      {"mse_loss", [](const Arguments& a) -> Value { return mse_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
      {"l1_loss", [](const Arguments& a) -> Value { return l1_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
      {"huber_loss", [](const Arguments& a) -> Value { return huber_loss(a.tensor("self"), a.tensor("target"), a.number("delta"), reduction_of(a)); }},
      {"smooth_l1_loss", [](const Arguments& a) -> Value {
         return smooth_l1_loss(a.tensor("self"), a.tensor("target"), a.number("beta"), reduction_of(a));
       }},
      {"kl_div", [](const Arguments& a) -> Value { return kl_div(a.tensor("self"), a.tensor("target"), a.flag("log_target"), reduction_of(a)); }},
      {"binary_cross_entropy", [](const Arguments& a) -> Value {
         return binary_cross_entropy(a.tensor("self"), a.tensor("target"), a.tensor_or_none("weight"), reduction_of(a));
       }},
      {"binary_cross_entropy_with_logits", [](const Arguments& a) -> Value {
         return binary_cross_entropy_with_logits(a.tensor("self"), a.tensor("target"), a.tensor_or_none("weight"), a.tensor_or_none("pos_weight"),
                                                 reduction_of(a));
       }},
      {"soft_margin_loss", [](const Arguments& a) -> Value { return soft_margin_loss(a.tensor("self"), a.tensor("target"), reduction_of(a)); }},
      {"poisson_nll_loss", [](const Arguments& a) -> Value {
         const PoissonOptions options{.log_input = a.flag("log_input"), .full = a.flag("full"), .eps = a.number("eps")};
         return poisson_nll_loss(a.tensor("input"), a.tensor("target"), options, reduction_of(a));
       }},
  };
}

}  // namespace rote

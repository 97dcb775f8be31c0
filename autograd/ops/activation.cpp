#include "autograd/ops/activation.h"

#include <cmath>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"
#include "autograd/ops/wide.h"

namespace rote {

Tensor selu(const Tensor& x) { return apply<Elu>({x}, {1.6732632423543772848170429916717, 1.0507009873554804934193349852946}); }
Tensor celu(const Tensor& x, double alpha) {
  ROTE_CHECK(alpha != 0, ArgumentError, "celu: alpha is 0; x is divided by it.");
  return apply<Elu>({x}, {alpha, 1.0, 1.0 / alpha});
}
Tensor hardtanh(const Tensor& x, double low, double high) {
  ROTE_CHECK(x.dtype() != DType::boolean, DTypeError, "hardtanh: x is ", describe(x), "; it must have a floating or integer dtype.");
  return is_floating(x.dtype()) ? clamp(x, low, high) : clamp(x, std::trunc(low), std::trunc(high));
}
Tensor threshold(const Tensor& x, double at, double value) {
  return is_floating(x.dtype()) ? apply<Threshold>({x}, {at, value}) : apply<Threshold>({x}, {std::trunc(at), std::trunc(value)});
}
Tensor softshrink(const Tensor& x, double lambda) {
  ROTE_CHECK(lambda >= 0, ArgumentError, "softshrink: lambda is ", lambda, "; it must not be negative.");
  return apply<Softshrink>({x}, {lambda});
}
Tensor relu6(const Tensor& x) { return hardtanh(x, 0, 6); }
Tensor log_sigmoid(const Tensor& x) { return neg(softplus(neg(x), 1, std::numeric_limits<double>::infinity())); }

Tensor prelu(const Tensor& x, const Tensor& w) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "prelu: x is ", describe(x), "; it must have a floating dtype (to() converts).");
  if (w.numel() == 1) return apply<Prelu>({x, reshape(w, {})});
  const int64_t channels = x.axes() < 2 ? 1 : x.size(1);
  ROTE_CHECK(w.axes() == 1 && w.numel() == channels, ShapeError, "prelu: w is ", describe(w), " but x ", describe(x), "; w must be [1] or [", channels, "].");
  std::vector<int64_t> shape(static_cast<size_t>(x.axes()) - 1, 1);
  shape[0] = channels;
  return apply<Prelu>({x, reshape(w, shape)});
}

Tensor glu(const Tensor& x, int64_t axis) {
  ROTE_CHECK(x.axes() > 0 && x.size(axis) % 2 == 0, ShapeError, "glu: axis ", axis, " of ", describe(x), " has no two halves; its size must be even.");
  return in_f32({x}, [&](const std::vector<Tensor>& in) {
    const std::vector<Tensor> halves = split(in[0], {x.size(axis) / 2, x.size(axis) / 2}, axis);
    return mul(halves[0], sigmoid(halves[1]));
  });
}

std::vector<Composition> activation_compositions() {
  return {
      {"gelu", [](const Arguments& a) -> Value {
         const std::string how = a.given("approximate") ? a.word("approximate") : "none";
         ROTE_CHECK(how == "none" || how == "tanh", ArgumentError, "gelu: approximate is \"", how, "\"; known are \"none\" and \"tanh\".");
         return how == "tanh" ? gelu_tanh(a.tensor("self")) : gelu(a.tensor("self"));
       }},
      {"selu", [](const Arguments& a) -> Value { return selu(a.tensor("self")); }},
      {"celu", [](const Arguments& a) -> Value { return celu(a.tensor("self"), a.number("alpha")); }},
      {"relu6", [](const Arguments& a) -> Value { return relu6(a.tensor("self")); }},
      {"log_sigmoid", [](const Arguments& a) -> Value { return log_sigmoid(a.tensor("self")); }},
      {"prelu", [](const Arguments& a) -> Value { return prelu(a.tensor("self"), a.tensor("weight")); }},
      {"rrelu", [](const Arguments& a) -> Value {
         if (a.flag("training")) throw Lacking{"rrelu in training"};
         return leaky_relu(a.tensor("self"), (a.number("lower") + a.number("upper")) / 2);
       }},
      {"threshold", [](const Arguments& a) -> Value { return threshold(a.tensor("self"), a.number("threshold"), a.number("value")); }},
      {"hardtanh", [](const Arguments& a) -> Value { return hardtanh(a.tensor("self"), a.number("min_val"), a.number("max_val")); }},
      {"softshrink", [](const Arguments& a) -> Value { return softshrink(a.tensor("self"), a.number("lambd")); }},
      {"glu", [](const Arguments& a) -> Value { return glu(a.tensor("self"), a.integer("dim")); }},
  };
}

}  // namespace rote

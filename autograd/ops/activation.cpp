#include "autograd/ops/activation.h"

#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"

namespace rote {

Tensor selu(const Tensor& x) { return apply<Elu>({x}, {1.6732632423543772848170429916717, 1.0507009873554804934193349852946}); }
Tensor celu(const Tensor& x, double alpha) {
  ROTE_CHECK(alpha != 0, ArgumentError, "celu: alpha is 0; x is divided by it.");
  return apply<Elu>({x}, {alpha, 1.0, 1.0 / alpha});
}
Tensor hardtanh(const Tensor& x, double low, double high) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "hardtanh: x is ", describe(x), "; it must have a floating dtype (clamp takes integers).");
  return clamp(x, low, high);
}
Tensor hardshrink(const Tensor& x, double lambda) { return where(le(abs(x), lambda), number_for(x, 0.0), x); }
Tensor softshrink(const Tensor& x, double lambda) {
  ROTE_CHECK(lambda >= 0, ArgumentError, "softshrink: lambda is ", lambda, "; it must not be negative.");
  return where(le(abs(x), lambda), number_for(x, 0.0), where(lt(x, 0.0), add(x, lambda), sub(x, lambda)));
}
Tensor relu6(const Tensor& x) { return hardtanh(x, 0, 6); }
Tensor log_sigmoid(const Tensor& x) { return neg(softplus(neg(x), 1, std::numeric_limits<double>::infinity())); }
Tensor hardsigmoid(const Tensor& x) { return div(relu6(add(x, 3.0)), 6.0); }
Tensor threshold(const Tensor& x, double at, double value) { return where(le(x, at), number_for(x, value), x); }

Tensor glu(const Tensor& x, int64_t axis) {
  ROTE_CHECK(x.axes() > 0 && x.size(axis) % 2 == 0, ShapeError, "glu: axis ", axis, " of ", describe(x), " has no two halves; its size must be even.");
  const std::vector<Tensor> halves = split(x, {x.size(axis) / 2, x.size(axis) / 2}, axis);
  return mul(halves[0], sigmoid(halves[1]));
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
      {"hardsigmoid", [](const Arguments& a) -> Value { return hardsigmoid(a.tensor("self")); }},
      {"hardtanh", [](const Arguments& a) -> Value { return hardtanh(a.tensor("self"), a.number("min_val"), a.number("max_val")); }},
      {"hardshrink", [](const Arguments& a) -> Value { return hardshrink(a.tensor("self"), a.number("lambd")); }},
      {"softshrink", [](const Arguments& a) -> Value { return softshrink(a.tensor("self"), a.number("lambd")); }},
      {"threshold", [](const Arguments& a) -> Value { return threshold(a.tensor("self"), a.number("threshold"), a.number("value")); }},
      {"glu", [](const Arguments& a) -> Value { return glu(a.tensor("self"), a.integer("dim")); }},
  };
}

}  // namespace rote

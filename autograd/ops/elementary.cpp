#include "autograd/ops/elementary.h"

#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"

namespace rote {

// The borders are numbers of x's dtype.
Tensor logit(const Tensor& x, double eps) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (eps < 0) return apply<Logit>({x}, {-kInfinity, kInfinity});
  const auto rounded = [&](double v) { return scalar(v, is_floating(x.dtype()) ? x.dtype() : DType::f32).item(); };
  const double low = rounded(eps);
  return apply<Logit>({x}, {low, rounded(1 - low)});
}

std::vector<Composition> elementary_compositions() {
  return {
      {"deg2rad", [](const Arguments& a) -> Value { return mul(a.tensor("self"), 0.017453292519943295769); }},
      {"rad2deg", [](const Arguments& a) -> Value { return mul(a.tensor("self"), 57.295779513082320877); }},
      {"logit", [](const Arguments& a) -> Value { return logit(a.tensor("self"), a.given("eps") ? a.number("eps") : -1); }},
      {"special_ndtr", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");  // Φ(x) = erfc(-x/√2)/2
         return to(mul(erfc(mul(widened(x), -0.70710678118654752440)), 0.5), is_floating(x.dtype()) ? x.dtype() : DType::f32);
       }},
      {"logaddexp2", [](const Arguments& a) -> Value { return apply<Logaddexp>({a.tensor("self"), a.tensor("other")}, {0.69314718055994530942}); }},
  };
}

}  // namespace rote

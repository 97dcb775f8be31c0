#include "trainer/apps/conformance/tensors.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "kernels/check.h"

namespace rote::conformance {

namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

}  // namespace

std::string difference(const Tensor& y, const Expected& expected, const std::function<bool(const Shape&)>& keep) {
  const Tensor& t = expected.t;
  if (!y.defined()) return str("is not given, expected ", describe(t));
  if (y.dtype() != t.dtype() || !(y.shape() == t.shape())) return str("is ", describe(y), ", expected ", describe(t));
  const Tensor ref = expected.ref.defined() ? expected.ref : t;
  if (!(ref.shape() == t.shape())) return str("has a reference of another shape, ", describe(ref));
  const bool exact = !is_floating(t.dtype());
  // Integers beyond 2^53 are compared as they are; everything else fits into a double.
  const Tensor got = contiguous(converted(y, exact ? DType::i64 : DType::f64)), plain = contiguous(converted(t, exact ? DType::i64 : DType::f64)),
               truth = contiguous(converted(ref, exact ? DType::i64 : DType::f64));
  double worst = 0, bound_of_worst = 0, worst_ratio = 0;
  int64_t bad = 0, first = -1;
  Shape index = t.shape();
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i;
    for (int axis = t.axes() - 1; axis >= 0; --axis) {
      index[axis] = rest % t.shape()[axis];
      rest /= t.shape()[axis];
    }
    if (keep && !keep(index)) continue;
    bool fits;
    if (exact) {
      fits = got.data<int64_t>()[i] == plain.data<int64_t>()[i];
    } else {
      const double value = got.data<double>()[i], wanted = plain.data<double>()[i], r = truth.data<double>()[i];
      if (expected.finite_only && !std::isfinite(wanted)) continue;
      if (std::isnan(wanted)) fits = std::isnan(value);
      else if (std::isinf(wanted)) fits = value == wanted;
      else {
        const double error = std::abs(value - r), bound = expected.atol + expected.rtol * std::abs(r);
        fits = error <= bound;
        const double ratio = error / bound;
        if (!(ratio <= worst_ratio)) worst_ratio = ratio, worst = error, bound_of_worst = bound;
      }
    }
    if (fits) continue;
    if (++bad == 1) first = i;
  }
  if (bad == 0) return "";
  int64_t rest = first;
  for (int axis = t.axes() - 1; axis >= 0; --axis) {
    index[axis] = rest % t.shape()[axis];
    rest /= t.shape()[axis];
  }
  if (exact) return str(bad, " of ", t.numel(), " differ, first at ", index, ": ", got.data<int64_t>()[first], ", expected ", plain.data<int64_t>()[first]);
  return str("error ", number(worst), " against ", number(bound_of_worst), ", ", bad, " of ", t.numel(), " out of bounds, first at ", index, ": ",
             number(got.data<double>()[first]), ", expected ", number(truth.data<double>()[first]));
}

}  // namespace rote::conformance

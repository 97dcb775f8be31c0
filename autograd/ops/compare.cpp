#include "autograd/ops/compare.h"

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"

namespace rote {

namespace {

void check_dtypes(const char* who, const Tensor& x, const Tensor& y) {
  ROTE_CHECK(x.dtype() == y.dtype(), DTypeError, who, ": x is ", describe(x), " but y ", describe(y), "; the dtypes must be equal (to() converts).");
}

}  // namespace

Tensor isclose(const Tensor& x, const Tensor& y, const Near& near) {
  check_dtypes("isclose", x, y);
  ROTE_CHECK(near.rtol >= 0 && near.atol >= 0, ArgumentError, "isclose: rtol is ", near.rtol, " and atol ", near.atol, "; each must be 0 or more.");
  Tensor same = eq(x, y);
  if (near.equal_nan) same = logical_or(same, logical_and(ne(x, x), ne(y, y)));
  if (near.rtol == 0 && near.atol == 0) return same;
  const DType wide = is_floating(x.dtype()) ? x.dtype() : DType::f64;
  const Tensor a = to(x, wide), b = to(y, wide), error = abs(sub(a, b));
  return logical_or(same, logical_and(isfinite(error), le(error, add(abs(mul(b, near.rtol)), near.atol))));
}

bool allclose(const Tensor& x, const Tensor& y, const Near& near) { return all(isclose(x, y, near)).item_i64() != 0; }

bool equal(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() && all(eq(x, y)).item_i64() != 0;
}

namespace {

Near near_of(const Arguments& a) { return {a.number("rtol"), a.number("atol"), a.flag("equal_nan")}; }

}  // namespace

std::vector<Composition> compare_compositions() {
  return {
      {"isclose", [](const Arguments& a) -> Value { return isclose(a.tensor("self"), a.tensor("other"), near_of(a)); }},
      {"allclose", [](const Arguments& a) -> Value { return allclose(a.tensor("self"), a.tensor("other"), near_of(a)); }},
      {"equal", [](const Arguments& a) -> Value { return equal(a.tensor("self"), a.tensor("other")); }},
      {"is_nonzero", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         ROTE_CHECK(x.numel() == 1, ShapeError, "is_nonzero: x is ", describe(x), "; it must have exactly one element.");
         return ne(x, 0.0).item_i64() != 0;
       }},
  };
}

}  // namespace rote

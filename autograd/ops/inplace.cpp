#include "autograd/ops/inplace.h"

#include "autograd/boxed.h"
#include "autograd/inplace.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

Tensor written(const Tensor& x, const Tensor& y, const char* op, WriteOptions options = {}) {
  write_into(x, y, op, options);
  return x;
}

Tensor copied(const Tensor& x, const Tensor& y, const char* op) { return written(x, expand(to(y, x.dtype()), {x.shape().begin(), x.shape().end()}), op, {.replaces = true}); }

}  // namespace

Tensor copy_(const Tensor& x, const Tensor& y) { return copied(x, y, "copy_"); }
Tensor fill_(const Tensor& x, double value) { return copied(x, scalar(value, is_floating(x.dtype()) ? x.dtype() : number_for(x, value).dtype()), "fill_"); }

Tensor add_(const Tensor& x, const Tensor& y) { return written(x, add(x, y), "add_"); }
Tensor sub_(const Tensor& x, const Tensor& y) { return written(x, sub(x, y), "sub_"); }
Tensor mul_(const Tensor& x, const Tensor& y) { return written(x, mul(before_write(x, {y}), y), "mul_"); }
Tensor div_(const Tensor& x, const Tensor& y) { return written(x, div(before_write(x, {y}), y), "div_"); }
Tensor add_(const Tensor& x, double y) { return add_(x, number_for(x, y)); }
Tensor sub_(const Tensor& x, double y) { return sub_(x, number_for(x, y)); }
Tensor mul_(const Tensor& x, double y) { return mul_(x, number_for(x, y)); }
Tensor div_(const Tensor& x, double y) { return div_(x, number_for(x, y)); }
Tensor masked_fill_(const Tensor& x, const Tensor& mask, double value) { return written(x, masked_fill(x, mask, value), "masked_fill_"); }
Tensor clamp_(const Tensor& x, double low, double high) { return written(x, clamp(before_write(x, {}), low, high), "clamp_"); }
Tensor relu_(const Tensor& x) { return written(x, relu(x), "relu_"); }

std::vector<Composition> inplace_compositions() {
  return {
      {"copy_", [](const Arguments& a) -> Value {
         a.ignore("non_blocking");
         return copy_(a.tensor("self"), a.tensor("src"));
       }},
      {"fill_.Scalar; fill_.Tensor", [](const Arguments& a) -> Value {
         ROTE_CHECK(a.tensor("value").axes() == 0, ShapeError, "fill_: value is ", describe(a.tensor("value")), "; it must be one number.");
         return copied(a.tensor("self"), a.tensor("value"), "fill_");
       }},
      {"zero_", [](const Arguments& a) -> Value { return zero_(a.tensor("self")); }},
  };
}

}  // namespace rote

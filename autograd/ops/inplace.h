// autograd/ops/inplace.h — ops that write into their first argument and give it back. Recorded as the op itself and a new history of the
// tensor and of all views of its memory (autograd/inplace.h); a backward that needs what they overwrote is refused by name.
#pragma once

#include "autograd/ops/activation.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"

namespace rote {

struct Composition;

// x takes the values of y, which broadcasts to it and whose dtype converts to x's. ATen's `name_` for any other op is x.copy_(name(x, …)).
Tensor copy_(const Tensor& x, const Tensor& y);
Tensor fill_(const Tensor& x, double value);
inline Tensor zero_(const Tensor& x) { return fill_(x, 0); }

// Each needs a result of x's shape and of no higher category of dtype than x's: integers take no fractions.
Tensor add_(const Tensor& x, const Tensor& y);
Tensor sub_(const Tensor& x, const Tensor& y);
Tensor mul_(const Tensor& x, const Tensor& y);
Tensor div_(const Tensor& x, const Tensor& y);
Tensor add_(const Tensor& x, double y);
Tensor sub_(const Tensor& x, double y);
Tensor mul_(const Tensor& x, double y);
Tensor div_(const Tensor& x, double y);
Tensor masked_fill_(const Tensor& x, const Tensor& mask, double value);
Tensor clamp_(const Tensor& x, double low, double high);
Tensor relu_(const Tensor& x);
std::vector<Composition> inplace_compositions();

}  // namespace rote

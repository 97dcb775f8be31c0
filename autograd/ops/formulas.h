// autograd/ops/formulas.h — the list of all formulas, joined from the families. Light: per-ISA objects include it.
#pragma once

#include "autograd/ops/activation.h"
#include "autograd/ops/bitwise.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/regression.h"

namespace rote {

using AllFormulas = Joined<PointwiseOps, ActivationOps, RegressionOps, ElementaryOps, BitwiseOps>::type;

template <class List>
inline constexpr int kCount = 0;
template <class... Ops>
inline constexpr int kCount<OpList<Ops...>> = sizeof...(Ops);

}  // namespace rote

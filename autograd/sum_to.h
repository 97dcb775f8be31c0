// autograd/sum_to.h — the gradient of a broadcast: sums over what was repeated, in the order of arithmetic.md 3.
#pragma once

#include "autograd/op.h"

namespace rote {

// g summed to `shape`, which broadcasts to g's. Leading axes: one chain per column inside a sample leaf, then the tree; axes at the end
// only: 64 lanes. `scope` is the forward's. Outside of the graph.
Tensor sum_to(const Tensor& g, const Shape& shape, const RunScope& scope, uint32_t* amax);

}  // namespace rote

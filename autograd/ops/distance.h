// autograd/ops/distance.h — norms of matrices and distances between vectors, made of the norms of reduce.h. Compositions alone.
#pragma once

#include "autograd/apply.h"

namespace rote {

// ‖x - y‖ over all elements, which broadcast.
Tensor dist(const Tensor& x, const Tensor& y, double order = 2);
// ‖x[i] - y[j]‖ of all pairs of rows: x [*,M,K], y [*,N,K] -> [*,M,N]. Holds all M·N·K differences.
Tensor cdist(const Tensor& x, const Tensor& y, double order = 2);
// Of the matrices over the last two of `axes`: 1, -1 the largest and least sum of a column's |x|, ±infinity of a row's, 2 the largest singular value and
// -2 the least. Frobenius' is norm().
Tensor matrix_norm(const Tensor& x, double order, const std::vector<int64_t>& axes = {-2, -1}, bool keepdim = false);
std::vector<Composition> distance_compositions();

}  // namespace rote

// autograd/ops/reduce.h — sums, means and extremes over axes, by the 64-lane order of arithmetic.md 3.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Sum {  // over the named axes, all where none is named; in logical order of the reduced axes; integers add up in i64
  static constexpr Row row{.name = "sum", .schema = "sum(any x[*], axes=[], keepdim=false) -> y", .samples = "*=2,3,4 axes=[1]; *=2,3 axes=[0,-1] keepdim=true; *=5; *=; *=2,0 axes=[1]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Amax {  // the largest, NaN wins; equal ones share the gradient
  static constexpr Row row{.name = "amax", .schema = "amax(any x[*], axes=[], keepdim=false) -> y", .saves = "x y", .samples = "*=2,3,4 axes=[1]; *=5", .aten = "amax(self, dim, keepdim)"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Argmax {  // the index of the largest along one axis: the lowest among equals, NaN wins
  static constexpr Row row{.name = "argmax", .schema = "argmax(any x[*], axis, keepdim=false) -> i64 y", .no_grad = "an index is constant almost everywhere", .samples = "*=2,3 axis=1; *=4 axis=-1"};
  static void forward(Call& call);
};

inline Tensor sum(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false) { return apply<Sum>({x}, {axes, keepdim}); }
inline Tensor amax(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false) { return apply<Amax>({x}, {axes, keepdim}); }
inline Tensor argmax(const Tensor& x, int64_t axis = -1, bool keepdim = false) { return apply<Argmax>({x}, {axis, keepdim}); }

// Compositions of the above.
Tensor mean(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, int64_t axis = -1, bool keepdim = false);
Tensor var(const Tensor& x, const std::vector<int64_t>& axes = {}, double correction = 1, bool keepdim = false);  // Σ(x - mean)²/max(0, n - correction)
Tensor std_deviation(const Tensor& x, const std::vector<int64_t>& axes = {}, double correction = 1, bool keepdim = false);
Tensor norm(const Tensor& x, double order = 2, const std::vector<int64_t>& axes = {}, bool keepdim = false);  // of order 1, 2 or infinity; derivative 0 at 0
Tensor logsumexp(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor any(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);  // bool: whether one is not 0
Tensor all(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
std::vector<Composition> reduce_compositions();

using ReduceOps = OpList<Sum, Amax, Argmax>;

}  // namespace rote

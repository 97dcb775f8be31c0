// autograd/ops/reduce.h — sums, means and extremes over axes, by the 64-lane order of arithmetic.md 3.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Sum {  // over the named axes, all where none is named; in logical order of the reduced axes; integers add up in i64
  static constexpr Row row{.name = "sum", .schema = "sum(any x[*], axes=[], keepdim=false) -> y",
                           .samples = "*=2,3,4 axes=[1]; *=2,3 axes=[0,-1] keepdim=true; *=5; *=; *=2,0 axes=[1]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Amax {  // the largest, NaN wins; equal ones share the gradient
  static constexpr Row row{.name = "amax", .schema = "amax(any x[*], axes=[], keepdim=false) -> y", .saves = "x y",
                           .samples = "*=2,3,4 axes=[1]; *=5", .aten = "amax(self, dim, keepdim)"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Prod {  // over the named axes, all where none is named; integers in i64, others in f64 and rounded once
  static constexpr Row row{.name = "prod", .schema = "prod(any x[*], axes=[], keepdim=false) -> y", .saves = "x y",
                           .samples = "*=2,3,4 axes=[1]; *=2,3 axes=[0,-1] keepdim=true; *=5; *=; *=2,0 axes=[1]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct MaxAlong {  // the largest along one axis, or the least, and its index: the first of equal ones, NaN before all
  static constexpr Row row{.name = "max_along", .schema = "max_along(any x[*], axis, keepdim=false, least=false) -> y, i64 index", .saves = "index",
                           .samples = "*=2,3,4 axis=1; *=5 axis=-1 keepdim=true least=true; *= axis=0"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor sum(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false) { return apply<Sum>({x}, {axes, keepdim}); }
inline Tensor amax(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false) { return apply<Amax>({x}, {axes, keepdim}); }
inline Tensor prod(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false) { return apply<Prod>({x}, {axes, keepdim}); }
// Values and indices.
inline std::vector<Tensor> max_along(const Tensor& x, int64_t axis, bool keepdim = false) { return apply_all<MaxAlong>({x}, {axis, keepdim}); }
inline std::vector<Tensor> min_along(const Tensor& x, int64_t axis, bool keepdim = false) { return apply_all<MaxAlong>({x}, {axis, keepdim, true}); }
inline Tensor argmax(const Tensor& x, int64_t axis = -1, bool keepdim = false) { return max_along(x, axis, keepdim)[1]; }
inline Tensor argmin(const Tensor& x, int64_t axis = -1, bool keepdim = false) { return min_along(x, axis, keepdim)[1]; }

// Compositions of the above.
Tensor mean(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor nansum(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);  // of what is not NaN
Tensor nanmean(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor var(const Tensor& x, const std::vector<int64_t>& axes = {}, double correction = 1, bool keepdim = false);  // Σ(x - mean)²/max(0, n - correction)
Tensor std_deviation(const Tensor& x, const std::vector<int64_t>& axes = {}, double correction = 1, bool keepdim = false);
Tensor norm(const Tensor& x, double order = 2, const std::vector<int64_t>& axes = {}, bool keepdim = false);  // (Σ|x|^order)^(1/order); its derivative at 0 is 0
Tensor logsumexp(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
Tensor any(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);  // bool: whether one is not 0
Tensor all(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keepdim = false);
std::vector<Composition> reduce_compositions();

using ReduceOps = OpList<Sum, Amax, Prod, MaxAlong>;

}  // namespace rote

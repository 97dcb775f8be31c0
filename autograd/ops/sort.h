// autograd/ops/sort.h — orders: sort, the largest few, medians, quantiles, places in a sorted line, distinct values. The orders have no
// derivative; values are gathered by them, and that has one.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Argsort {  // the order of each line: stable, NaN as the largest, -0 = +0. count >= 0: only the first `count` of it
  static constexpr Row row{.name = "argsort", .schema = "argsort(any x[*], axis=-1, descending=false, count=-1) -> i64 y",
                           .no_grad = "an index is constant almost everywhere",
                           .samples = "*=2,3,4 axis=1; *=2,7 descending=true; *=3,9 count=2; *= axis=0; *=2,0"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
};

struct Searchsorted {  // how many elements of the sorted line of x lie below v (right = true: not above v); x has one axis or v's leading ones
  static constexpr Row row{.name = "searchsorted", .schema = "searchsorted(any x[...], any v[...], right=false) -> i64 y",
                           .no_grad = "an index is constant almost everywhere", .samples = "x=5 v=2,3; x=2,4 v=2,3 right=true; x=3 v=; x=0 v=2"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
};

inline Tensor argsort(const Tensor& x, int64_t axis = -1) { return apply<Argsort>({x}, {axis}); }
inline Tensor searchsorted(const Tensor& sorted, const Tensor& values) { return apply<Searchsorted>({sorted, values}); }

enum class Order { ascending, descending };
struct Sorted {
  Tensor values, indices;
};
Sorted sort(const Tensor& x, int64_t axis = -1, Order order = Order::ascending);
Sorted topk(const Tensor& x, int64_t k, int64_t axis = -1, Order order = Order::descending);  // sorted, too
// The element that k-1 others of its line precede in order; k counts from 1. The axis becomes 1 with keepdim, else it goes away.
Sorted kthvalue(const Tensor& x, int64_t k, int64_t axis = -1, bool keepdim = false);
// The lower of the two middle values; NaN where the line holds one, or with NaN left out (nanmedian). Equal values at median(x): each a share of the gradient.
Sorted median(const Tensor& x, int64_t axis, bool keepdim = false);
Sorted nanmedian(const Tensor& x, int64_t axis, bool keepdim = false);
Tensor median(const Tensor& x);
// The value at q·(n-1) of each sorted line, q in [0,1] of [Q] or without axes, which come first in the result: "linear", "lower", "higher", "midpoint", "nearest".
Tensor quantile(const Tensor& x, const Tensor& q, int64_t axis, bool keepdim = false, const std::string& interpolation = "linear");
// The distinct values in order, where each element of x is among them, and how often each occurs. NaN differs from NaN.
struct Distinct {
  Tensor values, inverse, counts;
};
Distinct unique(const Tensor& x);
// Whether each element of x is one of `values`.
Tensor isin(const Tensor& x, const Tensor& values);
std::vector<Composition> sort_compositions();

using SortOps = OpList<Argsort, Searchsorted>;

}  // namespace rote

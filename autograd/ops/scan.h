// autograd/ops/scan.h — results that run along an axis: sums, products, extremes so far.
#pragma once

#include "autograd/apply.h"

namespace rote {

// One chain a line in ascending order, in f64 for all floating dtypes, each result rounded once; integers in i64 with wrap-around.
struct Cumsum {  // y_i = x_0 + … + x_i; reverse: x_i + … + x_last
  static constexpr Row row{.name = "cumsum", .schema = "cumsum(any x[*], axis, reverse=false) -> y",
                           .samples = "*=2,3,4 axis=1; *=2,5 axis=-1 reverse=true; *= axis=0; *=0 axis=0"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Cumprod {  // y_i = x_0·…·x_i
  static constexpr Row row{.name = "cumprod", .schema = "cumprod(any x[*], axis) -> y", .saves = "x y",
                           .samples = "*=2,3,4 axis=1; *=2,5 axis=-1; *= axis=0; *=0 axis=0"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct Logcumsumexp {  // y_i = ln(e^x_0 + … + e^x_i), with the largest exponent so far taken out
  static constexpr Row row{.name = "logcumsumexp", .schema = "logcumsumexp(x[*], axis) -> y[*]", .saves = "x y",
                           .samples = "*=2,3,4 axis=1; *=2,5 axis=-1; *= axis=0; *=0 axis=0", .aten = "logcumsumexp(self, dim)"};
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct Cumargmax {  // the index of the largest so far (smallest = true: the smallest): the last among equals; a NaN wins
  static constexpr Row row{.name = "cumargmax", .schema = "cumargmax(any x[*], axis, smallest=false) -> i64 y",
                           .no_grad = "an index is constant almost everywhere",
                           .samples = "*=2,3,4 axis=1; *=2,5 axis=-1 smallest=true; *= axis=0; *=0 axis=0"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
};

// Integers give i64.
inline Tensor cumsum(const Tensor& x, int64_t axis) { return apply<Cumsum>({x}, {axis}); }
inline Tensor cumprod(const Tensor& x, int64_t axis) { return apply<Cumprod>({x}, {axis}); }
inline Tensor logcumsumexp(const Tensor& x, int64_t axis) { return apply<Logcumsumexp>({x}, {axis}); }

// Compositions. The largest and the smallest so far, with their indices.
struct Extremes {
  Tensor values, indices;
};
Extremes cummax(const Tensor& x, int64_t axis);
Extremes cummin(const Tensor& x, int64_t axis);
// x_{i+1} - x_i along an axis, `order` times; of bool: where neighbours differ.
Tensor diff(const Tensor& x, int64_t order = 1, int64_t axis = -1);
std::vector<Composition> scan_compositions();

using ScanOps = OpList<Cumsum, Cumprod, Logcumsumexp, Cumargmax>;

}  // namespace rote

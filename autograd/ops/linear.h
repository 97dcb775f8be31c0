// autograd/ops/linear.h — matrix products by AC-1's fixed-order GEMM.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Linear {  // y = x·wᵀ + b
  static constexpr Row row{.name = "linear", .schema = "linear(x[*,I], w[O,I], b[O]?) -> y[*,O]", .saves = "x w", .reads = "w, x, ",
                           .autocast = Autocast::lower, .samples = "*=2,3 I=4 O=5; * I=3 O=2; *=2 I=1 O=1; *=0 I=3 O=2"};
  static constexpr bool takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct Matmul {  // z = x·y over the last two axes, leading axes broadcast
  static constexpr Row row{.name = "matmul", .schema = "matmul(x[...], y[...]) -> z", .saves = "x y", .reads = "y, x", .autocast = Autocast::lower,
                           .samples = "x=2,3 y=3,4; x=2,1,3,4 y=5,4,2; x=3,0 y=0,2"};
  static constexpr bool takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct MatmulIntegers {  // z = x·y as matmul has it, with wrap-around
  static constexpr Row row{.name = "matmul_integers", .schema = "matmul_integers(i64 x[...], i64 y[...]) -> i64 z",
                           .no_grad = "integers have no derivative", .samples = "x=2,3 y=3,4; x=2,1,3,4 y=5,4,2; x=3,0 y=0,2"};
  static void forward(Call& call);
};

// x [*,I], w [O,I], b [O] or none -> [*,O].
inline Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {}) { return apply<Linear>({x, w, b}); }
// [*,M,K]·[*,K,N] -> [*,M,N], of one dtype, integers too; a vector on the left is a row, on the right a column, and that axis goes away again.
Tensor matmul(const Tensor& x, const Tensor& y);
std::vector<Composition> linear_compositions();

using LinearOps = OpList<Linear, Matmul, MatmulIntegers>;

}  // namespace rote

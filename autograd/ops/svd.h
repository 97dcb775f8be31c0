// autograd/ops/svd.h — singular values, for the matrix norms that need them.
#pragma once

#include "autograd/apply.h"

namespace rote {

// s [*,min(M,N)], descending, with x = u·diag(s)·vt. Computed in f64 by one-sided Jacobi rotations, which give small singular values as exactly as
// large ones.  Hestenes 1958; Demmel & Veselić 1992
struct SingularValues {
  static constexpr Row row{.name = "singular_values", .schema = "singular_values(x[*,M,N]) -> s, wide u, wide vt", .saves = "u vt",
                           .once = "the derivatives of singular vectors are not built", .samples = "*=2 M=3 N=2; * M=2 N=4; * M=3 N=3; *=0 M=2 N=2"};
  static void infer(Call& call);
  static void forward(Call& call);
  static void backward(Call& call);
};
inline Tensor singular_values(const Tensor& x) { return apply<SingularValues>({x}); }

using SvdOps = OpList<SingularValues>;

}  // namespace rote

// autograd/ops/random.h — dropout. Stateless: the mask follows from seed, sample, module path and call ordinal (arithmetic.md 7).
#pragma once

#include "autograd/apply.h"
#include "kernels/table.h"

namespace rote {

struct DropoutOp {  // y = x·keep/(1-p).  Srivastava et al. 2014.  draw, seed: those of an earlier call, to drop the same again
  static constexpr Row row{.name = "dropout", .schema = "dropout(x[*], p, draw=none, seed=none) -> y[*]",
                           .samples = "*=2,3 p=0.5; *= p=0.1; *=0 p=0.1"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// p is quantised to 1/65536, and the scale uses the quantised value. p = 0 or not training: x itself.
inline Tensor dropout(const Tensor& x, double p, bool training = true) { return p == 0 || !training ? x : apply<DropoutOp>({x}, {p}); }

// The kernel's view of a call's randomness; `rows`: samples of the call along axis 0, out.
Dropout draw_of(const Call& call, double p, int64_t* rows);

using RandomOps = OpList<DropoutOp>;

}  // namespace rote

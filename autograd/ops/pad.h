// autograd/ops/pad.h — elements added around a tensor, or cut off it.
#pragma once

#include <string>

#include "autograd/apply.h"

namespace rote {

struct ConstantPad {  // pad: before and after of the last axis, then of the one before it, …; negative ones cut
  static constexpr Row row{.name = "constant_pad", .schema = "constant_pad(any x[...], pad, value=0.0) -> y",
                           .samples = "x=2,3,4 pad=[1,2]; x=3,4 pad=[-1,2,0,1] value=0.5; x=2 pad=[-1,-1]; x=0,3 pad=[0,1]; x= pad=[]"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor constant_pad(const Tensor& x, const std::vector<int64_t>& pad, double value = 0) { return apply<ConstantPad>({x}, {pad, value}); }
// Modes: constant; and for the last one to three axes of x [N,C,…] or [C,…]: reflect, replicate, circular.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pad, const std::string& mode = "constant", double value = 0);
std::vector<Composition> pad_compositions();

using PadOps = OpList<ConstantPad>;

}  // namespace rote

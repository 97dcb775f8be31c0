// autograd/lowered.h — an op's result in 16 bits under autocast: one copy for all ops that read it. Holds no memory of its own.
#pragma once

#include "tensor/tensor.h"

namespace rote {

// x in another dtype, outside of the graph; x itself where it has it already. An f32 result of an op that was converted before on this thread
// gives the same tensor while that is alive (an op that ran saved it for backward) and x was not written since: q, k and v of attention share
// one copy of what they read.
Tensor lowered(const Tensor& x, DType to);

}  // namespace rote

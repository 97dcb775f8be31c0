// optim/blocks.h — f32 updates over tensors that are kept narrower: block by block they are widened, updated and rounded once. Knows no formula.
#pragma once

#include "optim/rule.h"

namespace rote::optim {

// Elements begin … begin + n - 1 as f32: where they are, or copied into `room`. REQUIRES: x is f32, bf16 or f16 and contiguous.
const float* widened(const Tensor& x, int64_t begin, int64_t n, float* room);

// As UpdateKernel over the whole parameter. Takes memory for a few thousand elements a thread, whatever the size.
uint32_t run_in_blocks(const UpdateFormula& formula, const Optimizer::Slot& slot, const Tensor& gradient, const float* scalars);

// Makes slot.param, f32 or bf16, a bf16 tensor under every handle to it, fills slot.rest as slot.precision says, and drops the gradient.
void keep_in_bf16(Optimizer::Slot& slot);

}  // namespace rote::optim

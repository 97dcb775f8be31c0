// optim/clip.h — the global norm of the gradients and the factor that clips it. Changes no gradient: the factor goes into step().
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rote::optim {

// The 2-norm of all gradients together, in f64: squares in 64 lanes per block of 4096 elements, the tree law over the blocks in the order of
// `params` (arithmetic.md 6). Parameters without a gradient are skipped; without any it is 0. Inf or NaN where a gradient holds one.
double global_norm(const std::vector<Tensor>& params);
// The same of tensors themselves.
double two_norm(const std::vector<Tensor>& tensors);

// min(1, max_norm/(norm + 1e-6)); 1 where max_norm is 0.
double clip_factor(double norm, double max_norm);

}  // namespace rote::optim

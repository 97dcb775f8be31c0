// autograd/formula.h — a formula op's gradients before they are summed to their inputs' shapes, for backward and for its derivative.
#pragma once

#include "autograd/op.h"

namespace rote {

std::vector<double> formula_params(const Call& call);
std::vector<Tensor> formula_saved(const Call& call);  // what the formula's backward reads, in its order

// din[i] of dy's shape for each wanted input, f64 where dy is, else f32; saved tensors broadcast to that shape.
std::vector<Tensor> formula_gradients(const OpEntry& op, const std::vector<Tensor>& saved, const Tensor& dy, const std::vector<double>& params,
                                      const std::vector<bool>& wanted, uint32_t* amax);

}  // namespace rote

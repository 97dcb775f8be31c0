// autograd/checkpoint.h — activations traded for time: a part of the forward that keeps only its inputs and runs again during backward.
#pragma once

#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

using CheckpointedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// f(inputs), without what its ops would keep. backward() runs f once more, in the RunScope, module path and draws of the forward, and walks
// what that records: the same bits, dropout included, as without the checkpoint. Chen et al. 2016, arXiv:1604.06174
// f must be free of side effects and outlive the graph with all that it refers to; parameters that it uses get their gradients.
std::vector<Tensor> checkpoint(const CheckpointedFunction& f, const std::vector<Tensor>& inputs);
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

}  // namespace rote

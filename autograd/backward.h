// autograd/backward.h — the reverse walk and what a user does with leaves.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rote {

struct BackwardOptions {
  bool retain_graph = false;
};

// Adds d loss/d leaf into grad of every leaf that requires it. loss: one element, or pass dy of its shape.
// Nodes run in reverse order of creation, each once, by a loop; what they saved is freed at once unless the graph is retained.
// Inside a RunScope the gradients go to counter stacks instead (arithmetic.md 6) and fold_gradients() ends the window.
void backward(const Tensor& loss, BackwardOptions options = {});
void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& dys, BackwardOptions options = {});

// x itself, marked as a leaf that collects a gradient. Throws where x is a result of an op or has no floating dtype.
Tensor& requires_grad(Tensor& x, bool on = true);
// Sets grad of each leaf to the fold of its stacks by the tree law, uses added in graph order; leaves without any keep their grad.
void fold_gradients(const std::vector<Tensor>& leaves);
void zero_grad(const std::vector<Tensor>& leaves);

}  // namespace rote

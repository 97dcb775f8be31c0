// autograd/backward.h — the reverse walk and what a user does with leaves and gradients.
#pragma once

#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

struct BackwardOptions {
  bool retain_graph = false;
  // Records the walk itself, so that gradients can be differentiated; keeps the graph too.
  bool create_graph = false;
};

// Adds d loss/d leaf into grad of every leaf that requires it. loss: one element, or pass dy of its shape.
// Nodes run in reverse order of creation, each once, by a loop; what they saved is freed at once unless the graph is retained.
// Inside a RunScope the gradients go to counter stacks instead (arithmetic.md 6) and fold_gradients() ends the window.
void backward(const Tensor& loss, BackwardOptions options = {});
void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& dys, BackwardOptions options = {});

struct GradOptions {
  std::vector<Tensor> dys = {};  // one per output; left out: ones, for outputs of one element
  bool retain_graph = false, create_graph = false;
  bool allow_unused = false;     // an input that no output depends on gives an undefined gradient instead of a StateError
};
// Σ_j dy_j·∂output_j/∂input for each input, leaf or not; grad of no leaf is touched. Only the part of the graph between them runs.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const GradOptions& options = {});

// x itself, marked as a leaf that collects a gradient. Throws where x is a result of an op or has no floating dtype.
Tensor& requires_grad(Tensor& x, bool on = true);
// Sets grad of each leaf to the fold of its stacks by the tree law, uses added in graph order; leaves without any keep their grad.
void fold_gradients(const std::vector<Tensor>& leaves);
void zero_grad(const std::vector<Tensor>& leaves);

// Whether a gradient has arrived at the leaf, folded or not.
bool has_gradient(const Tensor& leaf);
// Whether x is a leaf that requires a gradient or the result of a recorded op.
bool needs_gradient(const Tensor& x);

// hook(dx) is called once in each backward that reaches x, with x's whole gradient of that walk, before it goes on; what it returns
// goes on in its place, undefined: nothing changes. A leaf's hooks run before its grad is added to; in a RunScope when the window is folded.
// Hooks run in order of registration and live as long as the leaf, or as the graph behind x.
void register_hook(const Tensor& x, std::function<Tensor(const Tensor&)> hook);
// The gradient of a tensor that is no leaf stays in its grad as well.
void retain_grad(const Tensor& x);

}  // namespace rote

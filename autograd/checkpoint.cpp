#include "autograd/checkpoint.h"

#include "autograd/node.h"
#include "autograd/status.h"
#include "tensor/generator.h"

namespace rote {

namespace {

// What the ops of f saw around them.
struct Surroundings {
  ScopeState scope = current_scope_state() ? *current_scope_state() : ScopeState{};
  std::string path = module_path();
  std::optional<DType> autocast = autocast_dtype();
  DrawState draws = draw_state();
  LeafUses leaves;
};

}  // namespace

std::vector<Tensor> checkpoint(const CheckpointedFunction& f, const std::vector<Tensor>& inputs) {
  if (!grad_enabled()) return f(inputs);
  Surroundings around;
  std::vector<Tensor> outputs;
  {
    const NoGrad no_grad;
    const LeafUsesGuard noted(around.leaves, LeafUsesGuard::note);
    outputs = f(inputs);
  }
  for (Tensor& y : outputs) {
    ROTE_CHECK(y.defined(), ArgumentError, "checkpoint: the function gave an undefined tensor; each result must be one.");
    y = detach(y);
  }
  bool any = !around.leaves.reached.empty();
  for (const Tensor& x : inputs) any = any || needs_grad(x);
  if (!any) return outputs;
  auto node = std::make_shared<Node>();
  node->custom = std::make_unique<Custom>();
  node->custom->name = "checkpoint";
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    node->custom->kept.push_back({x.defined() ? detach(x) : x, x.defined() ? x.storage()->version() : 0});
    node->custom->sources.push_back(x.defined() ? static_cast<int>(i) : Custom::kNoSource);
    // The recomputation links to a leaf by itself and counts that use.
    const bool is_leaf = needs_grad(x) && grad_meta(x).node == nullptr;
    node->edges.push_back(is_leaf ? Edge{nullptr, 0, x.impl(), 0} : edge_to(x));
  }
  // What f refers to beside its inputs: the walk finds the way there by itself, grad() and the audit ask for it before.
  node->edges.insert(node->edges.end(), around.leaves.reached.begin(), around.leaves.reached.end());
  around.leaves.reached.clear();
  node->custom->recompute = [f, around](const std::vector<Tensor>& x) {
    const DrawsAside draws(around.draws);
    LeafUses leaves = around.leaves;
    const EnableGrad enable;
    const RunScopeGuard scope(around.scope);
    const PathOf path(around.path);
    const AutocastGuard autocast(around.autocast);
    const LeafUsesGuard replayed(leaves, LeafUsesGuard::replay);
    return f(x);
  };
  for (const Tensor& y : outputs) {
    node->out_shapes.push_back(y.shape());
    node->out_dtypes.push_back(y.dtype());
  }
  if (const RunScope* scope = current_scope()) node->call.scope = *scope;
  node->sequence = next_sequence();
  node->path = intern_path(around.path);
  set_history(outputs, node);
  return outputs;
}

Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  return checkpoint([f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; }, std::vector<Tensor>{x})[0];
}

}  // namespace rote

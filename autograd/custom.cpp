#include "autograd/custom.h"

#include "autograd/node.h"
#include "autograd/status.h"

namespace rote {

namespace {

int source_of(const Tensor& x, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].impl() == x.impl()) return static_cast<int>(i);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].impl() == x.impl()) return ~static_cast<int>(i);
  return Custom::kNoSource;
}

}  // namespace

std::vector<Tensor> run(const CustomFunction& function, const std::vector<Tensor>& inputs) {
  Keeper keeper;
  std::vector<Tensor> outputs;
  {
    const NoGrad guard;
    outputs = function.forward(keeper, inputs);
  }
  std::vector<int> sources;
  for (const Tensor& x : keeper.kept()) sources.push_back(x.defined() ? source_of(x, inputs, outputs) : Custom::kNoSource);
  // A tensor that was there before, an input or one that forward refers to, keeps its own history.
  for (Tensor& y : outputs) {
    ROTE_CHECK(y.defined(), ArgumentError, function.name, ": forward gave an undefined tensor; each output must be one.");
    y = detach(y);
  }
  bool any = false;
  for (const Tensor& x : inputs) any = any || (needs_grad(x) && is_floating(x.dtype()));
  if (!grad_enabled()) note_uses(inputs, std::vector<bool>(inputs.size(), true));
  if (!any || !grad_enabled()) return outputs;
  auto node = std::make_shared<Node>();
  node->custom = std::make_unique<Custom>();
  node->custom->name = function.name;
  node->custom->backward = function.backward;
  for (const Tensor& x : keeper.kept()) node->custom->kept.push_back({x.defined() ? detach(x) : x, x.defined() ? x.storage()->version() : 0});
  node->custom->sources = std::move(sources);
  for (const Tensor& x : inputs) {
    node->edges.push_back(edge_to(x));
    node->call.in_shapes.push_back(x.defined() ? x.shape() : Shape());
    node->call.in_dtypes.push_back(x.defined() ? x.dtype() : DType::f32);
  }
  for (const Tensor& y : outputs) {
    node->out_shapes.push_back(y.shape());
    node->out_dtypes.push_back(y.dtype());
  }
  if (const RunScope* scope = current_scope()) node->call.scope = *scope;
  node->sequence = next_sequence();
  node->path = intern_path(module_path());
  set_history(outputs, node);
  return outputs;
}

}  // namespace rote

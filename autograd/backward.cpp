#include "autograd/backward.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "autograd/node.h"
#include "autograd/ops/view.h"
#include "autograd/ops/pointwise.h"
#include "autograd/status.h"
#include "kernels/pool.h"

namespace rote {

namespace {

// Gradients that have arrived at nodes which have not run yet, newest node first.
struct Pending {
  struct Entry {
    std::shared_ptr<Node> node;
    std::vector<Tensor> dout;
  };
  std::map<uint64_t, Entry, std::greater<>> entries;

  void arrive(const std::shared_ptr<Node>& node, int output, const Tensor& dy) {
    Entry& e = entries[node->sequence];
    if (!e.node) {
      e.node = node;
      e.dout.resize(node->out_shapes.size());
    }
    Tensor& slot = e.dout[static_cast<size_t>(output)];
    slot = slot.defined() ? add(slot, dy) : dy;
  }
};

void push(GradientStack& stack, int64_t leaves, const Tensor& sum) {
  stack.parts.push_back({leaves, sum});
  while (stack.parts.size() > 1 && stack.parts[stack.parts.size() - 2].leaves == stack.parts.back().leaves) {
    const GradientStack::Part last = stack.parts.back();
    stack.parts.pop_back();
    GradientStack::Part& before = stack.parts.back();
    before = {before.leaves + last.leaves, add(before.sum, last.sum)};
  }
}

Tensor fold(const GradientStack& stack) {
  Tensor sum = stack.parts.back().sum;
  for (size_t i = stack.parts.size() - 1; i-- > 0;) sum = add(stack.parts[i].sum, sum);
  return sum;
}

void arrive_at_leaf(const Edge& edge, const Tensor& dx, const RunScope& scope) {
  GradMeta& meta = grad_meta(Tensor(edge.leaf));
  if (scope.samples <= 0) {
    // A contiguous tensor of its own: dx may be shared with another leaf (add passes dy on).
    meta.grad = meta.grad.defined() ? add(meta.grad, dx) : clone(dx);
    return;
  }
  if (static_cast<int>(meta.stacks.size()) <= edge.use) meta.stacks.resize(static_cast<size_t>(edge.use) + 1);
  push(meta.stacks[static_cast<size_t>(edge.use)], (scope.samples + scope.sample_leaf - 1) / scope.sample_leaf, dx);
}

void check_saved(const Node& node) {
  const Call& c = node.call;
  const char* op = c.op->row.name;
  ROTE_CHECK(!node.released, StateError, "backward: the graph of this loss was freed by an earlier backward; pass {.retain_graph = true} to the first call.");
  for (size_t i = 0; i < node.saved_versions.size(); ++i) {
    const bool is_input = i < c.in.size();
    const Tensor& x = is_input ? c.in[i] : c.out[i - c.in.size()];
    if (!x.defined()) continue;
    const std::string& name = is_input ? c.op->schema.inputs[i].name : c.op->schema.outputs[i - c.in.size()].name;
    ROTE_CHECK(x.storage()->version() == node.saved_versions[i], StateError, "backward: ", op, " needs the value of ", name, " (", describe(x),
               ") that an in-place op overwrote after it ran; write into a clone.");
  }
}

void run_node(Node& node, std::vector<Tensor> dout, Pending& pending, bool retain) {
  check_saved(node);
  Call call = node.call;
  call.dout = std::move(dout);
  call.din.resize(call.in_shapes.size());
  call.amax = 0;
  with_default_control([&] { call.op->backward(call); });
  if (!call.op->moves_only) record_status({0, call.op->row.name, Phase::backward, node.path, call.amax, node.out_shapes[0]});
  for (size_t i = 0; i < node.edges.size(); ++i) {
    const Edge& edge = node.edges[i];
    if (!edge.defined() || !call.din[i].defined()) continue;
    if (edge.node) pending.arrive(edge.node, edge.output, call.din[i]);
    else arrive_at_leaf(edge, call.din[i], call.scope);
    call.din[i] = Tensor();
  }
  if (!retain) {
    node.released = true;
    node.call.in.assign(node.call.in.size(), Tensor());
    node.call.out.assign(node.call.out.size(), Tensor());
    node.edges.clear();
  }
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& dys, BackwardOptions options) {
  const NoGrad guard;
  Pending pending;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& y = outputs[i];
    ROTE_CHECK(needs_grad(y), StateError, "backward: output ", i, " (", describe(y), ") does not depend on any tensor that requires a gradient.");
    Tensor dy = i < dys.size() ? dys[i] : Tensor();
    if (!dy.defined()) {
      ROTE_CHECK(y.numel() == 1, ShapeError, "backward: output ", i, " is ", describe(y), "; without dy it must have one element.");
      dy = full(y.shape(), 1.0, {.dtype = y.dtype()});
    }
    ROTE_CHECK(dy.shape() == y.shape() && dy.dtype() == y.dtype(), ShapeError, "backward: dy ", i, " is ", describe(dy), " but its output ", describe(y),
               "; they must be equal.");
    const Edge edge = edge_to(y);
    if (edge.node) pending.arrive(edge.node, edge.output, dy);
    else arrive_at_leaf(edge, dy, {});
  }
  while (!pending.entries.empty()) {
    auto first = pending.entries.begin();
    const std::shared_ptr<Node> node = std::move(first->second.node);
    std::vector<Tensor> dout = std::move(first->second.dout);
    pending.entries.erase(first);
    run_node(*node, std::move(dout), pending, options.retain_graph);
  }
}

void backward(const Tensor& loss, BackwardOptions options) { backward(std::vector<Tensor>{loss}, {}, options); }

Tensor& requires_grad(Tensor& x, bool on) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "requires_grad: ", describe(x), " has no gradient; only floating tensors have.");
  ROTE_CHECK(!grad_meta(x).node, StateError, "requires_grad: ", describe(x), " is the result of an op and not a leaf; detach() it first.");
  grad_meta(x).requires_grad = on;
  return x;
}

void fold_gradients(const std::vector<Tensor>& leaves) {
  const NoGrad guard;
  for (const Tensor& leaf : leaves) {
    GradMeta& meta = grad_meta(leaf);
    Tensor sum;
    for (const GradientStack& stack : meta.stacks)
      if (!stack.parts.empty()) sum = sum.defined() ? add(sum, fold(stack)) : fold(stack);
    meta.stacks.clear();
    // A gradient is its own memory: add passes one dy on to several leaves.
    if (sum.defined()) meta.grad = sum.storage().use_count() > 1 ? clone(sum) : contiguous(sum);
  }
}

void zero_grad(const std::vector<Tensor>& leaves) {
  for (const Tensor& leaf : leaves) {
    GradMeta& meta = grad_meta(leaf);
    meta.grad = Tensor();
    meta.stacks.clear();
  }
}

}  // namespace rote

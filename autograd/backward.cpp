#include "autograd/backward.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "autograd/node.h"
#include "autograd/op_timer.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"
#include "autograd/status.h"
#include "kernels/pool.h"

namespace rote {

namespace {

constexpr uint64_t kForeignSerial = ~uint64_t{0};  // of a scope that is closed already

// The hooks that there are when the gradient comes: one may register others.
Tensor hooked(const std::vector<TensorHook> hooks, Tensor dx) {
  for (const TensorHook& hook : hooks)
    if (const Tensor other = hook(dx); other.defined()) {
      ROTE_CHECK(other.shape() == dx.shape() && other.dtype() == dx.dtype(), ShapeError, "hook: gave ", describe(other), " for the gradient ", describe(dx),
                 "; shape and dtype must stay.");
      dx = other;
    }
  return dx;
}

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

void accumulate(GradMeta& meta, const Tensor& dx) {
  // A contiguous tensor of its own: dx may be shared with another leaf (add passes dy on).
  meta.grad = meta.grad.defined() ? add(meta.grad, dx) : clone(dx);
}

// A saved tensor with the place in the graph that it had: input i is where edge i leads, output i comes from the node itself.
Tensor relinked(const std::shared_ptr<Node>& node, const Tensor& x, int source) {
  if (!x.defined() || source == Custom::kNoSource) return x;
  if (source < 0) {
    const Tensor y = detach(x);
    grad_meta(y).node = node;
    grad_meta(y).output = ~source;
    return y;
  }
  const Edge& edge = node->edges[static_cast<size_t>(source)];
  if (edge.leaf) return Tensor(edge.leaf);
  const Tensor y = detach(node->custom ? x : converted(x, node->call.in_dtypes[static_cast<size_t>(source)]));
  if (edge.node) {
    grad_meta(y).node = edge.node;
    grad_meta(y).output = edge.output;
  }
  return y;
}

void check_version(const Node& node, const Tensor& x, int64_t version, const std::string& what) {
  if (!x.defined()) return;
  ROTE_CHECK(x.storage()->version() == version, StateError, "backward: ", node.name(), " needs the value of ", what, " (", describe(x),
             ") that an in-place op overwrote after it ran; write into a clone.");
}

void check_saved(const Node& node) {
  ROTE_CHECK(!node.released, StateError, "backward: the graph of this loss was freed by an earlier backward; pass {.retain_graph = true} to the first call.");
  if (node.custom) {
    for (const Kept& kept : node.custom->kept) check_version(node, kept.x, kept.version, "a tensor that it kept");
    return;
  }
  const Call& c = node.call;
  for (size_t i = 0; i < node.saved_versions.size(); ++i) {
    const bool is_input = i < c.in.size();
    check_version(node, is_input ? c.in[i] : c.out[i - c.in.size()], node.saved_versions[i],
                  is_input ? c.op->schema.inputs[i].name : c.op->schema.outputs[i - c.in.size()].name);
  }
}

// dx of each input of an op's node.
std::vector<Tensor> run_op(const std::shared_ptr<Node>& node, std::vector<Tensor> dout, const std::vector<bool>& wanted, bool again) {
  const OpEntry& op = *node->call.op;
  ROTE_CHECK(!again || op.again != nullptr, StateError, "backward: ", op.row.name, " has no second derivative (", op.row.once, ").");
  Call call = node->call;
  call.dout = std::move(dout);
  call.din.resize(call.in_shapes.size());
  call.wanted = wanted;
  call.amax = 0;
  if (again) {
    for (const int i : op.saves) {
      Tensor& x = i >= 0 ? call.in[static_cast<size_t>(i)] : call.out[static_cast<size_t>(~i)];
      x = relinked(node, x, i);
    }
  }
  const bool as_they_are = op.takes_sixteen && !again;
  if (call.lower && !as_they_are)
    for (size_t i = 0; i < call.in.size(); ++i)
      if (is_free(op.schema.inputs[i]) && call.in[i].defined() && call.in[i].dtype() == DType::f32) call.in[i] = to(call.in[i], *call.lower);
  if (op.formula == nullptr && !as_they_are) {
    const auto widen = [](const Operand& operand, Tensor& x) {
      if (is_free(operand) && x.defined() && is_floating(x.dtype()) && size_of(x.dtype()) == 2) x = to(x, DType::f32);
    };
    for (size_t i = 0; i < call.in.size(); ++i) widen(op.schema.inputs[i], call.in[i]);
    for (size_t i = 0; i < call.out.size(); ++i) widen(op.schema.outputs[i], call.out[i]);
    for (size_t i = 0; i < call.dout.size(); ++i) widen(op.schema.outputs[i], call.dout[i]);
  }
  {
    const TimedOp timed(op.row.name, Phase::backward, node->path, call.in_shapes);
    with_default_control([&] { again ? op.again(call) : op.backward(call); });
  }
  if (op.formula == nullptr && !as_they_are) {  // what was widened makes room
    call.in = node->call.in;
    call.out = node->call.out;
  }
  for (size_t i = 0; i < call.din.size(); ++i)
    if (call.din[i].defined()) call.din[i] = to(call.din[i], call.in_dtypes[i]);
  if (!op.moves_only) record_status({0, op.row.name, Phase::backward, node->path, stored_word(call.amax, call.din), node->out_shapes[0], call.amax});
  observe_backward(call, node->path);
  return std::move(call.din);
}

std::vector<Tensor> run_custom(const std::shared_ptr<Node>& node, std::vector<Tensor> dout, bool again) {
  const Custom& custom = *node->custom;
  for (size_t i = 0; i < dout.size(); ++i)
    if (!dout[i].defined()) dout[i] = zeros(node->out_shapes[i], {.dtype = node->out_dtypes[i]});
  std::vector<Tensor> kept;
  for (size_t i = 0; i < custom.kept.size(); ++i) kept.push_back(again ? relinked(node, custom.kept[i].x, custom.sources[i]) : custom.kept[i].x);
  std::vector<Tensor> din;
  with_default_control([&] { din = custom.backward(kept, dout); });
  ROTE_CHECK(din.size() == node->edges.size(), ArgumentError, custom.name, ": backward gave ", din.size(), " gradients for ", node->edges.size(), " inputs; one each is needed.");
  for (size_t i = 0; i < din.size(); ++i) {
    if (!din[i].defined()) continue;
    ROTE_CHECK(din[i].shape() == node->call.in_shapes[i], ShapeError, custom.name, ": backward gave ", describe(din[i]), " for input ", i, ", which has shape ",
               node->call.in_shapes[i], ".");
    din[i] = to(din[i], node->call.in_dtypes[i]);
  }
  return din;
}

// Where grad() wants to know the gradient.
struct Target {
  Edge edge;
  Tensor sum;
};

// One walk: gradients that have arrived at nodes which have not run yet, newest node first.
class Walk {
 public:
  Walk(bool retain, bool create_graph) : retain_(retain || create_graph), create_graph_(create_graph) {}

  // For grad(): nothing but what leads to the targets runs, and no leaf's grad is touched.
  void aim(std::vector<Target>& targets, const std::vector<Tensor>& outputs) {
    targets_ = &targets;
    std::vector<std::shared_ptr<Node>> stack;
    std::map<uint64_t, Node*> all;
    const auto visit = [&](const std::shared_ptr<Node>& node) {
      if (node && all.emplace(node->sequence, node.get()).second) stack.push_back(node);
    };
    for (const Tensor& y : outputs) visit(edge_to(y).node);
    while (!stack.empty()) {
      const std::shared_ptr<Node> node = std::move(stack.back());
      stack.pop_back();
      for (const Edge& edge : node->edges) visit(edge.node);
    }
    for (const auto& [sequence, node] : all)
      if ((node->custom && node->custom->recompute) || std::any_of(node->edges.begin(), node->edges.end(), [&](const Edge& edge) { return leads_on(edge); }))
        needed_.insert(node);
    newest_ = all.empty() ? 0 : all.rbegin()->first;
  }

  void start(const Tensor& y, const Tensor& dy) { arrive(edge_to(y), dy, {}); }

  void run() {
    while (!entries_.empty()) {
      auto first = entries_.begin();
      const std::shared_ptr<Node> node = std::move(first->second.node);
      std::vector<Tensor> dout = std::move(first->second.dout);
      entries_.erase(first);
      run_node(node, std::move(dout));
    }
    if (targets_ != nullptr)
      for (Target& t : *targets_)
        if (t.edge.leaf && t.sum.defined()) t.sum = hooked(grad_meta(Tensor(t.edge.leaf)).hooks, t.sum);
    for (auto& [leaf, sum] : leaves_) {
      GradMeta& meta = grad_meta(Tensor(leaf));
      accumulate(meta, hooked(meta.hooks, sum));
    }
  }

 private:
  struct Entry {
    std::shared_ptr<Node> node;
    std::vector<Tensor> dout;
  };

  Target* target(const Edge& edge) {
    if (targets_ == nullptr) return nullptr;
    for (Target& t : *targets_)
      if (edge.leaf ? t.edge.leaf == edge.leaf : t.edge.node == edge.node && t.edge.output == edge.output) return &t;
    return nullptr;
  }
  bool leads_on(const Edge& edge) {
    if (!edge.defined()) return false;
    return targets_ == nullptr || target(edge) != nullptr || (edge.node && is_needed(*edge.node));
  }
  // What a checkpoint recomputes is newer than all that was there when the walk began; where it leads is not known before.
  bool is_needed(const Node& node) const { return node.sequence > newest_ || needed_.count(&node) != 0; }

  void arrive(const Edge& edge, const Tensor& dx, const RunScope& scope) {
    if (edge.node) {
      Entry& e = entries_[edge.node->sequence];
      if (!e.node) {
        e.node = edge.node;
        e.dout.resize(edge.node->out_shapes.size());
      }
      Tensor& slot = e.dout[static_cast<size_t>(edge.output)];
      slot = slot.defined() ? add(slot, dx) : dx;
      return;
    }
    GradMeta& meta = grad_meta(Tensor(edge.leaf));
    if (targets_ != nullptr) {
      if (Target* t = target(edge)) t->sum = t->sum.defined() ? add(t->sum, dx) : dx;
    } else if (scope.samples > 0) {
      if (static_cast<int>(meta.stacks.size()) <= edge.use) meta.stacks.resize(static_cast<size_t>(edge.use) + 1);
      push(meta.stacks[static_cast<size_t>(edge.use)], (scope.samples + scope.sample_leaf - 1) / scope.sample_leaf, dx);
    } else if (!meta.hooks.empty()) {
      for (auto& [leaf, sum] : leaves_)
        if (leaf == edge.leaf) {
          sum = add(sum, dx);
          return;
        }
      leaves_.emplace_back(edge.leaf, dx);
    } else {
      accumulate(meta, dx);
    }
  }

  void run_node(const std::shared_ptr<Node>& node, std::vector<Tensor> dout) {
    const auto hooks = node->hooks;
    for (const auto& [output, hook] : hooks)
      if (Tensor& dy = dout[static_cast<size_t>(output)]; dy.defined()) dy = hooked({hook}, dy);
    if (targets_ != nullptr) {
      for (Target& t : *targets_)
        if (t.edge.node == node) t.sum = dout[static_cast<size_t>(t.edge.output)];
      if (!is_needed(*node)) return;
    }
    check_saved(*node);
    std::vector<bool> wanted;
    for (const Edge& edge : node->edges) wanted.push_back(leads_on(edge));
    const RunScope scope = node->call.scope;
    std::optional<RunScopeGuard> in_scope;  // ops of the backward see the samples of the forward
    if (const RunScope* here = current_scope(); !(here ? *here : RunScope{}).same_samples(scope)) in_scope.emplace(ScopeState{scope, scope.samples > 0 ? kForeignSerial : 0, {}});
    if (node->custom && node->custom->recompute) {
      recompute(node, dout, scope);
      release(*node);
      return;
    }
    std::vector<Tensor> din = node->custom ? run_custom(node, std::move(dout), create_graph_) : run_op(node, std::move(dout), wanted, create_graph_);
    for (size_t i = 0; i < node->edges.size(); ++i) {
      if (wanted[i] && din[i].defined()) arrive(node->edges[i], din[i], scope);
      din[i] = Tensor();
    }
    release(*node);
  }

  void recompute(const std::shared_ptr<Node>& node, const std::vector<Tensor>& dout, const RunScope& scope) {
    const Custom& custom = *node->custom;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < custom.kept.size(); ++i) inputs.push_back(relinked(node, custom.kept[i].x, custom.sources[i]));
    const std::vector<Tensor> outputs = custom.recompute(inputs);
    ROTE_CHECK(outputs.size() == dout.size(), StateError, "checkpoint: the recomputation gave ", outputs.size(), " results, the forward ", dout.size(),
               "; the function must do the same each time.");
    for (size_t i = 0; i < outputs.size(); ++i)
      ROTE_CHECK(outputs[i].defined() && outputs[i].shape() == node->out_shapes[i] && outputs[i].dtype() == node->out_dtypes[i], StateError, "checkpoint: result ", i,
                 " of the recomputation is ", describe(outputs[i]), ", of the forward ", name(node->out_dtypes[i]), node->out_shapes[i], "; the function must do the same each time.");
    for (size_t i = 0; i < outputs.size(); ++i)
      if (dout[i].defined() && needs_grad(outputs[i])) arrive(edge_to(outputs[i]), dout[i], scope);
  }

  void release(Node& node) const {
    if (retain_) return;
    node.released = true;
    node.call.in.assign(node.call.in.size(), Tensor());
    node.call.out.assign(node.call.out.size(), Tensor());
    if (node.custom) node.custom->kept.clear(), node.custom->backward = nullptr, node.custom->recompute = nullptr;
    node.edges.clear();
  }

  std::map<uint64_t, Entry, std::greater<>> entries_;
  std::vector<std::pair<std::shared_ptr<TensorImpl>, Tensor>> leaves_;  // with hooks: their gradients of this walk
  std::vector<Target>* targets_ = nullptr;
  std::unordered_set<const Node*> needed_;
  uint64_t newest_ = 0;
  bool retain_, create_graph_;
};

Tensor checked_dy(const Tensor& y, size_t i, const std::vector<Tensor>& dys) {
  ROTE_CHECK(needs_grad(y), StateError, "backward: output ", i, " (", describe(y), ") does not depend on any tensor that requires a gradient.");
  Tensor dy = i < dys.size() ? dys[i] : Tensor();
  if (!dy.defined()) {
    ROTE_CHECK(y.numel() == 1, ShapeError, "backward: output ", i, " is ", describe(y), "; without dy it must have one element.");
    dy = full(y.shape(), 1.0, {.dtype = y.dtype()});
  }
  ROTE_CHECK(dy.shape() == y.shape() && dy.dtype() == y.dtype(), ShapeError, "backward: dy ", i, " is ", describe(dy), " but its output ", describe(y),
             "; they must be equal.");
  return dy;
}

void walk(Walk& walk, const std::vector<Tensor>& outputs, const std::vector<Tensor>& dys, bool recorded) {
  const GradMode guard(recorded);
  const AutocastGuard as_is(std::nullopt);
  std::vector<Tensor> checked;
  for (size_t i = 0; i < outputs.size(); ++i) checked.push_back(checked_dy(outputs[i], i, dys));
  for (size_t i = 0; i < outputs.size(); ++i) walk.start(outputs[i], checked[i]);
  walk.run();
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& dys, BackwardOptions options) {
  Walk one(options.retain_graph, options.create_graph);
  walk(one, outputs, dys, options.create_graph);
}

void backward(const Tensor& loss, BackwardOptions options) { backward(std::vector<Tensor>{loss}, {}, options); }

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const GradOptions& options) {
  std::vector<Target> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ROTE_CHECK(needs_grad(inputs[i]), StateError, "grad: input ", i, " (", describe(inputs[i]), ") requires no gradient; mark it with requires_grad() first.");
    const GradMeta& meta = grad_meta(inputs[i]);
    targets.push_back({meta.node ? Edge{meta.node, meta.output, nullptr, 0} : Edge{nullptr, 0, inputs[i].impl(), 0}, {}});
  }
  Walk one(options.retain_graph, options.create_graph);
  one.aim(targets, outputs);
  walk(one, outputs, options.dys, options.create_graph);
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < targets.size(); ++i) {
    // An input named twice has one target that is filled.
    for (const Target& t : targets)
      if (!targets[i].sum.defined() && t.edge.leaf == targets[i].edge.leaf && t.edge.node == targets[i].edge.node && t.edge.output == targets[i].edge.output)
        targets[i].sum = t.sum;
    ROTE_CHECK(options.allow_unused || targets[i].sum.defined(), StateError, "grad: no output depends on input ", i, " (", describe(inputs[i]),
               "); pass {.allow_unused = true} to get an undefined gradient for it.");
    gradients.push_back(targets[i].sum);
  }
  return gradients;
}

Tensor& requires_grad(Tensor& x, bool on) {
  ROTE_CHECK(is_floating(x.dtype()), DTypeError, "requires_grad: ", describe(x), " has no gradient; only floating tensors have.");
  ROTE_CHECK(!grad_meta(x).node, StateError, "requires_grad: ", describe(x), " is the result of an op and not a leaf; detach() it first.");
  grad_meta(x).requires_grad = on;
  return x;
}

void fold_gradients(const std::vector<Tensor>& leaves) {
  const NoGrad guard;
  for (const Tensor& leaf : leaves) {
    if (!leaf.defined()) continue;
    GradMeta& meta = grad_meta(leaf);
    Tensor sum;
    for (const GradientStack& stack : meta.stacks)
      if (!stack.parts.empty()) sum = sum.defined() ? add(sum, fold(stack)) : fold(stack);
    meta.stacks.clear();
    if (!sum.defined()) continue;
    sum = hooked(meta.hooks, sum);
    // A gradient is its own memory: add passes one dy on to several leaves.
    meta.grad = sum.storage().use_count() > 1 ? clone(sum) : contiguous(sum);
  }
}

void zero_grad(const std::vector<Tensor>& leaves) {
  for (const Tensor& leaf : leaves) {
    if (!leaf.defined()) continue;
    GradMeta& meta = grad_meta(leaf);
    meta.grad = Tensor();
    meta.stacks.clear();
  }
}

bool has_gradient(const Tensor& leaf) { return leaf.defined() && leaf.impl()->meta && (grad_meta(leaf).grad.defined() || !grad_meta(leaf).stacks.empty()); }
bool needs_gradient(const Tensor& x) { return needs_grad(x); }

void register_hook(const Tensor& x, std::function<Tensor(const Tensor&)> hook) {
  ROTE_CHECK(needs_grad(x), StateError, "register_hook: ", describe(x), " requires no gradient, so none would ever reach the hook.");
  GradMeta& meta = grad_meta(x);
  if (meta.node) meta.node->hooks.emplace_back(meta.output, std::move(hook));
  else meta.hooks.push_back(std::move(hook));
}

void retain_grad(const Tensor& x) {
  ROTE_CHECK(needs_grad(x), StateError, "retain_grad: ", describe(x), " requires no gradient.");
  GradMeta& meta = grad_meta(x);
  if (!meta.node) return;
  std::weak_ptr<AutogradMeta> place = x.impl()->meta;
  meta.node->hooks.emplace_back(meta.output, [place](const Tensor& dx) {
    if (const auto kept = place.lock()) accumulate(static_cast<GradMeta&>(*kept), dx);
    return Tensor();
  });
}

}  // namespace rote

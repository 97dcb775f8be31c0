// autograd/op.cpp — check, allocate, compute, record: run().
#include "autograd/op.h"

#include <algorithm>
#include <atomic>

#include "autograd/inplace.h"
#include "autograd/lowered.h"
#include "autograd/node.h"
#include "autograd/op_timer.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "tensor/generator.h"

namespace rote {

namespace {

template <class T>
const T& attr_as(const Call& call, int i, const char* wanted) {
  const Attr& attr = call.attrs[static_cast<size_t>(i)];
  ROTE_CHECK(std::holds_alternative<T>(attr), ArgumentError, call.op->row.name, ": ", call.op->schema.attrs[static_cast<size_t>(i)].name, " is ", attr_text(attr),
             "; it must be ", wanted, ".");
  return std::get<T>(attr);
}

}  // namespace

double Call::number(int i) const {
  const Attr& a = attrs[static_cast<size_t>(i)];
  if (const auto* v = std::get_if<int64_t>(&a)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<bool>(&a)) return *v ? 1.0 : 0.0;
  return attr_as<double>(*this, i, "a number");
}
int64_t Call::integer(int i) const {
  if (const auto* v = std::get_if<bool>(&attrs[static_cast<size_t>(i)])) return *v ? 1 : 0;
  return attr_as<int64_t>(*this, i, "an integer");
}
bool Call::flag(int i) const { return integer(i) != 0; }
const std::vector<int64_t>& Call::list(int i) const { return attr_as<std::vector<int64_t>>(*this, i, "a list of integers"); }
const std::string& Call::word(int i) const { return attr_as<std::string>(*this, i, "a word"); }

int64_t Call::leaf(int i, int64_t rows) const { return scope.leaf_rows(in_shapes[static_cast<size_t>(i)], rows); }

namespace {

thread_local LeafUsesGuard* leaf_uses = nullptr;
std::atomic<uint64_t> node_sequence{0};

int count_use(GradMeta& meta, LeafUsesGuard* noted) {
  if (noted != nullptr) return noted->next(meta);
  if (meta.scope_serial != current_scope_serial()) {
    meta.scope_serial = current_scope_serial();
    meta.uses = 0;
  }
  return meta.uses++;
}

}  // namespace

LeafUsesGuard::LeafUsesGuard(LeafUses& uses, Mode mode) : uses_(uses), mode_(mode), outer_(leaf_uses) { leaf_uses = this; }
LeafUsesGuard::~LeafUsesGuard() { leaf_uses = outer_; }

void LeafUsesGuard::note_edge(const Edge& edge) {
  if (mode_ == replay) return;
  const auto same = [&](const Edge& other) { return other.node == edge.node && other.output == edge.output && other.leaf == edge.leaf; };
  if (std::none_of(uses_.reached.begin(), uses_.reached.end(), same)) uses_.reached.push_back(edge);
  if (outer_ != nullptr) outer_->note_edge(edge);
}

int LeafUsesGuard::next(GradMeta& meta) {
  if (mode_ == replay) {
    ROTE_CHECK(uses_.next < uses_.uses.size(), StateError, "checkpoint: the recomputation used more parameters than the forward did; the function must do the same each time.");
    return uses_.uses[uses_.next++];
  }
  uses_.uses.push_back(count_use(meta, outer_));
  return uses_.uses.back();
}

bool needs_grad(const Tensor& x) {
  if (!x.defined()) return false;
  renew_view(x);
  if (!x.impl()->meta) return false;
  const auto& meta = static_cast<const GradMeta&>(*x.impl()->meta);
  return meta.requires_grad || meta.node != nullptr;
}

GradMeta& grad_meta(const Tensor& x) {
  if (!x.impl()->meta) x.impl()->meta = std::make_shared<GradMeta>();
  return static_cast<GradMeta&>(*x.impl()->meta);
}

Edge edge_to(const Tensor& x) {
  if (!needs_grad(x)) return {};
  GradMeta& meta = grad_meta(x);
  if (meta.node) return {meta.node, meta.output, nullptr, 0};
  return {nullptr, 0, x.impl(), count_use(meta, leaf_uses)};
}

// A forward that a checkpoint will repeat counts its leaves as if it were recorded.
void note_uses(const std::vector<Tensor>& inputs, const std::vector<bool>& wanted) {
  if (leaf_uses == nullptr) return;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (wanted[i])
      if (const Edge edge = edge_to(inputs[i]); edge.defined()) leaf_uses->note_edge(edge);
}

uint64_t next_sequence() { return ++node_sequence; }

void set_history(const std::vector<Tensor>& outputs, const std::shared_ptr<Node>& node) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !is_floating(outputs[i].dtype())) continue;
    GradMeta& meta = grad_meta(outputs[i]);
    meta.node = node;
    meta.output = static_cast<int>(i);
  }
}

// Without this a chain of many nodes would be freed by recursion, one stack frame a node.
Node::~Node() {
  std::vector<std::shared_ptr<Node>> doomed;
  const auto take = [&](Node& node) {
    for (Edge& edge : node.edges)
      if (edge.node && edge.node.use_count() == 1) doomed.push_back(std::move(edge.node));
  };
  take(*this);
  while (!doomed.empty()) {
    const std::shared_ptr<Node> node = std::move(doomed.back());
    doomed.pop_back();
    take(*node);
  }
}

namespace {

// `lower`: that of an op which rounds its inputs itself.
DType output_dtype(const Operand& operand, const std::vector<Tensor>& inputs, const Schema& schema, std::optional<DType> lower) {
  if (operand.dtype) return *operand.dtype;
  for (size_t i = 0; i < schema.inputs.size() && i < inputs.size(); ++i) {
    if (!inputs[i].defined() || schema.inputs[i].dtype) continue;
    const DType dtype = lower.value_or(inputs[i].dtype());
    return operand.wide && is_floating(dtype) && size_of(dtype) == 2 ? DType::f32 : dtype;
  }
  return DType::f32;
}

void fill_defaults(const OpEntry& op, std::vector<Attr>& attrs) {
  for (size_t i = attrs.size(); i < op.schema.attrs.size(); ++i) {
    ROTE_CHECK(!op.schema.attrs[i].required, ArgumentError, op.row.name, ": ", op.schema.attrs[i].name, " is missing; it has no default.");
    attrs.push_back(op.schema.attrs[i].fallback);
  }
}

// A saved tensor is kept outside of the graph: an output's node is the one that keeps it, and a cycle would never be freed.
Tensor kept(const Tensor& x) { return x.defined() ? detach(x) : x; }

// Whether an op made what x holds. A view of a parameter shows the parameter's own memory.
bool is_result(const Tensor& x) {
  const TensorImpl& holder = x.impl()->base ? *x.impl()->base : *x.impl();
  return holder.meta && static_cast<const GradMeta&>(*holder.meta).node != nullptr;
}

// Of an input that autocast converted: the smaller of the two, and what is no result of an op (a parameter) as it is, for it is there anyway.
Tensor to_save(const Tensor& given, const Tensor& taken) {
  if (!given.defined() || given.dtype() == taken.dtype()) return kept(taken);
  return is_result(given) && taken.dtype() != DType::f32 ? taken : kept(given);
}

void record(Call&& call, const std::vector<Tensor>& given, const std::vector<bool>& wanted, int path) {
  auto node = std::make_shared<Node>();
  const OpEntry& op = *call.op;
  std::vector<Tensor> in(call.in.size()), out(call.out.size());
  const auto keep = [&](int i) {
    if (i >= 0) in[static_cast<size_t>(i)] = to_save(given[static_cast<size_t>(i)], call.in[static_cast<size_t>(i)]);
    else out[static_cast<size_t>(~i)] = kept(call.out[static_cast<size_t>(~i)]);
  };
  if (op.reads.empty()) std::for_each(op.saves.begin(), op.saves.end(), keep);
  for (size_t i = 0; i < op.reads.size(); ++i)
    if (wanted[i]) std::for_each(op.reads[i].begin(), op.reads[i].end(), keep);
  for (size_t i = 0; i < call.in.size(); ++i) node->edges.push_back(wanted[i] ? edge_to(given[i]) : Edge{});
  for (const Tensor& y : call.out) {
    node->out_shapes.push_back(y.shape());
    node->out_dtypes.push_back(y.dtype());
  }
  set_history(call.out, node);
  for (const auto* kept : {&in, &out})
    for (const Tensor& x : *kept) node->saved_versions.push_back(x.defined() ? x.storage()->version() : 0);
  node->call = std::move(call);
  node->call.in = std::move(in);
  node->call.out = std::move(out);
  node->call.wanted = wanted;
  node->sequence = next_sequence();
  node->path = path;
}

}  // namespace

namespace {

// A result that is an input's own handle becomes a view of it; one in memory of its own is no view, whatever it was made of.
void settle(Tensor& y, const std::vector<Tensor>& inputs) {
  if (!y.defined()) return;
  bool shares = false;
  for (const Tensor& x : inputs) {
    if (!x.defined()) continue;
    if (x.impl() == y.impl()) y = alias(x, x.shape(), x.strides(), x.offset());
    shares = shares || x.storage() == y.storage();
  }
  if (shares) join_history(y);
  else y.impl()->base = nullptr;
}

}  // namespace

bool is_free(const Operand& operand) { return !operand.dtype && !operand.any_dtype && !operand.wide; }

namespace {

// Free operands of one dtype are what kernels need; formulas take any.
std::optional<DType> autocast_to(const OpEntry& op, const std::vector<Tensor>& inputs) {
  const std::optional<DType> lower = autocast_dtype();
  if (!lower) return std::nullopt;
  bool wide = false, narrow = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_free(op.schema.inputs[i]) || !inputs[i].defined() || !is_floating(inputs[i].dtype())) continue;
    if (inputs[i].dtype() == DType::f64) return std::nullopt;
    (inputs[i].dtype() == DType::f32 ? wide : narrow) = true;
  }
  if (op.row.autocast == Autocast::lower) return lower;
  if (op.row.autocast == Autocast::f32) return op.takes_sixteen && !wide ? std::nullopt : std::optional(DType::f32);
  if (op.formula == nullptr && wide && narrow) return DType::f32;
  return std::nullopt;
}

// Kernels compute 16-bit floats in f32 and round once: the dtype in which such an op's free operands are given.
std::optional<DType> sixteen_bits(const OpEntry& op, const std::vector<Tensor>& inputs) {
  if (op.formula != nullptr || op.takes_sixteen) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_free(op.schema.inputs[i]) && inputs[i].defined() && size_of(inputs[i].dtype()) == 2 && is_floating(inputs[i].dtype())) return inputs[i].dtype();
  return std::nullopt;
}

// An input as autocast gives it to the op. What a kernel that rounds while it reads would not keep for backward needs no copy.
Tensor taken(const OpEntry& op, const Tensor& x, DType to) {
  if (op.takes_sixteen && to != DType::f32 && x.dtype() == DType::f32 && !is_result(x)) return x;
  return is_result(x) ? lowered(x, to) : converted(x, to);
}

}  // namespace

namespace {
thread_local OpObserver* observer = nullptr;
}  // namespace

OpObserver::OpObserver(std::function<void(const Call&)> tell, TellBackward tell_backward)
    : tell_(std::move(tell)), tell_backward_(std::move(tell_backward)), outer_(observer) {
  observer = this;
}
OpObserver::~OpObserver() { observer = outer_; }
void observe(const Call& call) {
  for (OpObserver* one = observer; one != nullptr; one = one->outer_) one->tell_(call);
}
void observe_backward(const Call& call, int path) {
  for (OpObserver* one = observer; one != nullptr; one = one->outer_)
    if (one->tell_backward_) one->tell_backward_(call, status_path(path));
}

std::vector<Tensor> run(const OpEntry& op, std::vector<Tensor> inputs, std::vector<Attr> attrs) {
  Call call;
  call.op = &op;
  call.in = std::move(inputs);
  call.in.resize(op.schema.inputs.size());
  call.attrs = std::move(attrs);
  fill_defaults(op, call.attrs);
  const std::vector<Tensor> given = call.in;
  if (const std::optional<DType> to = autocast_to(op, given)) {
    if (*to != DType::f32) call.lower = to;
    for (size_t i = 0; i < given.size(); ++i)
      if (is_free(op.schema.inputs[i]) && given[i].defined() && is_floating(given[i].dtype())) call.in[i] = taken(op, given[i], *to);
  }
  const bool rounds_itself = call.lower && op.takes_sixteen;
  const Binding binding = bind_inputs(op.row.name, op.schema, call.in, op.formula != nullptr, rounds_itself ? call.lower : std::nullopt);
  for (const Tensor& x : given) {
    call.in_shapes.push_back(x.defined() ? x.shape() : Shape());
    call.in_dtypes.push_back(x.defined() ? x.dtype() : DType::f32);
  }
  if (const RunScope* scope = current_scope()) call.scope = *scope;
  call.seed = call.scope.samples > 0 ? call.scope.seed : current_seed();
  std::vector<Tensor> seen = call.in;
  const std::optional<DType> narrow = sixteen_bits(op, seen);
  if (narrow) {
    for (size_t i = 0; i < call.in.size(); ++i)
      if (is_free(op.schema.inputs[i]) && call.in[i].defined()) call.in[i] = converted(call.in[i], DType::f32);
  }
  call.out.resize(op.schema.outputs.size());
  for (size_t i = 0; i < call.out.size(); ++i)
    if (op.schema.outputs[i].shaped && op.infer == nullptr && op.formula == nullptr)
      call.out[i] = empty(bound_shape(op.schema.outputs[i], binding), {.dtype = output_dtype(op.schema.outputs[i], call.in, op.schema, rounds_itself ? call.lower : std::nullopt)});
  if (op.infer != nullptr) op.infer(call);
  const int path = intern_path(module_path());
  {
    const TimedOp timed(op.row.name, Phase::forward, path, call.in_shapes);
    with_default_control([&] { op.forward(call); });
  }
  call.in = std::move(seen);
  if (narrow)
    for (size_t i = 0; i < call.out.size(); ++i)
      if (is_free(op.schema.outputs[i]) && call.out[i].defined() && call.out[i].dtype() == DType::f32) call.out[i] = converted(call.out[i], *narrow);
  for (Tensor& y : call.out) settle(y, given);

  if (!op.moves_only) record_status({0, op.row.name, Phase::forward, path, stored_word(call.amax, call.out), call.out[0].shape(), call.amax});
  std::vector<bool> wanted(call.in.size());
  bool any = false;
  if (op.row.no_grad[0] == 0 && (grad_enabled() || leaf_uses != nullptr))
    for (size_t i = 0; i < call.in.size(); ++i) {
      if (!needs_grad(given[i]) || !is_floating(given[i].dtype())) continue;
      ROTE_CHECK(!op.constant[i], StateError, op.row.name, ": ", op.schema.inputs[i].name, " (", describe(given[i]),
                 ") requires a gradient but the op has no derivative in it; detach() it.");
      wanted[i] = any = true;
    }
  observe(call);
  std::vector<Tensor> outputs = call.out;
  if (any && grad_enabled()) record(std::move(call), given, wanted, path);
  else if (any) note_uses(given, wanted);
  return outputs;
}

}  // namespace rote

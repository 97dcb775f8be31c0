#include "nn/audit.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/node.h"
#include "autograd/status.h"
#include "tensor/generator.h"

namespace rote::nn {

namespace {

// The leaves that gradients of these tensors would reach.
std::unordered_set<const TensorImpl*> leaves_behind(const std::vector<Tensor>& tensors) {
  std::unordered_set<const TensorImpl*> leaves;
  std::unordered_set<const Node*> seen;
  std::vector<Node*> stack;
  const auto visit = [&](Node* node, const TensorImpl* leaf) {
    if (leaf != nullptr) leaves.insert(leaf);
    if (node != nullptr && seen.insert(node).second) stack.push_back(node);
  };
  for (const Tensor& x : tensors)
    if (needs_grad(x)) visit(grad_meta(x).node.get(), grad_meta(x).node ? nullptr : x.impl().get());
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges) visit(edge.node.get(), edge.leaf.get());
  }
  return leaves;
}

std::string place(const std::string& path) { return path.empty() ? "the model" : path; }

}  // namespace

std::vector<std::string> AuditReport::lines() const {
  std::vector<std::string> out;
  if (!unreached.empty()) {
    constexpr size_t kNamed = 8;
    std::string names;
    for (size_t i = 0; i < std::min(unreached.size(), kNamed); ++i) names += (i ? ", " : "") + unreached[i];
    if (unreached.size() > kNamed) names += str(" and ", unreached.size() - kNamed, " more");
    out.push_back(str("audit: no gradient reaches ", names, "; they will not train. requires_grad(x, false) says that this is meant."));
  }
  for (const Cut& cut : cuts) out.push_back(str("audit: ", cut.op, " in ", place(cut.path), " ends the way of a gradient: ", cut.reason, "."));
  for (const Leak& leak : leaks) out.push_back(str("audit: ", leak.op, " in ", place(leak.path), " computes in f64, though no parameter is f64; convert with to(x, DType::f32)."));
  return out;
}

Auditor::Auditor(Module& model) : model_(model) {
  for (const Tensor& x : model.parameters()) has_f64_ = has_f64_ || x.dtype() == DType::f64;
  observer_.emplace([this](const Call& call) { see(call); });
}

void Auditor::see(const Call& call) {
  const char* op = call.op->row.name;
  if (!has_f64_ && std::any_of(call.out.begin(), call.out.end(), [](const Tensor& y) { return y.defined() && y.dtype() == DType::f64; }) &&
      std::none_of(leaks_.begin(), leaks_.end(), [&](const AuditReport::Leak& leak) { return leak.path == module_path(); }))
    leaks_.push_back({op, module_path()});
  const bool gives_places = std::any_of(call.out.begin(), call.out.end(), [](const Tensor& y) { return y.defined() && !is_floating(y.dtype()); });
  const char* reason = call.op->row.no_grad[0] != 0 ? call.op->row.no_grad : "what it gives as integers or bool has no gradient";
  if ((call.op->row.no_grad[0] != 0 || gives_places) && grad_enabled() && std::any_of(call.in.begin(), call.in.end(), needs_grad))
    cuts_.push_back({op, module_path(), reason, call.in});
}

AuditReport Auditor::finish(const std::function<bool(const Tensor&)>& reached) {
  observer_.reset();
  AuditReport report;
  report.leaks = leaks_;
  std::unordered_set<const TensorImpl*> lost;
  for (const auto& [name, x] : model_.named_parameters()) {
    if (!x.requires_grad() || reached(x)) continue;
    report.unreached.push_back(name);
    lost.insert(x.impl().get());
  }
  if (lost.empty()) return report;
  for (const Seen& cut : cuts_) {
    const auto behind = leaves_behind(cut.inputs);
    if (std::any_of(behind.begin(), behind.end(), [&](const TensorImpl* leaf) { return lost.count(leaf) != 0; })) report.cuts.push_back({cut.op, cut.path, cut.reason});
  }
  return report;
}

AuditReport audit(Model& model, const Batch& batch) {
  std::vector<std::pair<Tensor, Tensor>> buffers;
  for (const auto& [name, x] : model.named_buffers()) buffers.emplace_back(x, Tensor());
  for (auto& [x, copy] : buffers) {
    copy = empty(x.shape(), {.dtype = x.dtype()});
    copy_elements(copy, x);
  }
  const Tensor main = batch.find(model.signature().main);
  const DrawsAside draws;
  std::unordered_set<const TensorImpl*> leaves;
  Auditor auditor(model);
  {
    const EnableGrad enable;
    const RunScopeGuard scope({.seed = current_seed(), .samples = main.defined() && main.axes() > 0 ? main.size(0) : 1});
    const ModelOutput output = model(batch);
    std::vector<Tensor> roots{output.loss};
    if (!output.loss.defined()) {
      roots.clear();
      for (const ModelOutput::Field& field : output.fields()) roots.insert(roots.end(), field.values.begin(), field.values.end());
    }
    leaves = leaves_behind(roots);
  }
  for (const auto& [x, copy] : buffers) copy_elements(x, copy);
  return auditor.finish([&](const Tensor& x) { return leaves.count(x.impl().get()) != 0; });
}

}  // namespace rote::nn

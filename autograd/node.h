// autograd/node.h — the graph: nodes, edges, leaves. Built by op.cpp and custom.cpp, walked by backward.cpp.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "autograd/op.h"
#include "tensor/tensor.h"

namespace rote {

struct Node;

// Where the gradient of one input goes: a node's output, or a leaf tensor.
struct Edge {
  std::shared_ptr<Node> node;
  int output = 0;
  std::shared_ptr<TensorImpl> leaf;
  int use = 0;  // which use of the leaf in this scope's graph
  bool defined() const { return node != nullptr || leaf != nullptr; }
};

// Takes the gradient of a tensor and gives the one to go on with; an undefined one changes nothing.
using TensorHook = std::function<Tensor(const Tensor&)>;

// Tensors that a node keeps for its backward, outside of the graph (a cycle would never be freed), each with the version that it has.
struct Kept {
  Tensor x;
  int64_t version = 0;
};

// The backward of a node that is no op: from dy of each output to dx of each input; undefined ones are 0.
struct Custom {
  std::string name;
  std::vector<Kept> kept;
  std::vector<int> sources;  // of kept[i]: input i as i, output i as ~i, of neither kNoSource
  std::function<std::vector<Tensor>(const std::vector<Tensor>& kept, const std::vector<Tensor>& dy)> backward;
  // In place of backward: the outputs made again from the inputs, which are what is kept; the walk goes on through what they record.
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> recompute;
  static constexpr int kNoSource = 1 << 30;
};

struct Node {
  Node() = default;
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  const char* name() const { return custom ? custom->name.c_str() : call.op->row.name; }

  Call call;                            // of an op: in, out hold only what `.saves` names
  std::vector<int64_t> saved_versions;  // of call.in then call.out
  std::unique_ptr<Custom> custom;       // in place of an op
  std::vector<Edge> edges;              // one per input
  std::vector<Shape> out_shapes;
  std::vector<DType> out_dtypes;
  std::vector<std::pair<int, TensorHook>> hooks;  // by output, in order of registration
  uint64_t sequence = 0;                // creation order on all threads: a topological order
  int path = 0;                         // module path, interned
  bool released = false;
};

// Subtrees of one use of a leaf over the micro-batches of a window (arithmetic.md 6): sizes in sample leaves, largest first.
struct GradientStack {
  struct Part {
    int64_t leaves;
    Tensor sum;
  };
  std::vector<Part> parts;
};

struct GradMeta : AutogradMeta {
  std::shared_ptr<Node> node;  // none: a leaf
  int output = 0;
  uint64_t scope_serial = 0;   // of the scope that `uses` counts
  int uses = 0;
  std::vector<GradientStack> stacks;  // by use
  std::vector<TensorHook> hooks;      // of a leaf
  uint64_t writes = 0;         // of a base: in-place ops that changed its history; of a view: those that its history knows
};

GradMeta& grad_meta(const Tensor& x);  // made where missing
bool needs_grad(const Tensor& x);      // requires_grad or result of a recorded op
Edge edge_to(const Tensor& x);
uint64_t next_sequence();
// Makes `node` the origin of the floating tensors among `outputs`, in order.
void set_history(const std::vector<Tensor>& outputs, const std::shared_ptr<Node>& node);

// The uses of leaves that a forward without a graph would have counted, for its recomputation to take them in the same order.
struct LeafUses {
  std::vector<Edge> reached;  // leaves and inner tensors that the forward's ops would have led to, each once
  std::vector<int> uses;
  size_t next = 0;
};
class LeafUsesGuard {  // notes the uses of the ops inside, or hands the noted ones out again; guards nest
 public:
  enum Mode { note, replay };
  LeafUsesGuard(LeafUses& uses, Mode mode);
  ~LeafUsesGuard();
  LeafUsesGuard(const LeafUsesGuard&) = delete;
  LeafUsesGuard& operator=(const LeafUsesGuard&) = delete;
  int next(GradMeta& meta);
  void note_edge(const Edge& edge);  // of all guards that note

 private:
  LeafUses& uses_;
  Mode mode_;
  LeafUsesGuard* outer_;
};
// Counts the leaves among these inputs where an op is not recorded but noted.
void note_uses(const std::vector<Tensor>& inputs, const std::vector<bool>& wanted);

}  // namespace rote

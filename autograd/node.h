// autograd/node.h — the graph: nodes, edges, leaves. Built by op.cpp, walked by backward.cpp.
#pragma once

#include <functional>
#include <memory>
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

struct Node {
  Node() = default;
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Call call;                            // in, out hold only what `.saves` names
  std::vector<int64_t> saved_versions;  // of call.in then call.out
  std::vector<Edge> edges;              // one per input
  std::vector<Shape> out_shapes;
  std::vector<DType> out_dtypes;
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
};

GradMeta& grad_meta(const Tensor& x);  // made where missing
bool needs_grad(const Tensor& x);      // requires_grad or result of a recorded op
Edge edge_to(const Tensor& x);

}  // namespace rote

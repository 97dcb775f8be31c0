#include "autograd/inplace.h"

#include <algorithm>
#include <numeric>

#include "autograd/node.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/view.h"
#include "autograd/status.h"
#include "tensor/strided.h"

namespace rote {

namespace {

struct Layout {
  Shape shape;
  Strides strides;
  int64_t offset = 0;
  explicit Layout(const Tensor& x) : shape(x.shape()), strides(x.strides()), offset(x.offset()) {}
};

// Whether two indices of the layout name one element: certain for repeats, and where steps do not nest.
bool overlaps(const Layout& at) {
  std::vector<int> axes;
  for (int i = 0; i < at.shape.axes(); ++i) {
    if (at.shape[i] == 0) return false;
    if (at.shape[i] > 1) axes.push_back(i);
  }
  std::sort(axes.begin(), axes.end(), [&](int a, int b) { return at.strides[a] < at.strides[b]; });
  int64_t reach = 0;
  for (const int i : axes) {
    if (at.strides[i] <= reach) return true;
    reach += (at.shape[i] - 1) * at.strides[i];
  }
  return false;
}

// A gradient laid out as a base is: the elements of the memory that the base spans, and the base and a view of it as places there.
struct Spread {
  Tensor memory, base, view;
  Spread(const Layout& b, const Layout& v, DType dtype) {
    int64_t reach = 1;
    for (int i = 0; i < b.shape.axes(); ++i) reach += std::max<int64_t>(b.shape[i] - 1, 0) * b.strides[i];
    memory = zeros({reach}, {.dtype = dtype});
    base = alias(memory, b.shape, b.strides, 0);
    view = alias(memory, v.shape, v.strides, v.offset - b.offset);
  }
};

// Adds dy to the elements that an f64 view shows, in logical order: some are shown twice.
void add_elements(const Tensor& view, const Tensor& dy) {
  const Tensor from = converted(dy, DType::f64);
  const Runs runs = common_runs(view.shape(), {view.strides(), from.strides()});
  for_each_run(runs, [&](const int64_t* at) {
    for (int64_t i = 0; i < runs.length; ++i) view.data<double>()[at[0] + i * runs.step[0]] += from.data<double>()[at[1] + i * runs.step[1]];
  });
}

std::shared_ptr<Node> new_node(const char* name, const Shape& shape, DType dtype) {
  auto node = std::make_shared<Node>();
  node->custom = std::make_unique<Custom>();
  node->custom->name = name;
  node->out_shapes = {shape};
  node->out_dtypes = {dtype};
  node->path = intern_path(module_path());
  return node;
}

void add_edge(Node& node, const Tensor& x) {
  node.edges.push_back(edge_to(x));
  node.call.in_shapes.push_back(x.shape());
  node.call.in_dtypes.push_back(x.dtype());
}

void refuse_again(const std::string& name) {
  ROTE_CHECK(!grad_enabled(), StateError, "backward: ", name, " wrote into a view in place and has no second derivative; compute without in-place ops (where, cat).");
}

// The base after `view` of it took the values of y: dy of the view's elements goes to y, that of all others to the base as it was.
std::shared_ptr<Node> written_base(const Tensor& base, const Tensor& view, const Tensor& y, const char* op) {
  auto node = new_node(op, base.shape(), base.dtype());
  add_edge(*node, base);
  add_edge(*node, y);
  node->custom->backward = [b = Layout(base), v = Layout(view), name = std::string(op)](const std::vector<Tensor>&, const std::vector<Tensor>& dy) {
    refuse_again(name);
    const Spread grad(b, v, dy[0].dtype());
    copy_elements(grad.base, dy[0]);
    const Tensor written = empty(v.shape, {.dtype = dy[0].dtype()});
    copy_elements(written, grad.view);
    fill(grad.view, 0);
    return std::vector<Tensor>{contiguous(grad.base), written};
  };
  node->sequence = next_sequence();
  return node;
}

std::shared_ptr<Node> view_of(const Tensor& base, const Tensor& view) {
  auto node = new_node("view", view.shape(), view.dtype());
  add_edge(*node, base);
  node->custom->backward = [b = Layout(base), v = Layout(view)](const std::vector<Tensor>&, const std::vector<Tensor>& dy) {
    refuse_again("an op");
    const bool twice = overlaps(v);
    const Spread grad(b, v, twice ? DType::f64 : dy[0].dtype());
    if (twice) add_elements(grad.view, dy[0]);
    else copy_elements(grad.view, dy[0]);
    return std::vector<Tensor>{converted(contiguous(grad.base), dy[0].dtype())};
  };
  node->sequence = next_sequence();
  return node;
}

void check_leaf(const Tensor& x, const char* op) {
  const auto is_leaf = [](const Tensor& y) { return y.requires_grad() && !grad_meta(y).node; };
  const bool shows = x.impl()->base && is_leaf(Tensor(x.impl()->base));
  ROTE_CHECK(!shows && !is_leaf(x), StateError, op, ": ", describe(x), shows ? " shows" : " is",
             " a leaf that requires a gradient; write into it under NoGrad, or into a clone.");
}

}  // namespace

void write_into(const Tensor& x, const Tensor& given, const char* op, WriteOptions options) {
  ROTE_CHECK(given.shape() == x.shape(), ShapeError, op, ": the result is ", describe(given), " but is written into ", describe(x), "; the shapes must be equal.");
  ROTE_CHECK(info(given.dtype()).category <= info(x.dtype()).category, DTypeError, op, ": the result is ", describe(given), " and does not go into ", describe(x),
             "; convert x with to() first.");
  ROTE_CHECK(!overlaps(Layout(x)), StateError, op, ": ", describe(x), " shows some elements twice; write into a clone.");
  if (grad_enabled()) check_leaf(x, op);
  const Tensor converted_y = to(given, x.dtype());
  // Where y shares x's memory it is read before x is written; a leaf becomes the result of an op.
  const bool own = converted_y.storage() == x.storage() || converted_y.requires_grad();
  const Tensor y = own ? clone(converted_y) : converted_y;
  const Tensor base = x.impl()->base ? Tensor(x.impl()->base) : Tensor();
  ROTE_CHECK(!grad_enabled() || !needs_grad(base) || needs_grad(x), StateError, op, ": ", describe(x), " was made under NoGrad and shows a tensor that has a gradient; make the view ",
             "where ops are recorded, or write under NoGrad.");
  const bool known = grad_enabled() && (needs_grad(x) || needs_grad(y));
  std::shared_ptr<Node> node;
  if (known && base.defined()) node = written_base(base, x, y, op);
  else if (known && needs_grad(x) && (options.replaces || !needs_grad(y))) node = written_base(x, x, y, op);
  copy_elements(x, y);
  if (!known) return;
  GradMeta& meta = grad_meta(base.defined() ? base : x);
  ++meta.writes;
  if (node) {
    meta.node = node;
    meta.output = 0;
    return;
  }
  const Edge edge = edge_to(y);
  meta.node = edge.node;
  meta.output = edge.output;
}

Tensor before_write(const Tensor& x, const std::vector<Tensor>& others) {
  const bool recorded = grad_enabled() && (needs_grad(x) || std::any_of(others.begin(), others.end(), needs_grad));
  return recorded ? clone(x) : x;
}

void renew_view(const Tensor& x) {
  if (!x.impl()->base || !x.impl()->base->meta) return;
  const Tensor base(x.impl()->base);
  const uint64_t writes = grad_meta(base).writes;
  if ((x.impl()->meta ? grad_meta(x).writes : 0) == writes) return;
  x.impl()->meta = std::make_shared<GradMeta>();
  GradMeta& meta = grad_meta(x);
  meta.writes = writes;
  if (!is_floating(x.dtype()) || !needs_grad(base)) return;
  meta.node = view_of(base, x);
  meta.output = 0;
}

void join_history(const Tensor& view) {
  if (!view.defined() || !view.impl()->base || !view.impl()->base->meta) return;
  if (const uint64_t writes = grad_meta(Tensor(view.impl()->base)).writes; writes > 0) grad_meta(view).writes = writes;
}

}  // namespace rote

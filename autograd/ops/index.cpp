#include "autograd/ops/index.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"
#include "tensor/strided.h"

namespace rote {

namespace {

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }
int64_t product(const Shape& shape, int first, int last) {
  return std::accumulate(shape.begin() + first, shape.begin() + last, int64_t{1}, std::multiplies<>());
}
Tensor flat(const Tensor& x) { return reshape(x, {x.numel()}); }

// ids [N] seen under a shape whose axis `axis` has size N: the same slice index everywhere.
Tensor along(const Tensor& ids, const Shape& shape, int axis) {
  Strides strides = shape;
  for (int i = 0; i < shape.axes(); ++i) strides[i] = i == axis ? ids.strides()[0] : 0;
  return alias(ids, shape, strides, ids.offset());
}

// ids as [N], checked against the axis of x; `shape` receives x's shape with N along the axis.
Tensor checked_ids(const char* who, const Tensor& x, int axis, const Tensor& ids, Shape& shape) {
  ROTE_CHECK(ids.axes() <= 1, ShapeError, who, ": the indices are ", describe(ids), "; they must have one axis.");
  ROTE_CHECK(ids.dtype() == DType::i64, DTypeError, who, ": the indices are ", describe(ids), "; they must be i64.");
  detail::check_index(who, ids, x, axis);
  shape = x.shape();
  if (x.axes() > 0) shape[axis] = ids.numel();
  return ids.axes() == 1 ? ids : alias(ids, {1}, {1}, ids.offset());
}

// Indices along an axis of x that may count from its end, as 0…size-1.
Tensor from_start(const char* who, const Tensor& index, const Tensor& x, int axis) {
  ROTE_CHECK(index.dtype() == DType::i64, DTypeError, who, ": index is ", describe(index), "; it must be i64.");
  detail::check_index(who, index, x, axis, detail::Counts::from_either_end);
  return where(lt(index, 0.0), add(index, static_cast<double>(x.axes() == 0 ? 1 : x.size(axis))), index);
}

}  // namespace

void Embedding::forward(Call& call) {
  const Tensor &ids = call.in[0], &w = call.in[1];
  detail::check_index("embedding", ids, w, 0);
  const int64_t N = ids.numel(), C = w.size(1);
  const Tensor rows = contiguous(ids);
  detail::gather_into(alias(call.out[0], {N, C}, {C, 1}, 0), w, along(alias(rows, {N}, {1}, rows.offset()), {N, C}, 0), 0);
}

namespace {

// The gradient of the rows of y, [N,C]; divided by how often the id occurs where that is wanted.
Tensor row_gradients(const Call& call, const Tensor& ids) {
  const int64_t N = ids.numel();
  const Tensor d = reshape(call.dout[0], {N, call.in_shapes[1][1]});
  if (!call.flag(1)) return d;
  return div(d, to(reshape(index_select(bincount(ids, {}, call.in_shapes[1][0]), 0, ids), {N, 1}), d.dtype()));
}

}  // namespace

void Embedding::backward(Call& call) {
  const Tensor ids = contiguous(flat(call.in[0])), d = row_gradients(call, ids), wide = contiguous(converted(d, d.dtype() == DType::f64 ? DType::f64 : DType::f32));
  const Shape& shape = call.in_shapes[1];
  const Tensor dw = empty(shape, {.dtype = wide.dtype()});
  with_real(call, wide.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(kernels<Real>().embedding_backward(ids.numel(), shape[1], shape[0], call.leaf(0, ids.numel()), call.integer(0), ids.data<int64_t>(), wide.data<Real>(),
                                                dw.data<Real>()));
  });
  call.din[1] = converted(dw, d.dtype());
}

void Embedding::backward_in_ops(Call& call) {
  const Tensor ids = flat(call.in[0]);
  Tensor d = row_gradients(call, ids);
  if (const int64_t padding = call.integer(0); padding >= 0) d = where(reshape(ne(ids, static_cast<double>(padding)), {ids.numel(), 1}), d, number_for(d, 0));
  call.din[1] = scatter_add(zeros(call.in_shapes[1], {.dtype = d.dtype()}), 0, along(ids, d.shape(), 0), d);
}

void Nonzero::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]);
  const Shape& shape = x.shape();
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* p = static_cast<const T*>(x.raw());
    const auto is_set = [&](int64_t i) { return convert<bool>(p[i]); };
    int64_t count = 0;
    for (int64_t i = 0; i < x.numel(); ++i) count += is_set(i);
    call.out[0] = empty({count, shape.axes()}, {.dtype = DType::i64});
    int64_t* out = call.out[0].data<int64_t>();
    for (int64_t i = 0; i < x.numel(); ++i) {
      if (!is_set(i)) continue;
      int64_t rest = i;
      for (int axis = shape.axes() - 1; axis >= 0; rest /= shape[axis--]) out[axis] = rest % shape[axis];
      out += shape.axes();
    }
  });
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& ids) {
  const int at = normalize_axis(axis, x.axes(), "index_select");
  Shape shape;
  const Tensor rows = checked_ids("index_select", x, at, ids, shape);
  if (x.axes() > 0) return gather(x, at, along(rows, shape, at));
  ROTE_CHECK(rows.numel() == 1, ShapeError, "index_select: ", rows.numel(), " indices for a tensor without axes; it takes one.");
  return gather(x, 0, reshape(rows, {}));
}

namespace {

// What index_copy, index_add and index_fill share: where the slices go and the slices themselves.
Tensor put_slices(const char* who, const Tensor& x, int64_t axis, const Tensor& ids, Tensor source, const std::string& how) {
  const int at = normalize_axis(axis, x.axes(), who);
  Shape shape;
  const Tensor rows = checked_ids(who, x, at, ids, shape);
  ROTE_CHECK(x.axes() > 0 || rows.numel() == 1, ShapeError, who, ": ", rows.numel(), " indices for a tensor without axes; it takes one.");
  ROTE_CHECK(source.shape() == shape || (x.axes() == 0 && source.numel() == 1), ShapeError, who, ": source is ", describe(source), "; for ", rows.numel(),
             " indices along axis ", at, " of ", describe(x), " it must be ", shape, ".");
  const Tensor index = x.axes() == 0 ? reshape(rows, {}) : along(rows, shape, at);
  if (x.axes() == 0) source = reshape(source, {});
  return how == "add" ? scatter_add(x, at, index, source) : scatter(x, at, index, source);
}

}  // namespace

Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& source) { return put_slices("index_copy", x, axis, ids, source, "set"); }
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& source) { return put_slices("index_add", x, axis, ids, source, "add"); }

Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& value) {
  ROTE_CHECK(value.axes() == 0, ShapeError, "index_fill: value is ", describe(value), "; it must be one number.");
  const int at = normalize_axis(axis, x.axes(), "index_fill");
  std::vector<int64_t> shape = sizes(x.shape());
  const Tensor rows = from_start("index_fill", ids, x, at);
  if (x.axes() > 0) shape[static_cast<size_t>(at)] = ids.numel();
  return put_slices("index_fill", x, at, rows, expand(to(value, x.dtype()), shape), "set");
}

namespace {

// A call x[indices] reduced to one axis: the indexed axes side by side, merged to one, and one id for each place of the block that the
// broadcast indices form.
struct Picked {
  Tensor x;                    // with the merged axis
  int axis;
  Tensor ids;                  // [block.numel()]
  Shape block;
  std::vector<int64_t> order;  // the axes of the original x as they now follow one another; empty: as they were
};

// Masks become the coordinates where they are true; what is left out at the end is none.
std::vector<Tensor> index_per_axis(const char* who, const Tensor& x, const std::vector<Tensor>& indices) {
  std::vector<Tensor> out;
  for (const Tensor& one : indices) {
    const size_t at = out.size();
    if (!one.defined() || one.dtype() == DType::i64 || one.dtype() == DType::i32) {
      out.push_back(one.defined() ? to(one, DType::i64) : one);
      continue;
    }
    ROTE_CHECK(one.dtype() == DType::boolean || one.dtype() == DType::u8, DTypeError, who, ": an index is ", describe(one), "; it must be i64, i32 or a bool mask.");
    bool fits = one.axes() > 0 && static_cast<int>(at) + one.axes() <= x.axes();
    for (int i = 0; fits && i < one.axes(); ++i) fits = one.shape()[i] == x.shape()[static_cast<int>(at) + i];
    ROTE_CHECK(fits, ShapeError, who, ": the mask is ", describe(one), " at axis ", at, " of ", describe(x), "; it must have the sizes of the axes that it covers.");
    const Tensor places = nonzero(one);
    for (int i = 0; i < one.axes(); ++i) out.push_back(select(places, 1, i));
  }
  ROTE_CHECK(static_cast<int>(out.size()) <= x.axes(), ShapeError, who, ": ", out.size(), " indices for ", describe(x), "; at most one for each axis.");
  out.resize(static_cast<size_t>(x.axes()));
  return out;
}

Picked picked(const char* who, const Tensor& x, const std::vector<Tensor>& indices) {
  const std::vector<Tensor> index = index_per_axis(who, x, indices);
  std::vector<int64_t> indexed, rest;
  Picked p;
  for (size_t i = 0; i < index.size(); ++i) (index[i].defined() ? indexed : rest).push_back(static_cast<int64_t>(i));
  ROTE_CHECK(!indexed.empty(), ArgumentError, who, ": no index is given; at least one must be a tensor.");
  bool first = true;
  for (const int64_t i : indexed) {
    const Shape& shape = index[static_cast<size_t>(i)].shape();
    p.block = first ? shape : broadcast(p.block, shape, who);
    first = false;
  }
  const bool adjacent = indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  p.axis = adjacent ? static_cast<int>(indexed.front()) : 0;
  if (!adjacent) {
    p.order = indexed;
    p.order.insert(p.order.end(), rest.begin(), rest.end());
  }
  const Tensor y = adjacent ? x : permute(x, p.order);
  const int last = p.axis + static_cast<int>(indexed.size());
  std::vector<int64_t> merged(y.shape().begin(), y.shape().begin() + p.axis);
  merged.push_back(product(y.shape(), p.axis, last));
  merged.insert(merged.end(), y.shape().begin() + last, y.shape().end());
  p.x = indexed.size() == 1 ? y : reshape(y, merged);
  p.ids = zeros({p.block.numel()}, {.dtype = DType::i64});
  int64_t* id = p.ids.data<int64_t>();
  for (const int64_t i : indexed) {
    const Tensor& one = index[static_cast<size_t>(i)];
    const int64_t n = x.shape()[static_cast<int>(i)];
    if (p.block.numel() > 0) detail::check_index(who, one, x, static_cast<int>(i), detail::Counts::from_either_end);
    const Tensor places = contiguous(expand(one, sizes(p.block)));
    const int64_t* at = places.data<int64_t>();
    for (int64_t k = 0; k < p.ids.numel(); ++k) id[k] = id[k] * n + (at[k] < 0 ? at[k] + n : at[k]);
  }
  return p;
}

// The shape of p.x with `middle` in place of the merged axis.
std::vector<int64_t> with_block(const Picked& p, const Shape& middle) {
  std::vector<int64_t> shape(p.x.shape().begin(), p.x.shape().begin() + p.axis);
  shape.insert(shape.end(), middle.begin(), middle.end());
  shape.insert(shape.end(), p.x.shape().begin() + p.axis + 1, p.x.shape().end());
  return shape;
}

}  // namespace

Tensor pick(const Tensor& x, const std::vector<Tensor>& indices) {
  const Picked p = picked("index", x, indices);
  return reshape(index_select(p.x, p.axis, p.ids), with_block(p, p.block));
}

Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values, const std::string& how) {
  ROTE_CHECK(how == "set" || how == "add", ArgumentError, "index_put: how is \"", how, "\"; it is set or add.");
  ROTE_CHECK(values.dtype() == x.dtype(), DTypeError, "index_put: values is ", describe(values), " but x ", describe(x), "; the dtypes must be equal.");
  const Picked p = picked("index_put", x, indices);
  const std::vector<int64_t> shape = with_block(p, p.block);
  ROTE_CHECK(broadcasts_to(values.shape(), Shape(shape)), ShapeError, "index_put: values is ", describe(values), " but the indices name ", Shape(shape),
             "; values must broadcast to that.");
  const Tensor source = reshape(expand(values, shape), with_block(p, {p.ids.numel()}));
  const Tensor y = put_slices("index_put", p.x, p.axis, p.ids, source, how);
  if (p.order.empty()) return reshape(y, sizes(x.shape()));
  std::vector<int64_t> shape_in_order, back(p.order.size());
  for (size_t i = 0; i < p.order.size(); ++i) {
    shape_in_order.push_back(x.shape()[static_cast<int>(p.order[i])]);
    back[static_cast<size_t>(p.order[i])] = static_cast<int64_t>(i);
  }
  return permute(reshape(y, shape_in_order), back);
}

Tensor take(const Tensor& x, const Tensor& index) {
  return reshape(gather(flat(x), 0, flat(from_start("take", index, flat(x), 0))), sizes(index.shape()));
}

Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, const std::string& how) {
  ROTE_CHECK(source.numel() == index.numel(), ShapeError, "put: source is ", describe(source), " and index ", describe(index), "; they must have as many elements.");
  return reshape(put_slices("put", flat(x), 0, flat(from_start("put", index, flat(x), 0)), flat(source), how), sizes(x.shape()));
}

Tensor take_along(const Tensor& x, int64_t axis, const Tensor& index) {
  ROTE_CHECK(x.axes() == index.axes(), ShapeError, "take_along_dim: indices are ", describe(index), " but x ", describe(x), "; they must have as many axes.");
  const int at = normalize_axis(axis, x.axes(), "take_along_dim");
  Shape beside = x.shape(), shape = index.shape();
  if (x.axes() > 0) beside[at] = shape[at] = 1;
  const Shape common = broadcast(beside, shape, "take_along_dim");
  std::vector<int64_t> x_shape = sizes(common), index_shape = x_shape;
  if (x.axes() > 0) {
    x_shape[static_cast<size_t>(at)] = x.shape()[at];
    index_shape[static_cast<size_t>(at)] = index.shape()[at];
  }
  return gather(expand(x, x_shape), at, expand(from_start("take_along_dim", index, x, at), index_shape));
}

namespace {

void check_mask(const char* who, const Tensor& mask) {
  ROTE_CHECK(mask.dtype() == DType::boolean, DTypeError, who, ": mask is ", describe(mask), "; it must be bool (ne(x, 0) makes one).");
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_mask("masked_fill", mask);
  return where(mask, number_for(x, value), x);
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_mask("masked_select", mask);
  const std::vector<int64_t> shape = sizes(broadcast(x.shape(), mask.shape(), "masked_select"));
  return gather(flat(expand(x, shape)), 0, flat(nonzero(flat(expand(mask, shape)))));
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter", mask);
  ROTE_CHECK(source.dtype() == x.dtype(), DTypeError, "masked_scatter: source is ", describe(source), " but x ", describe(x), "; the dtypes must be equal.");
  const std::vector<int64_t> shape = sizes(broadcast(x.shape(), mask.shape(), "masked_scatter"));
  const Tensor places = flat(nonzero(flat(expand(mask, shape))));
  ROTE_CHECK(places.numel() <= source.numel(), ShapeError, "masked_scatter: the mask holds ", places.numel(), " places but source ", describe(source), " only ",
             source.numel(), " elements.");
  return reshape(scatter(flat(expand(x, shape)), 0, places, slice(flat(source), 0, 0, places.numel())), shape);
}

Tensor repeat_interleave(const Tensor& x, int64_t axis, const Tensor& repeats) {
  const Tensor y = x.axes() == 0 ? flat(x) : x;
  const int at = normalize_axis(axis, y.axes(), "repeat_interleave");
  const int64_t n = y.size(at);
  ROTE_CHECK(repeats.dtype() == DType::i64, DTypeError, "repeat_interleave: repeats is ", describe(repeats), "; it must be i64.");
  ROTE_CHECK(repeats.axes() <= 1 && (repeats.numel() == 1 || repeats.numel() == n), ShapeError, "repeat_interleave: repeats is ", describe(repeats),
             "; for axis ", at, " of ", describe(y), " it must be one number or [", n, "].");
  const Tensor counts = contiguous(repeats);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t count = counts.data<int64_t>()[counts.numel() == 1 ? 0 : i];
    ROTE_CHECK(count >= 0 && count <= INT32_MAX, ArgumentError, "repeat_interleave: repeats holds ", count, "; each must be 0 or more and fit into 31 bits.");
    ids.insert(ids.end(), static_cast<size_t>(count), i);
  }
  return index_select(y, at, from_values({static_cast<int64_t>(ids.size())}, ids));
}

namespace {

// The smallest and the largest of integers, 0 where there are none.
std::pair<int64_t, int64_t> range_of(const char* who, const Tensor& x) {
  ROTE_CHECK(!is_floating(x.dtype()), DTypeError, who, ": x is ", describe(x), "; it must hold integers.");
  const Tensor wide = contiguous(converted(x, DType::i64));
  if (wide.numel() == 0) return {0, 0};
  const auto [low, high] = std::minmax_element(wide.data<int64_t>(), wide.data<int64_t>() + wide.numel());
  return {*low, *high};
}

}  // namespace

Tensor one_hot(const Tensor& x, int64_t classes) {
  ROTE_CHECK(x.dtype() == DType::i64, DTypeError, "one_hot: x is ", describe(x), "; it must be i64.");
  const auto [low, high] = range_of("one_hot", x);
  ROTE_CHECK(low >= 0, ArgumentError, "one_hot: x holds ", low, "; classes count from 0.");
  ROTE_CHECK(classes >= 0 ? high < std::max<int64_t>(classes, 1) && (classes > 0 || x.numel() == 0) : x.numel() > 0, ArgumentError, "one_hot: x is ", describe(x),
             " with values up to ", high, " but classes is ", classes, "; it must be above the largest value (-1 finds it, where there is one).");
  return to(eq(unsqueeze(x, -1), arange(classes >= 0 ? classes : high + 1)), DType::i64);
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t least) {
  ROTE_CHECK(x.axes() == 1, ShapeError, "bincount: x is ", describe(x), "; it must have one axis.");
  ROTE_CHECK(least >= 0, ArgumentError, "bincount: minlength is ", least, "; it must be 0 or more.");
  const auto [low, high] = range_of("bincount", x);
  ROTE_CHECK(low >= 0, ArgumentError, "bincount: x holds ", low, "; values count from 0.");
  if (weights.defined())
    ROTE_CHECK(weights.shape() == x.shape(), ShapeError, "bincount: weights are ", describe(weights), " but x ", describe(x), "; the shapes must be equal.");
  const DType dtype = !weights.defined() || x.numel() == 0 ? DType::i64 : weights.dtype() == DType::f32 ? DType::f32 : DType::f64;
  const Tensor each = weights.defined() ? detach(converted(weights, dtype)) : full(x.shape(), 1, {.dtype = dtype});
  const int64_t n = x.numel() == 0 ? least : std::max(least, high + 1);
  return scatter_add(zeros({n}, {.dtype = dtype}), 0, to(x, DType::i64), each);
}

namespace {

Tensor ids_argument(const Arguments& a, const char* name) {
  const Tensor ids = a.tensor(name);
  return ids.dtype() == DType::i32 ? to(ids, DType::i64) : ids;
}

Tensor source_argument(const Arguments& a) {
  const Tensor x = a.tensor("self"), source = a.tensor("source");
  ROTE_CHECK(source.dtype() == x.dtype(), DTypeError, a.op(), ": source is ", describe(source), " but self ", describe(x), "; the dtypes must be equal.");
  return source;
}

Tensor interleaved(const Arguments& a, const Tensor& repeats) {
  const Tensor x = a.tensor("self");
  const int64_t axis = a.given("dim") ? a.integer("dim") : 0;
  const Tensor y = repeat_interleave(a.given("dim") ? x : flat(x), axis, repeats);
  ROTE_CHECK(!a.given("output_size") || a.integer("output_size") == y.size(axis), ShapeError, a.op(), ": output_size is ", a.integer("output_size"),
             " but the repeats add up to ", y.size(axis), ".");
  return y;
}

}  // namespace

std::vector<Composition> index_compositions() {
  return {
      {"embedding", [](const Arguments& a) -> Value {
         return apply<Embedding>({ids_argument(a, "indices"), a.tensor("weight")}, {a.integer("padding_idx"), a.flag("scale_grad_by_freq")});
       }},
      {"index_select", [](const Arguments& a) -> Value { return index_select(a.tensor("self"), a.integer("dim"), ids_argument(a, "index")); }},
      {"index_add", [](const Arguments& a) -> Value {
         Tensor source = source_argument(a);
         ROTE_CHECK(is_floating(source.dtype()) || !a.is_fraction("alpha"), ArgumentError, "index_add: alpha is ", a.number("alpha"), " but source ", describe(source),
                    "; for integers alpha must be an integer.");
         if (a.number("alpha") != 1 || source.dtype() == DType::boolean) source = to(mul(source, a.tensor("alpha")), source.dtype());
         return index_add(a.tensor("self"), a.integer("dim"), ids_argument(a, "index"), source);
       }},
      {"index_copy", [](const Arguments& a) -> Value { return index_copy(a.tensor("self"), a.integer("dim"), a.tensor("index"), source_argument(a)); }},
      {"index_fill.int_Scalar; index_fill.int_Tensor", [](const Arguments& a) -> Value {
         return index_fill(a.tensor("self"), a.integer("dim"), a.tensor("index"), a.tensor("value"));
       }},
      {"index_reduce", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         const int axis = normalize_axis(a.integer("dim"), x.axes(), "index_reduce");
         Shape shape;
         const Tensor ids = checked_ids("index_reduce", x, axis, ids_argument(a, "index"), shape);
         const Tensor index = x.axes() == 0 ? reshape(ids, {}) : along(ids, shape, axis), source = source_argument(a);
         ROTE_CHECK(source.shape() == index.shape(), ShapeError, "index_reduce: source is ", describe(source), "; for these indices it must be ", index.shape(), ".");
         return scatter_reduce(x, axis, index, source, a.word("reduce"), a.flag("include_self") ? IncludeSelf::yes : IncludeSelf::no);
       }},
      {"index.Tensor", [](const Arguments& a) -> Value { return pick(a.tensor("self"), a.tensors("indices")); }},
      {"index_put", [](const Arguments& a) -> Value {
         return index_put(a.tensor("self"), a.tensors("indices"), a.tensor("values"), a.flag("accumulate") ? "add" : "set");
       }},
      {"take", [](const Arguments& a) -> Value { return take(a.tensor("self"), a.tensor("index")); }},
      {"put", [](const Arguments& a) -> Value {
         return put(a.tensor("self"), a.tensor("index"), source_argument(a), a.flag("accumulate") ? "add" : "set");
       }},
      {"take_along_dim", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), index = a.tensor("indices");
         return a.given("dim") ? take_along(x, a.integer("dim"), index) : take_along(flat(x), 0, flat(index));
       }},
      {"masked_fill.Scalar; masked_fill.Tensor", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), mask = a.tensor("mask"), value = a.tensor("value");
         check_mask("masked_fill", mask);
         ROTE_CHECK(value.axes() == 0, ShapeError, "masked_fill: value is ", describe(value), "; it must be one number.");
         return where(mask, to(value, x.dtype()), x);
       }},
      {"masked_select", [](const Arguments& a) -> Value { return masked_select(a.tensor("self"), a.tensor("mask")); }},
      {"masked_scatter", [](const Arguments& a) -> Value { return masked_scatter(a.tensor("self"), a.tensor("mask"), a.tensor("source")); }},
      {"nonzero_numpy", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), places = nonzero(x.axes() == 0 ? flat(x) : x);
         return unbind(places, 1);
       }},
      {"repeat_interleave.self_int", [](const Arguments& a) -> Value { return interleaved(a, from_values({1}, std::vector<int64_t>{a.integer("repeats")})); }},
      {"repeat_interleave.self_Tensor", [](const Arguments& a) -> Value { return interleaved(a, ids_argument(a, "repeats")); }},
      {"one_hot", [](const Arguments& a) -> Value { return one_hot(a.tensor("self"), a.integer("num_classes")); }},
      {"bincount", [](const Arguments& a) -> Value { return bincount(a.tensor("self"), a.tensor_or_none("weights"), a.integer("minlength")); }},
  };
}

}  // namespace rote

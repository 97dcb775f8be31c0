#include "autograd/ops/gather.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"
#include "kernels/pool.h"
#include "tensor/strided.h"

namespace rote {

namespace {

constexpr int64_t kTaskElements = 32768;

// For each element e of `shape`, in logical order: the element of a plain tensor at e and that of an indexed tensor at e with index[e] in
// place of the coordinate along the axis.
struct Walk {
  Shape shape;
  Strides index, plain, indexed;  // indexed: 0 along the axis
  int64_t step;                   // of the indexed tensor along the axis
  const int64_t* at;              // the first index
};

// f(plain offset, indexed offset) for each element; many elements of one index lie in one call of rows(plain, indexed, count) where both sides run on.
template <class F, class Rows>
void each_element(const Walk& w, const F& f, const Rows& rows) {
  const Runs runs = common_runs(w.shape, {w.index, w.plain, w.indexed});
  for_each_run(runs, [&](const int64_t* at) {
    const int64_t* index = w.at + at[0];
    if (runs.step[0] == 0 && runs.step[1] == 1 && runs.step[2] == 1) {
      rows(at[1], at[2] + *index * w.step, runs.length);
      return;
    }
    for (int64_t i = 0; i < runs.length; ++i) f(at[1] + i * runs.step[1], at[2] + i * runs.step[2] + index[i * runs.step[0]] * w.step);
  });
}

// Cuts the walk along one axis into fixed parts for the threads; body(part, plain offset, indexed offset).
template <class F>
void in_parts(const Walk& w, int axis, const F& body) {
  const int64_t n = axis < 0 ? 1 : w.shape[axis], whole = axis == w.shape.axes() - 1 ? 64 : 1;  // no cut through a short run
  const int64_t each = std::max(whole, kTaskElements * n / std::max<int64_t>(1, w.shape.numel()));
  parallel((n + each - 1) / each, [&](int64_t task) -> uint32_t {
    if (axis < 0) {
      body(w, 0, 0);
      return 0;
    }
    const int64_t first = task * each;
    Walk part = w;
    part.shape[axis] = std::min(each, n - first);
    part.at += first * w.index[axis];
    body(part, first * w.plain[axis], first * w.indexed[axis]);
    return 0;
  });
}

// The longest axis but `except`; -1 where there is none.
int longest_axis(const Shape& shape, int except) {
  int longest = -1;
  for (int i = 0; i < shape.axes(); ++i)
    if (i != except && (longest < 0 || shape[i] > shape[longest])) longest = i;
  return longest;
}

// A tensor without axes has one of size 1 here.
Tensor with_axis(const Tensor& x) { return x.axes() == 0 ? alias(x, {1}, {1}, x.offset()) : x; }

Walk walk_over(const Tensor& index, const Tensor& plain, const Tensor& indexed, int axis) {
  Walk w{index.shape(), index.strides(), plain.strides(), indexed.strides(), indexed.strides()[axis], index.data<int64_t>()};
  w.indexed[axis] = 0;
  return w;
}

// Moves elements of any type of this size.
template <class F>
void by_size(DType t, F&& f) {
  switch (size_of(t)) {
    case 8: return f(uint64_t{});
    case 4: return f(uint32_t{});
    case 2: return f(uint16_t{});
    default: return f(uint8_t{});
  }
}

enum class How { set, add, prod, amax, amin };

How how_named(const Call& call) {
  static constexpr const char* kNames[] = {"set", "add", "prod", "amax", "amin"};
  const bool reduces = call.op->row.saves[0] == 'x';
  for (int i = reduces ? 2 : 0; i < (reduces ? 5 : 2); ++i)
    if (call.word(1) == kNames[i]) return static_cast<How>(i);
  throw ArgumentError(str(call.op->row.name, ": how is \"", call.word(1), "\"; it is ", reduces ? "prod, amax or amin." : "set or add."));
}

template <class T>
T joined(How how, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    if (how == How::add) return static_cast<T>(ua + ub);
    if (how == How::prod) return static_cast<T>(ua * ub);
  } else {
    if (how == How::add) return a + b;
    if (how == How::prod) return a * b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return how == How::amax ? std::max(a, b) : std::min(a, b);
}

// The dtype in which elements of another one are joined.
DType wide(DType t) { return t == DType::f64 || t == DType::f32 ? t : is_floating(t) ? DType::f32 : DType::i64; }

// Joins src into y, which is contiguous and wide, as src is.
void join_into(const Tensor& y_any, const Tensor& index_any, const Tensor& src_any, int axis, How how) {
  const Tensor y = with_axis(y_any), index = with_axis(index_any), src = with_axis(src_any);
  in_parts(walk_over(index, src, y, axis), longest_axis(index.shape(), axis), [&](const Walk& w, int64_t plain, int64_t indexed) {
    const auto join = [&](auto t) {
      using T = decltype(t);
      const T* from = static_cast<const T*>(src.raw()) + plain;
      T* to = static_cast<T*>(y.raw()) + indexed;
      const auto one = [&](int64_t p, int64_t i) { to[i] = joined(how, to[i], from[p]); };
      each_element(w, one, [&](int64_t p, int64_t i, int64_t n) {
        for (int64_t k = 0; k < n; ++k) one(p + k, i + k);
      });
    };
    if (y.dtype() == DType::f64) join(double{});
    else if (y.dtype() == DType::f32) join(float{});
    else join(int64_t{});
  });
}

void set_into(const Tensor& y_any, const Tensor& index_any, const Tensor& src_any, int axis) {
  const Tensor y = with_axis(y_any), index = with_axis(index_any), src = with_axis(src_any);
  in_parts(walk_over(index, src, y, axis), longest_axis(index.shape(), axis), [&](const Walk& w, int64_t plain, int64_t indexed) {
    by_size(y.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = static_cast<const T*>(src.raw()) + plain;
      T* to = static_cast<T*>(y.raw()) + indexed;
      each_element(
          w, [&](int64_t p, int64_t i) { to[i] = from[p]; }, [&](int64_t p, int64_t i, int64_t n) { std::memcpy(to + i, from + p, static_cast<size_t>(n) * sizeof(T)); });
    });
  });
}

// What gather and scatter ask of index, and of src where there is one.
int checked_axis(const Call& call) {
  const char* who = call.op->row.name;
  const Tensor &x = call.in[0], &index = call.in[1];
  const int axis = normalize_axis(call.integer(0), x.axes(), who);
  if (index.numel() == 0) return axis;
  const Tensor xs = with_axis(x), is = with_axis(index);
  ROTE_CHECK(xs.axes() == is.axes(), ShapeError, who, ": index is ", describe(index), " but x ", describe(x), "; they must have as many axes.");
  for (int i = 0; i < xs.axes(); ++i)
    ROTE_CHECK(i == axis || is.shape()[i] <= xs.shape()[i], ShapeError, who, ": index is ", describe(index), " but x ", describe(x), "; along axis ", i,
               " index may have at most ", xs.shape()[i], ".");
  if (call.in.size() > 2) {
    const Tensor& src = call.in[2];
    const Tensor ss = with_axis(src);
    bool covers = ss.axes() == is.axes();
    for (int i = 0; covers && i < ss.axes(); ++i) covers = is.shape()[i] <= ss.shape()[i];
    ROTE_CHECK(covers, ShapeError, who, ": src is ", describe(src), " but index ", describe(index), "; src must have at least its sizes.");
    ROTE_CHECK(src.dtype() == x.dtype(), DTypeError, who, ": src is ", describe(src), " but x ", describe(x), "; the dtypes must be equal.");
  }
  detail::check_index(who, index, x, axis);
  return axis;
}

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

// x without its elements beyond the first ones of `shape`.
Tensor leading(const Tensor& x, const Shape& shape) {
  if (x.axes() != shape.axes()) return reshape(x, sizes(shape));
  Tensor y = x;
  for (int i = 0; i < shape.axes(); ++i) y = slice(y, i, 0, shape[i]);
  return y;
}

// dsrc from the gradients of the elements that index names: the others have none.
Tensor padded_to(const Tensor& d, const Shape& shape) {
  if (d.axes() != shape.axes()) return reshape(d, sizes(shape));
  Tensor y = d;
  for (int i = 0; i < shape.axes(); ++i) {
    if (y.size(i) == shape[i]) continue;
    Shape rest = y.shape();
    rest[i] = shape[i] - y.size(i);
    y = apply<Join>({y, zeros(rest, {.dtype = d.dtype()})}, {static_cast<int64_t>(i)});
  }
  return y;
}

}  // namespace

uint32_t detail::amax_word(const Tensor& y) {
  return visit(y.dtype(), [&](auto t) -> uint32_t {
    using T = decltype(t);
    if constexpr (std::is_floating_point_v<T>) {
      const T* p = static_cast<const T*>(y.raw());
      const int64_t n = y.numel();
      return parallel((n + kTaskElements - 1) / kTaskElements, [&](int64_t task) -> uint32_t {
        uint32_t word = 0;
        for (int64_t i = task * kTaskElements; i < std::min(n, (task + 1) * kTaskElements); ++i)
          word = std::max(word, std::bit_cast<uint32_t>(static_cast<float>(p[i])) & 0x7FFFFFFFu);
        return word;
      });
    } else {
      return 0;
    }
  });
}

void detail::check_index(const char* who, const Tensor& index, const Tensor& x, int axis, Counts counts) {
  const int64_t size = x.axes() == 0 ? 1 : x.shape()[axis], low = counts == Counts::from_start ? 0 : -size;
  // What repeats is looked at once.
  Shape shape = index.shape();
  for (int i = 0; i < shape.axes(); ++i)
    if (index.strides()[i] == 0) shape[i] = std::min<int64_t>(shape[i], 1);
  const Runs runs = common_runs(shape, {index.strides()});
  const int64_t* p = index.data<int64_t>();
  int64_t element = 0;
  for_each_run(runs, [&](const int64_t* at) {
    for (int64_t i = 0; i < runs.length; ++i, ++element) {
      const int64_t v = p[at[0] + i * runs.step[0]];
      ROTE_CHECK(v >= low && v < size, ArgumentError, who, ": index ", v, " at element ", element, " but axis ", axis, " of ", describe(x), " has size ", size,
                 "; indices lie in ", low, "…", size - 1, ".");
    }
  });
}

void detail::gather_into(const Tensor& y_any, const Tensor& x_any, const Tensor& index_any, int axis) {
  const Tensor y = with_axis(y_any), x = with_axis(x_any), index = with_axis(index_any);
  if (index.numel() == 0) return;
  in_parts(walk_over(index, y, x, axis), longest_axis(index.shape(), -1), [&](const Walk& w, int64_t plain, int64_t indexed) {
    by_size(y.dtype(), [&](auto t) {
      using T = decltype(t);
      T* to = static_cast<T*>(y.raw()) + plain;
      const T* from = static_cast<const T*>(x.raw()) + indexed;
      each_element(
          w, [&](int64_t p, int64_t i) { to[p] = from[i]; }, [&](int64_t p, int64_t i, int64_t n) { std::memcpy(to + p, from + i, static_cast<size_t>(n) * sizeof(T)); });
    });
  });
}

namespace {

// Samples fold into shared places: the chains of arithmetic.md 6, by the kernel that sums the gradient of an embedding. Rows of one index each
// are summed as rows; else each element is a row of one column, whose id is its place.
template <class Real>
Tensor sum_by_leaf(const Shape& shape, const Tensor& index, const Tensor& dy, int64_t leaf, uint32_t* amax) {
  const Tensor sum = empty(shape, {.dtype = dy.dtype()});
  const int64_t N = index.shape()[0];
  bool rows = true;
  int64_t C = 1, kept = 1;
  for (int i = 1; i < shape.axes(); ++i) {
    rows = rows && index.shape()[i] == shape[i] && (index.strides()[i] == 0 || shape[i] == 1);
    C *= shape[i];
    kept *= index.shape()[i];
  }
  const Tensor plain = contiguous(dy), ids = empty({rows ? N : N * kept}, {.dtype = DType::i64});
  int64_t* id = ids.data<int64_t>();
  if (rows) {
    const int64_t* p = index.data<int64_t>();
    for (int64_t i = 0; i < N; ++i) id[i] = p[i * index.strides()[0]];
    *amax = std::max(*amax, kernels<Real>().embedding_backward(N, C, shape[0], leaf, -1, id, plain.data<Real>(), sum.data<Real>()));
  } else {
    const Walk w = walk_over(index, alias(ids, index.shape(), contiguous_strides(index.shape()), 0), sum, 0);
    const auto one = [&](int64_t p, int64_t i) { id[p] = i; };
    each_element(w, one, [&](int64_t p, int64_t i, int64_t n) {
      for (int64_t k = 0; k < n; ++k) one(p + k, i + k);
    });
    *amax = std::max(*amax, kernels<Real>().embedding_backward(N * kept, 1, sum.numel(), leaf * kept, -1, id, plain.data<Real>(), sum.data<Real>()));
  }
  return sum;
}

}  // namespace

Tensor detail::scattered_sum(const Shape& shape, const Tensor& index, const Tensor& dy, int axis, int64_t leaf, uint32_t* amax) {
  const Tensor from = converted(dy, wide(dy.dtype()));
  if (leaf > 0 && axis == 0 && shape.axes() > 0 && index.numel() > 0) {
    const Tensor sum = from.dtype() == DType::f64 ? sum_by_leaf<double>(shape, index, from, leaf, amax) : sum_by_leaf<float>(shape, index, from, leaf, amax);
    return converted(sum, dy.dtype());
  }
  const Tensor sum = zeros(shape, {.dtype = from.dtype()});
  if (index.numel() > 0) join_into(sum, index, from, axis, How::add);
  *amax = std::max(*amax, amax_word(sum));
  return converted(sum, dy.dtype());
}

void Gather::forward(Call& call) {
  const int axis = checked_axis(call);
  call.out[0] = empty(call.in[1].shape(), {.dtype = call.in[0].dtype()});
  detail::gather_into(call.out[0], call.in[0], call.in[1], axis);
}

void Gather::backward(Call& call) {
  const Tensor& index = call.in[1];
  const Shape& shape = call.in_shapes[0];
  const int axis = normalize_axis(call.integer(0), shape.axes(), "gather");
  const int64_t leaf = axis == 0 && index.axes() > 0 ? call.leaf(1, index.shape()[0]) : 0;
  call.din[0] = detail::scattered_sum(shape, index, call.dout[0], axis, leaf, &call.amax);
}

void Gather::backward_in_ops(Call& call) {
  const Tensor& dy = call.dout[0];
  call.din[0] = scatter_add(zeros(call.in_shapes[0], {.dtype = dy.dtype()}), call.integer(0), call.in[1], dy);
}

void Scatter::forward(Call& call) {
  const How how = how_named(call);
  const int axis = checked_axis(call);
  const Tensor &x = call.in[0], &index = call.in[1];
  if (how == How::set || index.numel() == 0) {
    call.out[0] = empty(x.shape(), {.dtype = x.dtype()});
    copy_elements(call.out[0], x);
    if (index.numel() > 0) set_into(call.out[0], index, call.in[2], axis);
    return;
  }
  const Tensor y = empty(x.shape(), {.dtype = wide(x.dtype())});
  copy_elements(y, x);
  join_into(y, index, converted(call.in[2], y.dtype()), axis, how);
  call.saw(detail::amax_word(y));
  call.out[0] = converted(y, x.dtype());
}

void Scatter::backward(Call& call) {
  const Tensor &index = call.in[1], &dy = call.dout[0];
  const int64_t axis = call.integer(0);
  const bool set = how_named(call) == How::set;
  if (call.wants(0)) call.din[0] = set ? scatter(dy, axis, index, zeros(index.shape(), {.dtype = dy.dtype()})) : dy;
  if (!call.wants(2)) return;
  Tensor d = gather(dy, axis, index);
  if (set && index.numel() > 0) {
    // Of several that went to one place the last one stayed; the others had no effect.
    const Tensor own = alias(arange(index.numel()), index.shape(), contiguous_strides(index.shape()), 0);
    const Tensor stayed = gather(scatter(zeros(dy.shape(), {.dtype = DType::i64}), axis, index, own), axis, index);
    d = where(eq(stayed, own), d, number_for(d, 0));
  }
  call.din[2] = index.numel() == 0 ? zeros(call.in_shapes[2], {.dtype = dy.dtype()}) : padded_to(d, call.in_shapes[2]);
}

void ScatterReduce::forward(Call& call) {
  const How how = how_named(call);
  const int axis = checked_axis(call);
  const Tensor &x = call.in[0], &index = call.in[1];
  const Tensor y = empty(x.shape(), {.dtype = wide(x.dtype())});
  copy_elements(y, x);
  if (index.numel() > 0) join_into(y, index, converted(call.in[2], y.dtype()), axis, how);
  call.saw(detail::amax_word(y));
  call.out[0] = converted(y, x.dtype());
}

void ScatterReduce::backward(Call& call) {
  const Tensor &x = call.in[0], &index = call.in[1], &dy = call.dout[0];
  const int64_t axis = call.integer(0);
  if (index.numel() == 0) {
    call.din[0] = dy;
    call.din[2] = zeros(call.in_shapes[2], {.dtype = dy.dtype()});
    return;
  }
  const Tensor src = leading(call.in[2], index.shape());
  const auto as_numbers = [&](const Tensor& hit) { return to(hit, dy.dtype()); };
  Tensor dsrc;
  if (how_named(call) == How::prod) {
    // The product of the others: without the zeros, and 0 where a zero is among them.
    const Tensor x_zero = eq(x, 0.0), src_zero = eq(src, 0.0);
    const Tensor zeros_there = scatter_add(as_numbers(x_zero), axis, index, as_numbers(src_zero));
    const Tensor x_one = where(x_zero, number_for(x, 1), x), src_one = where(src_zero, number_for(src, 1), src);
    const Tensor product = mul(dy, apply<ScatterReduce>({x_one, index, src_one}, {axis, std::string("prod")}));
    const auto others = [&](const Tensor& own, const Tensor& own_zero, const Tensor& there, const Tensor& zeros) {
      return where(eq(zeros, as_numbers(own_zero)), div(there, own), number_for(there, 0));
    };
    call.din[0] = others(x_one, x_zero, product, zeros_there);
    dsrc = others(src_one, src_zero, gather(product, axis, index), gather(zeros_there, axis, index));
  } else {
    const Tensor& y = call.out[0];
    const Tensor x_hit = as_numbers(eq(x, y)), src_hit = as_numbers(eq(src, gather(y, axis, index)));
    const Tensor share = div(dy, scatter_add(x_hit, axis, index, src_hit));
    call.din[0] = mul(x_hit, share);
    dsrc = mul(src_hit, gather(share, axis, index));
  }
  call.din[2] = padded_to(dsrc, call.in_shapes[2]);
}

Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, const std::string& how, IncludeSelf include_self) {
  const auto start = [&](double value) {  // x, but `value` where something goes to
    return include_self == IncludeSelf::yes ? x : scatter(x, axis, index, full(index.shape(), value, {.dtype = x.dtype()}));
  };
  if (how == "sum") return scatter_add(start(0), axis, index, src);
  if (how == "mean") {
    const bool floating = is_floating(x.dtype());
    const DType counts = floating ? x.dtype() : DType::f64;
    const Tensor one = full(index.shape(), 1, {.dtype = DType::f32});
    const Tensor before = include_self == IncludeSelf::yes ? full(x.shape(), 1) : scatter(full(x.shape(), 1), axis, index, full(index.shape(), 0));
    const Tensor count = to(scatter_add(before, axis, index, one), counts);
    const Tensor total = scatter_add(start(0), axis, index, src);
    return floating ? div(total, count) : to(floor(div(to(total, counts), count)), x.dtype());
  }
  double neutral = 1;
  if (how == "amax" || how == "amin") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    neutral = how == "amax" ? -kInfinity : kInfinity;  // of integers: the last one on that side
    if (x.dtype() == DType::boolean) neutral = how == "amax" ? 0 : 1;
  } else {
    ROTE_CHECK(how == "prod", ArgumentError, "scatter_reduce: how is \"", how, "\"; it is sum, mean, prod, amax or amin.");
  }
  return apply<ScatterReduce>({start(neutral), index, src}, {axis, how});
}

namespace {

// An index of i32 or, as in PyTorch where it is empty, of any dtype.
Tensor index_argument(const Arguments& a) {
  const Tensor index = a.tensor("index");
  ROTE_CHECK(index.numel() == 0 || index.dtype() == DType::i64 || index.dtype() == DType::i32, DTypeError, a.op(), ": index is ", describe(index),
             "; it must be i64 or i32.");
  return to(index, DType::i64);
}

Tensor scattered(const Arguments& a, const char* name, const std::string& how) {
  const Tensor x = a.tensor("self"), index = index_argument(a);
  Tensor src = a.tensor(name);
  if (std::string(name) == "value") src = expand(to(src, x.dtype()), sizes(index.shape()));
  if (how == "add" || how == "sum") return scatter_add(x, a.integer("dim"), index, src);
  if (how == "multiply") return apply<ScatterReduce>({x, index, src}, {a.integer("dim"), std::string("prod")});
  ROTE_CHECK(how == "set", ArgumentError, a.op(), ": reduce is \"", how, "\"; it is add or multiply.");
  return scatter(x, a.integer("dim"), index, src);
}

}  // namespace

std::vector<Composition> gather_compositions() {
  return {
      {"gather", [](const Arguments& a) -> Value {
         a.ignore("sparse_grad");
         return gather(a.tensor("self"), a.integer("dim"), index_argument(a));
       }},
      {"scatter.src", [](const Arguments& a) -> Value { return scattered(a, "src", "set"); }},
      {"scatter.value", [](const Arguments& a) -> Value { return scattered(a, "value", "set"); }},
      {"scatter.reduce", [](const Arguments& a) -> Value { return scattered(a, "src", a.word("reduce")); }},
      {"scatter.value_reduce", [](const Arguments& a) -> Value { return scattered(a, "value", a.word("reduce")); }},
      {"scatter_add", [](const Arguments& a) -> Value { return scattered(a, "src", "add"); }},
      {"scatter_reduce.two", [](const Arguments& a) -> Value {
         return scatter_reduce(a.tensor("self"), a.integer("dim"), index_argument(a), a.tensor("src"), a.word("reduce"),
                               a.flag("include_self") ? IncludeSelf::yes : IncludeSelf::no);
       }},
  };
}

}  // namespace rote

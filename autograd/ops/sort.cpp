#include "autograd/ops/sort.h"

#include <limits>
#include <vector>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/lines.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

struct Ranked {
  uint64_t key;
  int64_t index;
};
// A total order, so any sort of it is a stable one of the keys.
bool precedes(const Ranked& a, const Ranked& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

void Argsort::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]);
  const int axis = normalize_axis(call.integer(0), x.axes(), "sort");
  const Lines lines(x.shape(), axis);
  const int64_t count = call.integer(2) < 0 ? lines.n : call.integer(2);
  ROTE_CHECK(count <= lines.n, ArgumentError, "topk: k is ", count, " but axis ", axis, " of ", describe(x), " has ", lines.n, " elements.");
  const bool descending = call.flag(1);
  Shape shape = x.shape();
  if (x.axes() > 0) shape[axis] = count;
  call.out[0] = empty(shape, {.dtype = DType::i64});
  const Lines results(shape, axis);
  int64_t* out = call.out[0].data<int64_t>();
  visit(x.dtype(), [&](auto t) {
    const auto* from = static_cast<const decltype(t)*>(x.raw());
    over_lines(lines, [&](int64_t line) -> uint32_t {
      std::vector<Ranked> ranked(static_cast<size_t>(lines.n));
      for (int64_t i = 0; i < lines.n; ++i) {
        const uint64_t key = order_key(from[lines.first(line) + i * lines.step]);
        ranked[static_cast<size_t>(i)] = {descending ? ~key : key, i};
      }
      const auto end = ranked.begin() + count;
      if (end != ranked.end()) std::nth_element(ranked.begin(), end, ranked.end(), precedes);
      std::sort(ranked.begin(), end, precedes);
      for (int64_t i = 0; i < count; ++i) out[results.first(line) + i * results.step] = ranked[static_cast<size_t>(i)].index;
      return 0;
    });
  });
}

void Searchsorted::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]), v = contiguous(call.in[1]);
  ROTE_CHECK(x.dtype() == v.dtype(), DTypeError, "searchsorted: x is ", describe(x), " but v ", describe(v), "; the dtypes must be equal.");
  bool fits = x.axes() == 1 || (x.axes() > 0 && x.axes() == v.axes());
  for (int i = 0; fits && x.axes() > 1 && i + 1 < x.axes(); ++i) fits = x.shape()[i] == v.shape()[i];
  ROTE_CHECK(fits, ShapeError, "searchsorted: x is ", describe(x), " but v ", describe(v), "; x must have one axis, or all leading sizes of v.");
  const bool right = call.flag(0);
  call.out[0] = empty(v.shape(), {.dtype = DType::i64});
  int64_t* out = call.out[0].data<int64_t>();
  const int64_t n = x.size(-1), each = x.axes() == 1 ? std::max<int64_t>(1, v.numel()) : v.size(-1);
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T *from = static_cast<const T*>(x.raw()), *wanted = static_cast<const T*>(v.raw());
    constexpr int64_t kTask = 4096;
    parallel((v.numel() + kTask - 1) / kTask, [&](int64_t task) -> uint32_t {
      for (int64_t i = task * kTask; i < std::min(v.numel(), (task + 1) * kTask); ++i) {
        const T* line = from + i / each * n;
        const uint64_t key = order_key(wanted[i]);
        const auto below = [&](const T& a) { return right ? order_key(a) <= key : order_key(a) < key; };
        out[i] = std::partition_point(line, line + n, below) - line;
      }
      return 0;
    });
  });
}

namespace {

// The values at indices of a line; one index a line: the axis goes unless it is kept.
Sorted values_at(const Tensor& x, int64_t axis, const Tensor& indices) { return {gather(x, axis, indices), indices}; }

Sorted value_at(const Tensor& x, int64_t axis, const Tensor& index, bool keepdim) {
  const Sorted s = values_at(x, axis, index);
  return keepdim || x.axes() == 0 ? s : Sorted{squeeze(s.values, axis), squeeze(s.indices, axis)};
}

int64_t length(const Tensor& x, int64_t axis) { return x.axes() == 0 ? 1 : x.size(axis); }

// The sorted order of each line along the axis, and the place in it that place(NaN count) gives for a line, as an index of size 1.
Tensor ordered_index(const char* who, const Tensor& x, int64_t axis, bool skip_nan) {
  const int64_t n = length(x, axis);
  ROTE_CHECK(n > 0, ShapeError, who, ": x is ", describe(x), "; a median needs an element along the axis.");
  const Tensor order = argsort(x, axis);
  if (x.axes() == 0) return order;
  const Tensor good = sum(eq(x, x), {axis}, true);  // elements of a line that are not NaN
  // The middle of the good ones; where a NaN counts, the first one follows them.
  const Tensor middle = to(floor(div(to(sub(good, 1.0), DType::f64), 2.0)), DType::i64);
  const Tensor all = eq(good, static_cast<double>(n));
  return gather(order, axis, skip_nan ? maximum(middle, scalar(0, DType::i64)) : where(all, middle, minimum(good, scalar(static_cast<double>(n - 1), DType::i64))));
}

}  // namespace

Sorted sort(const Tensor& x, int64_t axis, Order order) {
  return values_at(x, axis, apply<Argsort>({x}, {axis, order == Order::descending}));
}

Sorted topk(const Tensor& x, int64_t k, int64_t axis, Order order) {
  ROTE_CHECK(k >= 0 && k <= length(x, axis), ArgumentError, "topk: k is ", k, " but axis ", axis, " of ", describe(x), " has ", length(x, axis), " elements.");
  if (x.axes() == 0) return values_at(x, axis, zeros({}, {.dtype = DType::i64}));
  return values_at(x, axis, apply<Argsort>({x}, {axis, order == Order::descending, k}));
}

Sorted kthvalue(const Tensor& x, int64_t k, int64_t axis, bool keepdim) {
  const int64_t n = length(x, axis);
  ROTE_CHECK(k >= 1 && k <= n, ArgumentError, "kthvalue: k is ", k, " but axis ", axis, " of ", describe(x), " has ", n, " elements; k lies in 1…", n, ".");
  const Tensor order = apply<Argsort>({x}, {axis, false, k});
  return value_at(x, axis, x.axes() == 0 ? order : slice(order, axis, k - 1, k), keepdim);
}

Sorted median(const Tensor& x, int64_t axis, bool keepdim) { return value_at(x, axis, ordered_index("median", x, axis, false), keepdim); }
Sorted nanmedian(const Tensor& x, int64_t axis, bool keepdim) { return value_at(x, axis, ordered_index("nanmedian", x, axis, true), keepdim); }

namespace {

// The middle of all as a function of x: the largest of what does not lie above it; amax shares the gradient.
Tensor middle_of_all(const Tensor& x, const Tensor& middle) {
  if (!is_floating(x.dtype())) return middle;
  return where(ne(middle, middle), middle, amax(where(le(x, middle), x, number_for(x, -std::numeric_limits<double>::infinity()))));
}

}  // namespace

Tensor median(const Tensor& x) {
  if (x.numel() == 0 && is_floating(x.dtype())) return full({}, std::numeric_limits<double>::quiet_NaN(), {.dtype = x.dtype()});
  return middle_of_all(x, detach(median(reshape(x, {x.numel()}), 0).values));
}

Tensor quantile(const Tensor& x, const Tensor& q, int64_t axis, bool keepdim, const std::string& interpolation) {
  ROTE_CHECK(x.dtype() == DType::f32 || x.dtype() == DType::f64, DTypeError, "quantile: x is ", describe(x), "; it must be f32 or f64 (to() converts).");
  ROTE_CHECK(q.dtype() == x.dtype() && q.axes() <= 1, ShapeError, "quantile: q is ", describe(q), "; it must be ", name(x.dtype()), " with at most one axis.");
  ROTE_CHECK(x.numel() > 0, ShapeError, "quantile: x is ", describe(x), "; it must have an element.");
  for (int64_t i = 0; i < q.numel(); ++i) {
    const double v = select(reshape(detach(q), {q.numel()}), 0, i).item();
    ROTE_CHECK(v >= 0 && v <= 1, ArgumentError, "quantile: q holds ", v, "; it lies between 0 and 1.");
  }
  const Tensor line = x.axes() == 0 ? reshape(x, {1}) : movedim(x, {axis}, {-1});
  const Tensor sorted = sort(line).values;
  const double last = static_cast<double>(line.size(-1) - 1);
  // A line with a NaN gives it: its rank becomes that of the last element, which is one.
  const Tensor spoilt = ne(detach(slice(sorted, -1, line.size(-1) - 1, line.size(-1))), detach(slice(sorted, -1, line.size(-1) - 1, line.size(-1))));
  std::vector<int64_t> rank_shape = sizes(line.shape());
  rank_shape.back() = q.numel();
  Tensor rank = where(spoilt, number_for(x, last), expand(mul(reshape(q, {q.numel()}), last), rank_shape));
  if (interpolation == "lower") rank = floor(rank);
  else if (interpolation == "higher") rank = ceil(rank);
  else if (interpolation == "nearest") rank = round(rank);
  else ROTE_CHECK(interpolation == "linear" || interpolation == "midpoint", ArgumentError, "quantile: interpolation is \"", interpolation,
                  "\"; it is linear, lower, higher, midpoint or nearest.");
  const Tensor below = floor(detach(rank)), above = ceil(detach(rank));
  Tensor y = gather(sorted, -1, to(below, DType::i64));
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor weight = interpolation == "linear" ? sub(rank, below) : full(rank.shape(), 0.5, {.dtype = x.dtype()});
    y = lerp(y, gather(sorted, -1, to(above, DType::i64)), weight);
  }
  if (keepdim && x.axes() > 0) y = movedim(unsqueeze(y, -2), {-2}, {normalize_axis(axis, x.axes(), "quantile")});
  return q.axes() == 0 ? squeeze(y, -1) : movedim(y, {-1}, {0});
}

Distinct unique(const Tensor& x) {
  const Tensor line = detach(reshape(x, {x.numel()}));
  const Sorted s = sort(line, 0);
  const int64_t n = x.numel();
  const Tensor first = full({std::min<int64_t>(n, 1)}, 1, {.dtype = DType::boolean});
  const Tensor starts = n < 2 ? first : cat({first, ne(slice(s.values, 0, 1, n), slice(s.values, 0, 0, n - 1))}, 0);
  const Tensor group = sub(cumsum(starts, 0), 1.0);
  const Tensor inverse = scatter(zeros({n}, {.dtype = DType::i64}), 0, s.indices, group);
  return {masked_select(s.values, starts), reshape(inverse, sizes(x.shape())), bincount(group)};
}

Tensor isin(const Tensor& x, const Tensor& values) {
  const DType dtype = result_type({x, values});
  if (values.numel() == 0) return zeros(x.shape(), {.dtype = DType::boolean});
  const Tensor line = sort(reshape(detach(to(values, dtype)), {values.numel()}), 0).values, wanted = detach(to(x, dtype));
  const Tensor at = minimum(searchsorted(line, wanted), scalar(static_cast<double>(values.numel() - 1), DType::i64));
  return eq(take(line, at), wanted);
}

namespace {

std::vector<Tensor> both(const Sorted& s) { return {s.values, s.indices}; }

// bucketize and searchsorted: `side` says the same as `right`; `sorter` sorts a sequence that is not.
Tensor places(const Arguments& a, const char* sequence) {
  Tensor line = a.tensor(sequence);
  ROTE_CHECK(line.axes() == 1 || !a.given("boundaries"), ShapeError, a.op(), ": boundaries is ", describe(line), "; it must have one axis.");
  const bool right = a.flag("right") || (a.given("side") && a.word("side") == "right");
  ROTE_CHECK(!a.given("side") || a.word("side") == "right" || (a.word("side") == "left" && !a.flag("right")), ArgumentError, a.op(), ": side is \"", a.word("side"),
             "\" and right ", a.flag("right") ? "true" : "false", "; side is left or right and must agree.");
  if (a.given("sorter")) {
    const Tensor sorter = a.tensor("sorter");
    ROTE_CHECK(sorter.shape() == line.shape(), ShapeError, a.op(), ": sorter is ", describe(sorter), " but the sequence ", describe(line), "; the shapes must be equal.");
    line = gather(line, -1, sorter);
  }
  const Tensor wanted = a.tensor("self");
  const DType common = result_type({line, wanted});
  return to(apply<Searchsorted>({to(line, common), to(wanted, common)}, {right}), a.flag("out_int32") ? DType::i32 : DType::i64);
}

Tensor quantiles(const Arguments& a, const Tensor& q) {
  const Tensor x = a.tensor("self");
  if (a.given("dim")) return quantile(x, q, a.integer("dim"), a.flag("keepdim"), a.word("interpolation"));
  const Tensor y = quantile(reshape(x, {x.numel()}), q, 0, false, a.word("interpolation"));
  if (!a.flag("keepdim")) return y;
  std::vector<int64_t> shape = sizes(q.shape());
  shape.resize(shape.size() + static_cast<size_t>(x.axes()), 1);
  return reshape(y, shape);
}

Order direction(const Arguments& a, const char* name) { return a.flag(name) ? Order::descending : Order::ascending; }

}  // namespace

std::vector<Composition> sort_compositions() {
  return {
      {"sort; sort.stable", [](const Arguments& a) -> Value {
         a.ignore("stable");
         return both(sort(a.tensor("self"), a.integer("dim"), direction(a, "descending")));
       }},
      {"argsort; argsort.stable", [](const Arguments& a) -> Value {
         a.ignore("stable");
         return apply<Argsort>({a.tensor("self")}, {a.integer("dim"), a.flag("descending")});
       }},
      {"msort", [](const Arguments& a) -> Value { return sort(a.tensor("self"), 0).values; }},
      {"topk", [](const Arguments& a) -> Value {
         a.ignore("sorted");
         return both(topk(a.tensor("self"), a.integer("k"), a.integer("dim"), direction(a, "largest")));
       }},
      {"kthvalue", [](const Arguments& a) -> Value { return both(kthvalue(a.tensor("self"), a.integer("k"), a.integer("dim"), a.flag("keepdim"))); }},
      {"median", [](const Arguments& a) -> Value { return median(a.tensor("self")); }},
      {"median.dim", [](const Arguments& a) -> Value { return both(median(a.tensor("self"), a.integer("dim"), a.flag("keepdim"))); }},
      {"nanmedian", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         return middle_of_all(x, detach(nanmedian(reshape(x, {x.numel()}), 0).values));
       }},
      {"nanmedian.dim", [](const Arguments& a) -> Value { return both(nanmedian(a.tensor("self"), a.integer("dim"), a.flag("keepdim"))); }},
      {"quantile", [](const Arguments& a) -> Value { return quantiles(a, a.tensor("q")); }},
      {"quantile.scalar", [](const Arguments& a) -> Value { return quantiles(a, scalar(a.number("q"), a.tensor("self").dtype())); }},
      {"searchsorted.Tensor; searchsorted.Scalar", [](const Arguments& a) -> Value { return places(a, "sorted_sequence"); }},
      {"bucketize.Tensor; bucketize.Scalar", [](const Arguments& a) -> Value { return places(a, "boundaries"); }},
      {"_unique2", [](const Arguments& a) -> Value {
         a.ignore("sorted");
         const Distinct d = unique(a.tensor("self"));
         const Tensor none = zeros({0}, {.dtype = DType::i64});
         return std::vector<Tensor>{d.values, a.flag("return_inverse") ? d.inverse : none, a.flag("return_counts") ? d.counts : none};
       }},
      {"isin.Tensor_Tensor", [](const Arguments& a) -> Value {
         a.ignore("assume_unique");
         const Tensor y = isin(a.tensor("elements"), a.tensor("test_elements"));
         return a.flag("invert") ? logical_not(y) : y;
       }},
  };
}

}  // namespace rote

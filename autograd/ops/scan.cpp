#include "autograd/ops/scan.h"

#include <cmath>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/join.h"
#include "autograd/ops/lines.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"
#include "kernels/math64.h"

namespace rote {

namespace {

int axis_of(const Call& call) { return normalize_axis(call.integer(0), call.in_shapes[0].axes(), call.op->row.name); }

// y_i = step(y_{i-1}, x_i) along each line from `start` on, in f64 or, for integers, in i64.
template <class F>
void run_chain(Call& call, bool reverse, int start, const F& step) {
  const Tensor x = contiguous(call.in[0]);
  const Lines lines(x.shape(), axis_of(call));
  call.out[0] = empty(x.shape(), {.dtype = is_floating(x.dtype()) ? x.dtype() : DType::i64});
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    constexpr bool kInteger = std::is_integral_v<T>;
    using Wide = std::conditional_t<kInteger, uint64_t, double>;
    using Out = std::conditional_t<kInteger, int64_t, T>;
    const T* from = static_cast<const T*>(x.raw());
    Out* to = static_cast<Out*>(call.out[0].raw());
    call.saw(over_lines(lines, [&](int64_t line) -> uint32_t {
      Wide sum = static_cast<Wide>(start);
      uint32_t word = 0;
      const int64_t first = lines.first(line) + (reverse ? (lines.n - 1) * lines.step : 0), by = reverse ? -lines.step : lines.step;
      for (int64_t i = 0, at = first; i < lines.n; ++i, at += by) {
        if constexpr (kInteger) {
          sum = step(sum, static_cast<uint64_t>(static_cast<int64_t>(from[at])));
          to[at] = static_cast<int64_t>(sum);
        } else {
          sum = step(sum, convert<double>(from[at]));
          to[at] = convert<Out>(sum);
          word = std::max(word, amax_word(convert<double>(to[at])));
        }
      }
      return word;
    }));
  });
}

// x as [.., i, k], the same for each i, and where k <= i, for sums written out; two axes for the last one.
Tensor in_columns(const Tensor& x) { return unsqueeze(x, -2); }
Tensor in_rows(const Tensor& x) { return unsqueeze(x, -1); }
Tensor up_to(int64_t n) { return le(reshape(arange(n), {1, n}), reshape(arange(n), {n, 1})); }

// A function of lines along the last axis, for a tensor without axes too.
template <class F>
Tensor on_last_axis(const Call& call, const std::vector<Tensor>& xs, const F& f) {
  const int axis = axis_of(call);
  std::vector<Tensor> moved;
  for (const Tensor& x : xs) moved.push_back(x.axes() == 0 ? reshape(x, {1}) : movedim(x, {axis}, {-1}));
  const Tensor y = f(moved);
  return xs[0].axes() == 0 ? reshape(y, {}) : movedim(y, {-1}, {axis});
}

}  // namespace

void Cumsum::forward(Call& call) {
  run_chain(call, call.flag(1), 0, [](auto sum, auto x) { return sum + x; });
}
void Cumsum::backward(Call& call) { call.din[0] = apply<Cumsum>({call.dout[0]}, {call.integer(0), !call.flag(1)}); }

void Cumprod::forward(Call& call) {
  run_chain(call, false, 1, [](auto product, auto x) { return product * x; });
}

// dx_k = Σ_{i>=k} dy_i·Π_{j<=i, j≠k} x_j. Before the first 0 at a that is (Σ_{k<=i<a} dy_i·y_i)/x_k; at a it is the product before a times
// Σ_{i>=a} dy_i·Π_{a<j<=i} x_j; behind it 0.
void Cumprod::backward(Call& call) {
  const DType dtype = call.in_dtypes[0], wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor x = contiguous(converted(call.in[0], wide)), y = contiguous(converted(call.out[0], wide)), dy = contiguous(converted(call.dout[0], wide));
  const Tensor dx = zeros(x.shape(), {.dtype = wide});
  const Lines lines(x.shape(), axis_of(call));
  with_real(call, wide, [&](auto t) {
    using Real = decltype(t);
    const Real *px = x.data<Real>(), *py = y.data<Real>(), *pd = dy.data<Real>();
    Real* out = dx.data<Real>();
    call.saw(over_lines(lines, [&](int64_t line) -> uint32_t {
      const int64_t first = lines.first(line), step = lines.step;
      int64_t zero = 0;
      while (zero < lines.n && px[first + zero * step] != 0) ++zero;
      uint32_t word = 0;
      const auto write = [&](int64_t at, double v) {
        out[at] = static_cast<Real>(v);
        word = std::max(word, amax_word(v));
      };
      if (zero < lines.n) {
        double sum = 0, product = 1;
        for (int64_t i = zero; i < lines.n && product != 0; ++i) {
          if (i > zero) product *= static_cast<double>(px[first + i * step]);
          sum += product * static_cast<double>(pd[first + i * step]);
        }
        write(first + zero * step, zero == 0 ? sum : sum * static_cast<double>(py[first + (zero - 1) * step]));
      }
      double sum = 0;
      for (int64_t k = zero - 1; k >= 0; --k) {
        const int64_t at = first + k * step;
        sum += static_cast<double>(pd[at]) * static_cast<double>(py[at]);
        write(at, sum / static_cast<double>(px[at]));
      }
      return word;
    }));
  });
  call.din[0] = converted(dx, dtype);
}

// The same written out, with all products of a line in a matrix.
void Cumprod::backward_in_ops(Call& call) {
  call.din[0] = on_last_axis(call, {call.in[0], call.dout[0]}, [](const std::vector<Tensor>& v) {
    const int64_t n = v[0].size(-1);
    const Tensor own = eq(reshape(arange(n), {n, 1}), reshape(arange(n), {1, n}));
    const Tensor others = where(own, number_for(v[0], 1), in_columns(v[0]));               // [.., k, j]
    const Tensor terms = mul(in_columns(v[1]), cumprod(others, -1));                       // [.., k, i]
    return sum(where(transpose(up_to(n), 0, 1), terms, number_for(v[0], 0)), {-1});
  });
}

void Logcumsumexp::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]);
  const Lines lines(x.shape(), axis_of(call));
  with_real(call, x.dtype(), [&](auto t) {
    using Real = decltype(t);
    const Real* from = x.data<Real>();
    Real* to = call.out[0].data<Real>();
    call.saw(over_lines(lines, [&](int64_t line) -> uint32_t {
      double largest = -std::numeric_limits<double>::infinity(), total = 0;
      uint32_t word = 0;
      for (int64_t i = 0, at = lines.first(line); i < lines.n; ++i, at += lines.step) {
        const double v = static_cast<double>(from[at]);
        if (!(v <= largest)) {  // a NaN, which then stays
          total = total == 0 ? 1 : total * math64::exp(largest - v) + 1;
          largest = v;
        } else if (v == largest) {
          total += std::isinf(v) && v < 0 ? 0 : 1;
        } else {
          total += math64::exp(v - largest);
        }
        const double y = std::isinf(largest) ? largest : largest + math64::log(total);
        to[at] = static_cast<Real>(y);
        word = std::max(word, amax_word(y));
      }
      return word;
    }));
  });
}

// dx_k = Σ_{i>=k} dy_i·e^(x_k - y_i) = e^(x_k - y_k)·s_k with s_k = dy_k + e^(y_k - y_{k+1})·s_{k+1}: no exponent is above 0.
void Logcumsumexp::backward(Call& call) {
  const Tensor x = contiguous(call.in[0]), y = contiguous(call.out[0]), dy = contiguous(call.dout[0]);
  const Tensor dx = empty(x.shape(), {.dtype = x.dtype()});
  const Lines lines(x.shape(), axis_of(call));
  with_real(call, x.dtype(), [&](auto t) {
    using Real = decltype(t);
    const Real *px = x.data<Real>(), *py = y.data<Real>(), *pd = dy.data<Real>();
    Real* out = dx.data<Real>();
    call.saw(over_lines(lines, [&](int64_t line) -> uint32_t {
      double s = 0, next = 0;
      uint32_t word = 0;
      for (int64_t k = lines.n - 1; k >= 0; --k) {
        const int64_t at = lines.first(line) + k * lines.step;
        const double v = static_cast<double>(py[at]);
        s = static_cast<double>(pd[at]) + (k == lines.n - 1 ? 0 : v == next ? s : math64::exp(v - next) * s);
        next = v;
        const double d = math64::exp(static_cast<double>(px[at]) - v) * s;
        out[at] = static_cast<Real>(d);
        word = std::max(word, amax_word(d));
      }
      return word;
    }));
  });
  call.din[0] = dx;
}

void Logcumsumexp::backward_in_ops(Call& call) {
  call.din[0] = on_last_axis(call, {call.in[0], call.out[0], call.dout[0]}, [](const std::vector<Tensor>& v) {
    const Tensor later = transpose(up_to(v[0].size(-1)), 0, 1);  // [k, i]: i >= k
    const Tensor exponent = where(later, sub(in_rows(v[0]), in_columns(v[1])), number_for(v[0], -std::numeric_limits<double>::infinity()));
    return sum(mul(exp(exponent), in_columns(v[2])), {-1});
  });
}

void Cumargmax::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]);
  const Lines lines(x.shape(), axis_of(call));
  const bool smallest = call.flag(1);
  call.out[0] = empty(x.shape(), {.dtype = DType::i64});
  int64_t* out = call.out[0].data<int64_t>();
  visit(x.dtype(), [&](auto t) {
    const auto* from = static_cast<const decltype(t)*>(x.raw());
    over_lines(lines, [&](int64_t line) -> uint32_t {
      uint64_t best = 0;
      int64_t place = 0;
      for (int64_t i = 0, at = lines.first(line); i < lines.n; ++i, at += lines.step) {
        const uint64_t key = order_key(from[at]), rank = smallest && !is_nan(from[at]) ? ~key : key;
        if (rank >= best) best = rank, place = i;
        out[at] = place;
      }
      return 0;
    });
  });
}

namespace {

Extremes extremes(const Tensor& x, int64_t axis, bool smallest) {
  const Tensor indices = apply<Cumargmax>({x}, {axis, smallest});
  return {gather(x, axis, indices), indices};
}

}  // namespace

Extremes cummax(const Tensor& x, int64_t axis) { return extremes(x, axis, false); }
Extremes cummin(const Tensor& x, int64_t axis) { return extremes(x, axis, true); }

Tensor diff(const Tensor& x, int64_t order, int64_t axis) {
  ROTE_CHECK(order >= 0, ArgumentError, "diff: n is ", order, "; it must be 0 or more.");
  ROTE_CHECK(x.axes() > 0, ShapeError, "diff: x is ", describe(x), "; it must have an axis.");
  const int at = normalize_axis(axis, x.axes(), "diff");
  Tensor y = x;
  for (int64_t i = 0; i < order && y.size(at) > 0; ++i) {
    const Tensor later = slice(y, at, 1, y.size(at)), sooner = slice(y, at, 0, y.size(at) - 1);
    y = x.dtype() == DType::boolean ? logical_xor(later, sooner) : sub(later, sooner);
  }
  return y;
}

namespace {

Tensor self_in_dtype(const Arguments& a) {
  const Tensor x = a.tensor("self");
  return to(x, a.dtype("dtype").value_or(x.dtype()));
}

// Sums and products of integers in a dtype that was asked for.
Tensor in_dtype(const Arguments& a, const Tensor& y) { return to(y, a.dtype("dtype").value_or(y.dtype())); }

// The areas between neighbours: (y_i + y_{i+1})/2 times dx, or the differences of x.
Tensor trapezoids(const Arguments& a) {
  const Tensor y = a.tensor("y");
  ROTE_CHECK(y.axes() > 0, ShapeError, a.op(), ": y is ", describe(y), "; it must have an axis.");
  const int at = normalize_axis(a.integer("dim"), y.axes(), a.op().c_str());
  const int64_t n = y.size(at);
  const Tensor both = add(slice(y, at, 1, n), slice(y, at, 0, std::max<int64_t>(n - 1, 0)));
  if (!a.given("x")) return mul(mul(both, 0.5), a.tensor("dx"));
  const Tensor x = a.tensor("x");
  std::vector<int64_t> shape(static_cast<size_t>(y.axes()), 1);
  shape[static_cast<size_t>(at)] = -1;
  const Tensor widths = x.axes() != 1 ? diff(x, 1, at - y.axes()) : reshape(diff(x, 1, 0), shape);
  return is_floating(y.dtype()) ? mul(mul(both, 0.5), widths) : mul(mul(both, widths), 0.5);  // integers wrap as such
}

}  // namespace

std::vector<Composition> scan_compositions() {
  return {
      {"cumsum", [](const Arguments& a) -> Value { return in_dtype(a, cumsum(self_in_dtype(a), a.integer("dim"))); }},
      {"cumprod", [](const Arguments& a) -> Value { return in_dtype(a, cumprod(self_in_dtype(a), a.integer("dim"))); }},
      {"cummax; cummin", [](const Arguments& a) -> Value {
         const Extremes e = extremes(a.tensor("self"), a.integer("dim"), a.op() == "cummin");
         return std::vector<Tensor>{e.values, e.indices};
       }},
      {"diff", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         ROTE_CHECK(x.axes() > 0, ShapeError, "diff: x is ", describe(x), "; it must have an axis.");
         if (a.integer("n") == 0) {  // as in PyTorch nothing is put beside x then
           a.ignore("prepend"), a.ignore("append");
           return diff(x, 0, a.integer("dim"));
         }
         std::vector<Tensor> parts;
         for (const char* name : {"prepend", "self", "append"})
           if (a.given(name)) parts.push_back(a.tensor(name));
         return diff(parts.size() == 1 ? x : cat(parts, a.integer("dim")), a.integer("n"), a.integer("dim"));
       }},
      {"trapezoid.x; trapezoid.dx", [](const Arguments& a) -> Value { return sum(trapezoids(a), {a.integer("dim")}); }},
      {"cumulative_trapezoid.x; cumulative_trapezoid.dx", [](const Arguments& a) -> Value { return cumsum(trapezoids(a), a.integer("dim")); }},
  };
}

}  // namespace rote

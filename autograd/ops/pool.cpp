#include "autograd/ops/pool.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/axis_map.h"
#include "autograd/ops/view.h"
#include "autograd/ops/window.h"
#include "kernels/pool.h"

namespace rote {

namespace {

using Sizes = std::vector<int64_t>;

}  // namespace

void AveragePool::forward(Call& call) {
  const Tensor& x = call.in[0];
  ROTE_CHECK(x.axes() > 0, ShapeError, "avg_pool: a tensor without axes has no windows.");
  const int axis = normalize_axis(call.integer(0), x.axes(), "avg_pool");
  const int64_t windows = call.integer(1), kernel = call.integer(2), stride = call.integer(3), padding = call.integer(4), divisor = call.integer(6), back = call.integer(7);
  const int64_t n = back > 0 ? back : x.size(axis);
  ROTE_CHECK(windows >= 0 && kernel > 0 && stride > 0 && padding >= 0, ArgumentError, "avg_pool: ", windows, " windows of kernel ", kernel, ", stride ", stride, ", padding ", padding,
             "; kernel and stride must be positive, the others not negative.");
  apply_map(call, axis, back, [&](auto t) {
    using Real = decltype(t);
    AxisMap<Real> map(n);
    for (int64_t j = 0; j < windows; ++j) {
      const int64_t begin = j * stride - padding, end = std::min(begin + kernel, n + padding);
      const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, n);
      for (int64_t i = first; i < last; ++i) map.tap(i, 1);
      const int64_t count = call.flag(5) ? end - begin : last - first;
      map.divisor.push_back(static_cast<Real>(divisor != 0 ? divisor : std::max<int64_t>(count, 1)));
      map.end_row();
    }
    return map;
  });
}

void AveragePool::backward(Call& call) {
  std::vector<Attr> attrs = call.attrs;
  attrs[7] = call.integer(7) > 0 ? int64_t{0} : call.in_shapes[0][normalize_axis(call.integer(0), call.in_shapes[0].axes(), "avg_pool")];
  call.din[0] = apply<AveragePool>({call.dout[0]}, attrs);
}

namespace {

// The windows along one axis: the elements first[j], first[j] + step, … below end[j].
struct AxisWindows {
  int64_t in = 1, step = 1;
  Sizes first{0}, end{1};
  int64_t out() const { return static_cast<int64_t>(first.size()); }
};
// Over three axes, of which the leading ones may be units.
struct Windows {
  AxisWindows axis[3];
  int64_t inputs() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t outputs() const { return axis[0].out() * axis[1].out() * axis[2].out(); }
};

template <class T>
auto compared(T v) {
  if constexpr (std::is_integral_v<T>) return v;
  else return convert<std::conditional_t<std::is_same_v<T, double>, double, float>>(v);
}

template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
  else return convert<T>(-std::numeric_limits<double>::infinity());
}

// One plane.
template <class T>
void find_largest(const Windows& windows, const T* x, T* y, int64_t* index) {
  const AxisWindows &a = windows.axis[0], &b = windows.axis[1], &c = windows.axis[2];
  for (size_t d = 0; d < a.first.size(); ++d)
    for (size_t h = 0; h < b.first.size(); ++h)
      for (size_t w = 0; w < c.first.size(); ++w) {
        int64_t best = -1;
        auto top = compared(lowest<T>());
        for (int64_t i = a.first[d]; i < a.end[d]; i += a.step)
          for (int64_t j = b.first[h]; j < b.end[h]; j += b.step) {
            const int64_t row = (i * b.in + j) * c.in;
            for (int64_t k = c.first[w]; k < c.end[w]; k += c.step) {
              const auto v = compared(x[row + k]);
              if (v > top || v != v || best < 0) {
                top = v;
                best = row + k;
              }
            }
          }
        *y++ = best < 0 ? lowest<T>() : x[best];
        *index++ = best;
      }
}

void run_largest(Call& call, const Windows& windows, int lead) {
  const Tensor x = contiguous(call.in[0]);
  Shape shape = x.shape();
  for (int a = lead; a < x.axes(); ++a) shape[a] = windows.axis[3 - x.axes() + a].out();
  call.out[0] = empty(shape, {.dtype = x.dtype()});
  call.out[1] = empty(shape, {.dtype = DType::i64});
  const int64_t planes = x.shape().slice(0, lead).numel(), in = windows.inputs(), out = windows.outputs();
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(call.out[0].raw());
    int64_t* index = call.out[1].data<int64_t>();
    parallel(planes, [&](int64_t p) -> uint32_t {
      find_largest(windows, from + p * in, to + p * out, index + p * out);
      return 0;
    });
  });
}

int lead_axes(const Call& call, size_t axes) {
  const int lead = call.in[0].axes() - static_cast<int>(axes);
  ROTE_CHECK(axes >= 1 && axes <= 3 && lead >= 0, ShapeError, call.op->row.name, ": ", axes, " sizes for x, ", describe(call.in[0]), "; it takes the last one to three axes.");
  return lead;
}

// dy summed at the places that were taken, in the plane of the last axes.
void place_gradient(Call& call, size_t axes) {
  const Shape& shape = call.in_shapes[0];
  const int lead = shape.axes() - static_cast<int>(axes);
  const int64_t planes = shape.slice(0, lead).numel(), P = call.dout[0].shape().slice(lead, shape.axes()).numel();
  const Tensor dx = apply<Unpick>({reshape(call.dout[0], {planes, P}), reshape(call.out[1], {planes, P})}, {shape.slice(lead, shape.axes()).numel()});
  call.din[0] = reshape(dx, sizes_of(shape));
}

}  // namespace

void MaxPool::forward(Call& call) {
  const Tensor& x = call.in[0];
  const int axes = static_cast<int>(call.list(1).size()), lead = lead_axes(call, call.list(1).size());
  const Sizes size = per_axis("max_pool", "size", call.list(0), axes, 0), kernel = per_axis("max_pool", "kernel", call.list(1), axes, 1), stride = per_axis("max_pool", "stride", call.list(2), axes, 1);
  const Sizes padding = per_axis("max_pool", "padding", call.list(3), axes, 0), dilation = per_axis("max_pool", "dilation", call.list(4), axes, 1);
  Windows windows;
  for (int i = 0; i < axes; ++i) {
    const size_t at = static_cast<size_t>(i);
    AxisWindows& a = windows.axis[3 - axes + i];
    a = {x.size(lead + i), dilation[at], {}, {}};
    for (int64_t j = 0; j < size[at]; ++j) {
      const int64_t begin = j * stride[at] - padding[at];
      a.first.push_back(begin >= 0 ? begin : begin + (-begin + a.step - 1) / a.step * a.step);
      a.end.push_back(std::min(begin + (kernel[at] - 1) * a.step + 1, a.in));
    }
  }
  run_largest(call, windows, lead);
}

void MaxPool::backward(Call& call) { place_gradient(call, call.list(1).size()); }

void AdaptiveMaxPool::forward(Call& call) {
  const Tensor& x = call.in[0];
  const int axes = static_cast<int>(call.list(0).size()), lead = lead_axes(call, call.list(0).size());
  const Sizes size = per_axis("adaptive_max_pool", "size", call.list(0), axes, 0);
  Windows windows;
  for (int i = 0; i < axes; ++i) {
    const int64_t n = x.size(lead + i), out = size[static_cast<size_t>(i)];
    AxisWindows& a = windows.axis[3 - axes + i];
    a = {n, 1, {}, {}};
    for (int64_t j = 0; j < out; ++j) {
      a.first.push_back(j * n / out);
      a.end.push_back(((j + 1) * n + out - 1) / out);
    }
  }
  run_largest(call, windows, lead);
}

void AdaptiveMaxPool::backward(Call& call) { place_gradient(call, call.list(0).size()); }

namespace {

// f(plane of x, plane of y, its places) for each; the largest word that it returns.
template <class Real, class F>
uint32_t over_planes(const Call& call, const Tensor& x, int64_t V, const Tensor& y, int64_t P, const Tensor& index, F&& f) {
  const Tensor places = contiguous(index);
  Real *whole = x.data<Real>(), *picked = y.data<Real>();
  const int64_t* at = places.data<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i)
    ROTE_CHECK(at[i] >= -1 && at[i] < V, ArgumentError, call.op->row.name, ": place ", at[i], " of a plane of ", V, " elements; places lie in -1…", V - 1, ".");
  return parallel(P == 0 ? 0 : places.numel() / P, [&](int64_t p) -> uint32_t { return f(whole + p * V, picked + p * P, at + p * P); });
}

}  // namespace

void Pick::forward(Call& call) {
  const Tensor x = contiguous(call.in[0]);
  const int64_t V = x.size(-1), P = call.in[1].size(-1);
  with_real(call, x.dtype(), [&](auto t) {
    using Real = decltype(t);
    over_planes<Real>(call, x, V, call.out[0], P, call.in[1], [P](const Real* from, Real* to, const int64_t* at) -> uint32_t {
      for (int64_t i = 0; i < P; ++i) to[i] = at[i] < 0 ? Real(0) : from[at[i]];
      return 0;
    });
  });
}

void Pick::backward(Call& call) { call.din[0] = apply<Unpick>({call.dout[0], call.in[1]}, {call.in_shapes[0][call.in_shapes[0].axes() - 1]}); }

void Unpick::forward(Call& call) {
  const Tensor y = contiguous(call.in[0]);
  const int64_t P = y.size(-1), V = call.integer(0);
  ROTE_CHECK(V >= 0, ArgumentError, "unpick: size is ", V, "; it must not be negative.");
  Shape shape = y.shape();
  shape[shape.axes() - 1] = V;
  call.out[0] = zeros(shape, {.dtype = y.dtype()});
  with_real(call, y.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(over_planes<Real>(call, call.out[0], V, y, P, call.in[1], [P](Real* to, const Real* from, const int64_t* at) {
      uint32_t word = 0;
      for (int64_t i = 0; i < P; ++i)
        if (at[i] >= 0) word = std::max(word, std::bit_cast<uint32_t>(static_cast<float>(to[at[i]] += from[i])) & 0x7FFFFFFFu);
      return word;
    }));
  });
}

void Unpick::backward(Call& call) { call.din[0] = apply<Pick>({call.dout[0], call.in[1]}); }

namespace {

// Windows over the last axes, checked: how many there are along each.
struct Pool {
  const char* who;
  int axes;
  Sizes kernel, stride, padding, dilation, size;

  Pool(const char* who, const Tensor& x, int axes, const Sizes& kernel_list, const PoolOptions& o)
      : who(who), axes(axes), kernel(per_axis(who, "kernel", kernel_list, axes, 1)), stride(o.stride.empty() ? kernel : per_axis(who, "stride", o.stride, axes, 1)),
        padding(per_axis(who, "padding", o.padding, axes, 0)), dilation(per_axis(who, "dilation", o.dilation, axes, 1)) {
    ROTE_CHECK(x.axes() == axes + 1 || x.axes() == axes + 2, ShapeError, who, ": x is ", describe(x), "; it must have channels and ", axes, " more axes, or samples before.");
    for (int a = x.axes() - axes - 1; a < x.axes(); ++a) ROTE_CHECK(x.size(a) > 0, ShapeError, who, ": x is ", describe(x), "; only samples may be none.");
    for (int i = 0; i < axes; ++i) {
      const size_t a = static_cast<size_t>(i);
      const int64_t n = x.size(x.axes() - axes + i), reach = (kernel[a] - 1) * dilation[a] + 1;
      ROTE_CHECK(padding[a] <= kernel[a] / 2, ArgumentError, who, ": padding is ", Shape(padding), " but the kernel ", Shape(kernel), "; at most half of it.");
      const int64_t room = n + 2 * padding[a] - reach;
      int64_t windows = room < 0 && !o.ceil_mode ? 0 : (room + (o.ceil_mode ? stride[a] - 1 : 0)) / stride[a] + 1;
      if (room < 0 && o.ceil_mode) windows = room + stride[a] - 1 >= 0 ? 1 : 0;
      if (o.ceil_mode && windows > 0 && (windows - 1) * stride[a] >= n + padding[a]) --windows;
      ROTE_CHECK(windows > 0, ShapeError, who, ": no window fits axis ", i, " of x, ", describe(x), ": the kernel reaches over ", reach, ", padding is ", padding[a], "; it must fit.");
      size.push_back(windows);
    }
  }
};

Tensor mean_pool(const char* who, int axes, const Tensor& x, const Sizes& kernel, const PoolOptions& o) {
  const Pool pool(who, x, axes, kernel, o);
  for (int i = 0; axes == 3 && i < axes; ++i)  // as PyTorch, which takes smaller inputs with one or two axes
    ROTE_CHECK(x.size(i - axes) >= pool.kernel[static_cast<size_t>(i)], ShapeError, who, ": x is ", describe(x), " but the kernel ", Shape(pool.kernel), "; it must fit without padding.");
  return in_wide(x, [&](Tensor y) {
    // The one divisor for the whole window is that of the last axis; the others only add up.
    for (int i = axes - 1; i >= 0; --i) {
      const size_t a = static_cast<size_t>(i);
      const int64_t divisor = o.divisor == 0 ? 0 : i == axes - 1 ? o.divisor : 1;
      y = apply<AveragePool>({y}, {int64_t{i - axes}, pool.size[a], pool.kernel[a], pool.stride[a], pool.padding[a], o.include_padding, divisor});
    }
    return y;
  });
}

std::vector<Tensor> largest_pool(const char* who, int axes, const Tensor& x, const Sizes& kernel, const PoolOptions& o) {
  const Pool pool(who, x, axes, kernel, o);
  ROTE_CHECK(x.dtype() != DType::boolean, DTypeError, who, ": x is ", describe(x), "; a bool has no largest.");
  return apply_all<MaxPool>({x}, {pool.size, pool.kernel, pool.stride, pool.padding, pool.dilation});
}

Sizes adaptive_sizes(const char* who, int axes, const Tensor& x, const Sizes& size, int first_full) {
  ROTE_CHECK(x.axes() == axes + 1 || x.axes() == axes + 2, ShapeError, who, ": x is ", describe(x), "; it must have channels and ", axes, " more axes, or samples before.");
  for (int a = first_full; a < x.axes(); ++a) ROTE_CHECK(x.size(a) > 0, ShapeError, who, ": x is ", describe(x), "; axis ", a, " must have an element.");
  return per_axis(who, "size", size, axes, 0);
}

Tensor adaptive_mean(const char* who, int axes, const Tensor& x, const Sizes& size) {
  return resample_last(x, adaptive_sizes(who, axes, x, size, x.axes() - axes), "area");
}

std::vector<Tensor> adaptive_largest(const char* who, int axes, const Tensor& x, const Sizes& size) {
  return apply_all<AdaptiveMaxPool>({x}, {adaptive_sizes(who, axes, x, size, 1)});
}

}  // namespace

Tensor avg_pool1d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return mean_pool("avg_pool1d", 1, x, kernel, o); }
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return mean_pool("avg_pool2d", 2, x, kernel, o); }
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return mean_pool("avg_pool3d", 3, x, kernel, o); }
Tensor max_pool1d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return largest_pool("max_pool1d", 1, x, kernel, o)[0]; }
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return largest_pool("max_pool2d", 2, x, kernel, o)[0]; }
Tensor max_pool3d(const Tensor& x, const Sizes& kernel, const PoolOptions& o) { return largest_pool("max_pool3d", 3, x, kernel, o)[0]; }
Tensor adaptive_avg_pool1d(const Tensor& x, const Sizes& size) { return adaptive_mean("adaptive_avg_pool1d", 1, x, size); }
Tensor adaptive_avg_pool2d(const Tensor& x, const Sizes& size) { return adaptive_mean("adaptive_avg_pool2d", 2, x, size); }
Tensor adaptive_avg_pool3d(const Tensor& x, const Sizes& size) { return adaptive_mean("adaptive_avg_pool3d", 3, x, size); }
Tensor adaptive_max_pool1d(const Tensor& x, const Sizes& size) { return adaptive_largest("adaptive_max_pool1d", 1, x, size)[0]; }
Tensor adaptive_max_pool2d(const Tensor& x, const Sizes& size) { return adaptive_largest("adaptive_max_pool2d", 2, x, size)[0]; }
Tensor adaptive_max_pool3d(const Tensor& x, const Sizes& size) { return adaptive_largest("adaptive_max_pool3d", 3, x, size)[0]; }

namespace {

PoolOptions options_of(const Arguments& a) {
  PoolOptions o{.stride = a.list("stride"), .padding = a.list("padding"), .ceil_mode = a.flag("ceil_mode")};
  if (a.given("dilation")) o.dilation = a.list("dilation");
  if (a.given("count_include_pad")) o.include_padding = a.flag("count_include_pad");
  if (!a.given("divisor_override")) return o;
  o.divisor = a.integer("divisor_override");
  ROTE_CHECK(o.divisor != 0, ArgumentError, a.op(), ": divisor_override is 0; it must be another number.");
  return o;
}

std::vector<Tensor> largest_of(const Arguments& a) {
  return largest_pool(a.op().c_str(), axes_in(a.op()), a.tensor("self"), a.list("kernel_size"), options_of(a));
}

}  // namespace

std::vector<Composition> pool_compositions() {
  return {
      {"avg_pool1d; avg_pool2d; avg_pool3d", [](const Arguments& a) -> Value {
         return mean_pool(a.op().c_str(), axes_in(a.op()), a.tensor("self"), a.list("kernel_size"), options_of(a));
       }},
      {"max_pool1d; max_pool2d; max_pool3d", [](const Arguments& a) -> Value { return largest_of(a)[0]; }},
      {"max_pool1d_with_indices; max_pool2d_with_indices; max_pool3d_with_indices", [](const Arguments& a) -> Value { return largest_of(a); }},
      {"adaptive_avg_pool1d; adaptive_avg_pool2d; adaptive_avg_pool3d", [](const Arguments& a) -> Value {
         return adaptive_mean(a.op().c_str(), axes_in(a.op()), a.tensor("self"), a.list("output_size"));
       }},
      {"adaptive_max_pool1d; adaptive_max_pool2d; adaptive_max_pool3d", [](const Arguments& a) -> Value {
         return adaptive_largest(a.op().c_str(), axes_in(a.op()), a.tensor("self"), a.list("output_size"));
       }},
  };
}

}  // namespace rote

#include "autograd/ops/conv.h"

#include <algorithm>

#include "autograd/boxed.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"
#include "autograd/ops/window.h"
#include "kernels/rare_table.h"

namespace rote {

namespace {

using Sizes = std::vector<int64_t>;

// A convolution's extents and settings, one value for each of its axes.
struct Geometry {
  const char* who;
  int axes;
  int64_t N = 0, C = 0, O = 0, groups = 1;
  Sizes in, out, kernel, stride, padding, dilation;

  Geometry(const char* who, int axes, const Sizes& stride_list, const Sizes& padding_list, const Sizes& dilation_list, int64_t groups)
      : who(who), axes(axes), groups(groups), stride(per_axis(who, "stride", stride_list, axes, 1)), padding(per_axis(who, "padding", padding_list, axes, 0)),
        dilation(per_axis(who, "dilation", dilation_list, axes, 1)) {
    ROTE_CHECK(groups >= 1, ArgumentError, who, ": groups is ", groups, "; it must be at least 1.");
  }

  void set_kernel(const Sizes& sizes) { kernel = per_axis(who, "kernel", sizes, axes, 1); }
  int64_t reach(int a) const { return (kernel[at(a)] - 1) * dilation[at(a)] + 1; }

  // The sizes of y from those of x.
  void set_out() {
    for (int a = 0; a < axes; ++a) {
      const int64_t padded = in[at(a)] + 2 * padding[at(a)];
      ROTE_CHECK(in[at(a)] > 0 && padded >= reach(a), ShapeError, who, ": the input's axis ", a, " has size ", in[at(a)], ", with padding ", padded,
                 ", but the kernel reaches over ", reach(a), "; it must fit.");
      out.push_back((padded - reach(a)) / stride[at(a)] + 1);
    }
  }

  template <class Real>
  Conv<Real> described() const {
    Conv<Real> c{.N = N, .C = C, .O = O, .groups = groups};
    for (int a = 0; a < axes; ++a) {
      const int to = 3 - axes + a;
      c.in[to] = in[at(a)], c.out[to] = out[at(a)], c.kernel[to] = kernel[at(a)], c.stride[to] = stride[at(a)], c.pad[to] = padding[at(a)], c.dilation[to] = dilation[at(a)];
    }
    return c;
  }

  Shape x_shape() const { return joined(N, C, in); }
  Shape y_shape() const { return joined(N, O, out); }
  Shape w_shape() const { return joined(O, C / groups, kernel); }

  static size_t at(int a) { return static_cast<size_t>(a); }
  static Shape joined(int64_t first, int64_t second, const Sizes& rest) {
    Shape shape{first, second};
    for (const int64_t v : rest) shape.append(v);
    return shape;
  }
};

Sizes spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

int axes_of(const Call& call) {
  const int axes = call.in[0].axes() - 2;
  ROTE_CHECK(axes >= 1 && axes <= 3, ShapeError, call.op->row.name, ": ", call.op->schema.inputs[0].name, " is ", describe(call.in[0]),
             "; it must have samples, channels and one to three more axes.");
  return axes;
}

void check_weight(const Call& call, const char* as, int64_t channels, int64_t per, int64_t groups, bool transposed) {
  const Tensor &x = call.in[0], &w = call.in[1];
  const char* who = call.op->row.name;
  ROTE_CHECK(w.axes() == x.axes(), ShapeError, who, ": w is ", describe(w), " but x is ", describe(x), "; w must have ", x.axes(), " axes, ", as, ".");
  ROTE_CHECK(w.size(0) >= groups && w.size(0) % groups == 0, ShapeError, who, ": w is ", describe(w), "; its first size must be a multiple of groups, ", groups, ".");
  ROTE_CHECK(channels == per, ShapeError, who, ": x is ", describe(x), " but w is ", describe(w), " with groups ", groups, "; x must have ", per, " channels.");
  const int64_t O = transposed ? w.size(1) * groups : w.size(0);
  const Tensor& b = call.in[2];
  ROTE_CHECK(!b.defined() || b.shape() == Shape{O}, ShapeError, who, ": b is ", describe(b), " but w is ", describe(w), "; b must be ", Shape{O}, ".");
}

Geometry convolution_of(const Call& call) {
  const int axes = axes_of(call);
  const Tensor &x = call.in[0], &w = call.in[1];
  Geometry g(call.op->row.name, axes, call.list(0), call.list(1), call.list(2), call.integer(3));
  check_weight(call, "[O,C/groups,kernel]", x.size(1), w.axes() > 1 ? w.size(1) * g.groups : 0, g.groups, false);
  g.N = x.size(0), g.C = x.size(1), g.O = w.size(0);
  g.in = spatial(x.shape());
  g.set_kernel(spatial(w.shape()));
  g.set_out();
  return g;
}

// In the terms of the convolution whose x this is: `in` and C are those of the result.
Geometry transposed_of(const Call& call) {
  const int axes = axes_of(call);
  const Tensor &x = call.in[0], &w = call.in[1];
  Geometry g(call.op->row.name, axes, call.list(0), call.list(1), call.list(4), call.integer(3));
  check_weight(call, "[C,O/groups,kernel]", x.size(1), w.axes() > 0 ? w.size(0) : 0, g.groups, true);
  g.N = x.size(0), g.O = x.size(1), g.C = w.size(1) * g.groups;
  g.out = spatial(x.shape());
  g.set_kernel(spatial(w.shape()));
  const Sizes extra = per_axis(g.who, "output_padding", call.list(2), axes, 0);
  for (int a = 0; a < axes; ++a) {
    const size_t at = Geometry::at(a);
    ROTE_CHECK(extra[at] < g.stride[at] || extra[at] < g.dilation[at], ArgumentError, g.who, ": output_padding is ", Shape(extra), " but stride ", Shape(g.stride), " and dilation ",
               Shape(g.dilation), "; it must be less than one of them.");
    ROTE_CHECK(g.out[at] > 0, ShapeError, g.who, ": x is ", describe(x), "; only samples and channels may be none.");
    g.in.push_back((g.out[at] - 1) * g.stride[at] - 2 * g.padding[at] + g.reach(a) + extra[at]);
    ROTE_CHECK(g.in[at] > 0, ShapeError, g.who, ": axis ", a, " of the result would have size ", g.in[at], " for x ", describe(x), "; less padding or a larger kernel leaves some.");
  }
  return g;
}

Geometry weight_of(const Call& call) {
  const int axes = axes_of(call);
  const Tensor &x = call.in[0], &dy = call.in[1];
  Geometry g(call.op->row.name, axes, call.list(1), call.list(2), call.list(3), call.integer(4));
  g.set_kernel(call.list(0));
  g.N = x.size(0), g.C = x.size(1), g.O = dy.axes() > 1 ? dy.size(1) : 0;
  g.in = spatial(x.shape());
  g.set_out();
  ROTE_CHECK(g.C % g.groups == 0 && g.O % g.groups == 0, ShapeError, g.who, ": x is ", describe(x), " and dy ", describe(dy), "; groups, ", g.groups, ", must divide both channels.");
  const Shape most = g.y_shape();  // a transposed convolution with much output padding has fewer positions than fit
  bool fits = dy.axes() == x.axes() && dy.size(0) == g.N;
  for (int a = 0; fits && a < axes; ++a) fits = dy.size(a + 2) > 0 && dy.size(a + 2) <= most[a + 2];
  ROTE_CHECK(fits, ShapeError, g.who, ": dy is ", describe(dy), " but x is ", describe(x), "; dy must be at most ", most, ".");
  g.out = spatial(dy.shape());
  return g;
}

// The positions of g alone, which may be fewer than fit.
Tensor convolve(const Tensor& x, const Tensor& w, const Geometry& g) {
  Tensor y = apply<Convolution>({x, w, {}}, {g.stride, g.padding, g.dilation, g.groups});
  for (int a = 0; a < g.axes; ++a)
    if (y.size(a + 2) != g.out[Geometry::at(a)]) y = slice(y, a + 2, 0, g.out[Geometry::at(a)]);
  return y;
}

Tensor convolve_back(const Tensor& y, const Tensor& w, const Geometry& g) {
  Sizes extra;
  for (int a = 0; a < g.axes; ++a) {
    const size_t at = Geometry::at(a);
    extra.push_back(g.in[at] - ((g.out[at] - 1) * g.stride[at] - 2 * g.padding[at] + g.reach(a)));
  }
  return apply<ConvolutionTransposed>({y, w, {}}, {g.stride, g.padding, extra, g.groups, g.dilation});
}

Tensor weight_gradient(const Tensor& x, const Tensor& dy, const Geometry& g) {
  return apply<ConvolutionWeight>({x, dy}, {g.kernel, g.stride, g.padding, g.dilation, g.groups});
}

// Sums over samples and positions, by sample leaves.
Tensor bias_gradient(const Tensor& dy) { return sum_to(movedim(dy, {1}, {-1}), {dy.size(1)}); }

}  // namespace

void Convolution::forward(Call& call) {
  const Geometry g = convolution_of(call);
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), w = contiguous(call.in[1]), b = plain(call.in[2]);
    call.out[0] = empty(g.y_shape(), {.dtype = x.dtype()});
    Conv<Real> c = g.described<Real>();
    c.x = x.data<Real>(), c.w = w.data<Real>(), c.bias = values<Real>(b), c.to = call.out[0].data<Real>();
    call.saw(rare_kernels<ConvTable, Real>().conv(c));
  });
}

namespace {

// The geometry again, from what backward has: shapes.
Geometry geometry_of(const Call& call, bool transposed) {
  const Shape &x = call.in_shapes[0], &w = call.in_shapes[1], &y = call.dout[0].shape();
  const int dilation = transposed ? 4 : 2;
  Geometry g(call.op->row.name, x.axes() - 2, call.list(0), call.list(1), call.list(dilation), call.integer(3));
  g.N = x[0], g.C = transposed ? y[1] : x[1], g.O = transposed ? x[1] : y[1];
  g.in = spatial(transposed ? y : x);
  g.out = spatial(transposed ? x : y);
  g.set_kernel(spatial(w));
  return g;
}

}  // namespace

void Convolution::backward(Call& call) {
  const Geometry g = geometry_of(call, false);
  const Tensor& dy = call.dout[0];
  if (call.wants(0)) call.din[0] = convolve_back(dy, call.in[1], g);
  if (call.wants(1)) call.din[1] = weight_gradient(call.in[0], dy, g);
  if (call.wants(2)) call.din[2] = bias_gradient(dy);
}

void ConvolutionTransposed::forward(Call& call) {
  const Geometry g = transposed_of(call);
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor y = contiguous(call.in[0]), w = contiguous(call.in[1]), b = plain(call.in[2]);
    call.out[0] = empty(g.x_shape(), {.dtype = y.dtype()});
    Conv<Real> c = g.described<Real>();
    c.y = y.data<Real>(), c.w = w.data<Real>(), c.bias = values<Real>(b), c.to = call.out[0].data<Real>();
    call.saw(rare_kernels<ConvTable, Real>().conv_input(c));
  });
}

void ConvolutionTransposed::backward(Call& call) {
  const Geometry g = geometry_of(call, true);
  const Tensor& dx = call.dout[0];
  if (call.wants(0)) call.din[0] = convolve(dx, call.in[1], g);
  if (call.wants(1)) call.din[1] = weight_gradient(dx, call.in[0], g);
  if (call.wants(2)) call.din[2] = bias_gradient(dx);
}

void ConvolutionWeight::forward(Call& call) {
  const Geometry g = weight_of(call);
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), y = contiguous(call.in[1]);
    call.out[0] = empty(g.w_shape(), {.dtype = x.dtype()});
    Conv<Real> c = g.described<Real>();
    c.x = x.data<Real>(), c.y = y.data<Real>(), c.to = call.out[0].data<Real>();
    c.leaf = g.O == 0 ? 0 : call.leaf(0, y.numel() / g.O);
    call.saw(rare_kernels<ConvTable, Real>().conv_weight(c));
  });
}

void ConvolutionWeight::backward(Call& call) {
  Geometry g(call.op->row.name, call.in_shapes[0].axes() - 2, call.list(1), call.list(2), call.list(3), call.integer(4));
  g.set_kernel(call.list(0));
  g.in = spatial(call.in_shapes[0]);
  g.out = spatial(call.in_shapes[1]);
  if (call.wants(0)) call.din[0] = convolve_back(call.in[1], call.dout[0], g);
  if (call.wants(1)) call.din[1] = convolve(call.in[0], call.dout[0], g);
}

namespace {

// Of the columns of an image [N,C,size]; the lists of attributes start at `first`.
Geometry columns_of(const Call& call, const Shape& image, int first) {
  Geometry g(call.op->row.name, 2, call.list(first + 3), call.list(first + 2), call.list(first + 1), 1);
  g.set_kernel(call.list(first));
  g.N = image[0], g.C = image[1];
  g.in = spatial(image);
  g.set_out();
  return g;
}

}  // namespace

void Im2col::forward(Call& call) {
  const Geometry g = columns_of(call, call.in[0].shape(), 0);
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    call.out[0] = empty({g.N, g.C * g.kernel[0] * g.kernel[1], g.out[0] * g.out[1]}, {.dtype = x.dtype()});
    Conv<Real> c = g.described<Real>();
    c.x = x.data<Real>(), c.to = call.out[0].data<Real>();
    call.saw(rare_kernels<WindowTable, Real>().unfold(c));
  });
}

void Im2col::backward(Call& call) {
  call.din[0] = apply<Col2im>({call.dout[0]}, {spatial(call.in_shapes[0]), call.list(0), call.list(1), call.list(2), call.list(3)});
}

void Col2im::forward(Call& call) {
  const Tensor columns = contiguous(call.in[0]);
  const Sizes size = per_axis("col2im", "size", call.list(0), 2, 1), kernel = per_axis("col2im", "kernel", call.list(1), 2, 1);
  const int64_t area = kernel[0] * kernel[1];
  ROTE_CHECK(columns.size(1) % area == 0, ShapeError, "col2im: x is ", describe(columns), " but the kernel ", Shape(kernel), "; axis 1 must be a multiple of ", area, ".");
  const Geometry g = columns_of(call, {columns.size(0), columns.size(1) / area, size[0], size[1]}, 1);
  ROTE_CHECK(columns.size(2) == g.out[0] * g.out[1], ShapeError, "col2im: x is ", describe(columns), " but ", g.out[0], " by ", g.out[1], " windows fit ", Shape(size), "; axis 2 must be ",
             g.out[0] * g.out[1], ".");
  with_real(call, columns.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.out[0] = empty(g.x_shape(), {.dtype = columns.dtype()});
    Conv<Real> c = g.described<Real>();
    c.y = columns.data<Real>(), c.to = call.out[0].data<Real>();
    call.saw(rare_kernels<WindowTable, Real>().fold(c));
  });
}

void Col2im::backward(Call& call) { call.din[0] = apply<Im2col>({call.dout[0]}, {call.list(1), call.list(2), call.list(3), call.list(4)}); }

namespace {

const char* const kNames[2][3] = {{"conv1d", "conv2d", "conv3d"}, {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}};

// f of x with a sample axis; the axis of an unbatched x goes again.
template <class F>
Tensor with_samples(const char* who, const Tensor& x, int axes, F&& f) {
  ROTE_CHECK(x.axes() == axes || x.axes() == axes - 1, ShapeError, who, ": x is ", describe(x), "; it must have ", axes, " axes, or ", axes - 1, " without samples.");
  return x.axes() == axes ? f(x) : squeeze(f(unsqueeze(x, 0)), 0);
}

// Padding that keeps the sizes; the odd one goes to the end, as a copy of x with zeros.
Tensor same_padded(const char* who, const Tensor& x, const Tensor& w, const ConvOptions& o, int axes, Sizes& padding) {
  const Sizes stride = per_axis(who, "stride", o.stride, axes, 1), dilation = per_axis(who, "dilation", o.dilation, axes, 1);
  Sizes after;
  padding.clear();
  for (int a = 0; a < axes; ++a) {
    const size_t at = Geometry::at(a);
    ROTE_CHECK(stride[at] == 1, ArgumentError, who, ": stride is ", Shape(stride), "; padding that keeps the sizes needs stride 1.");
    const int64_t total = dilation[at] * (w.size(a + 2) - 1);
    padding.push_back(total / 2);
    after.insert(after.begin(), {0, total % 2});
  }
  return std::any_of(after.begin(), after.end(), [](int64_t v) { return v != 0; }) ? constant_pad(x, after) : x;
}

Tensor convolution(int axes, const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& o, bool transposed) {
  const char* who = kNames[transposed][axes - 1];
  ROTE_CHECK(w.axes() == axes + 2, ShapeError, who, ": w is ", describe(w), "; it must have ", axes + 2, " axes.");
  return with_samples(who, x, axes + 2, [&](const Tensor& batch) {
    if (transposed) return apply<ConvolutionTransposed>({batch, w, b}, {o.stride, o.padding, o.output_padding, o.groups, o.dilation});
    Sizes padding = o.padding;
    const Tensor padded = o.same ? same_padded(who, batch, w, o, axes, padding) : batch;
    return apply<Convolution>({padded, w, b}, {o.stride, padding, o.dilation, o.groups});
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(1, x, w, b, options, false); }
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(2, x, w, b, options, false); }
Tensor conv3d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(3, x, w, b, options, false); }
Tensor conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(1, x, w, b, options, true); }
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(2, x, w, b, options, true); }
Tensor conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options) { return convolution(3, x, w, b, options, true); }

Tensor im2col(const Tensor& x, const Sizes& kernel, const WindowOptions& o) {
  return with_samples("im2col", x, 4, [&](const Tensor& batch) { return apply<Im2col>({batch}, {kernel, o.dilation, o.padding, o.stride}); });
}

Tensor col2im(const Tensor& x, const Sizes& size, const Sizes& kernel, const WindowOptions& o) {
  return with_samples("col2im", x, 3, [&](const Tensor& batch) { return apply<Col2im>({batch}, {size, kernel, o.dilation, o.padding, o.stride}); });
}

namespace {

ConvOptions options_of(const Arguments& a) {
  ConvOptions o{.stride = a.list("stride"), .dilation = a.list("dilation"), .groups = a.integer("groups")};
  if (a.given("output_padding")) o.output_padding = a.list("output_padding");
  if (!std::holds_alternative<std::string>(a.value("padding"))) {
    o.padding = a.list("padding");
    return o;
  }
  o.same = a.word("padding") == "same";
  ROTE_CHECK(o.same || a.word("padding") == "valid", ArgumentError, a.op(), ": padding is \"", a.word("padding"), "\"; a word must be \"same\" or \"valid\".");
  return o;
}

// Two values for height and width, which one does not stand for.
Sizes pair(const Arguments& a, const char* name) {
  ROTE_CHECK(a.list(name).size() == 2, ArgumentError, a.op(), ": ", name, " has ", a.list(name).size(), " values; it must have 2.");
  return a.list(name);
}

WindowOptions windows_of(const Arguments& a) { return {.dilation = pair(a, "dilation"), .padding = pair(a, "padding"), .stride = pair(a, "stride")}; }

}  // namespace

std::vector<Composition> conv_compositions() {
  return {
      {"conv1d; conv2d; conv3d; conv1d.padding; conv2d.padding; conv3d.padding", [](const Arguments& a) -> Value {
         return convolution(axes_in(a.op()), a.tensor("input"), a.tensor("weight"), a.tensor_or_none("bias"), options_of(a), false);
       }},
      {"conv_transpose1d; conv_transpose2d.input; conv_transpose3d.input", [](const Arguments& a) -> Value {
         return convolution(axes_in(a.op()), a.tensor("input"), a.tensor("weight"), a.tensor_or_none("bias"), options_of(a), true);
       }},
      {"im2col", [](const Arguments& a) -> Value { return im2col(a.tensor("self"), pair(a, "kernel_size"), windows_of(a)); }},
      {"col2im", [](const Arguments& a) -> Value { return col2im(a.tensor("self"), pair(a, "output_size"), pair(a, "kernel_size"), windows_of(a)); }},
  };
}

}  // namespace rote

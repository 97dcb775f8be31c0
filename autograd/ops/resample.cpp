#include "autograd/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "autograd/boxed.h"
#include "autograd/ops/axis_map.h"
#include "autograd/ops/view.h"
#include "autograd/ops/window.h"

namespace rote {

namespace {

// Where result j lies between the inputs. The arithmetic, with its rounding to float before a floor, is PyTorch's: positions at a border between
// two inputs fall to the same side.
template <class Real>
struct Positions {
  int64_t in, out;
  bool align;
  double scale;

  Real ratio() const { return scale > 0 ? static_cast<Real>(1 / scale) : static_cast<Real>(in) / static_cast<Real>(out); }
  Real step() const {
    if (!align) return ratio();
    return out > 1 ? static_cast<Real>(in - 1) / static_cast<Real>(out - 1) : Real(0);
  }
  Real between(int64_t j) const {
    const Real step = this->step();
    return align ? step * static_cast<Real>(j) : step * (static_cast<Real>(j) + Real(0.5)) - Real(0.5);
  }
  int64_t whole(Real position) const { return std::min(static_cast<int64_t>(std::floor(static_cast<float>(position))), in - 1); }
};

template <class Real>
void nearest_taps(const Positions<Real>& p, bool exact, AxisMap<Real>& map) {
  const Real step = p.ratio();
  for (int64_t j = 0; j < p.out; ++j) {
    const Real at = exact ? step * (static_cast<Real>(j) + Real(0.5)) : step * static_cast<Real>(j);
    map.tap(p.whole(at), 1);
    map.end_row();
  }
}

template <class Real>
void linear_taps(const Positions<Real>& p, AxisMap<Real>& map) {
  for (int64_t j = 0; j < p.out; ++j) {
    const Real at = p.in == p.out ? static_cast<Real>(j) : std::max(p.between(j), Real(0));
    const int64_t i = p.whole(at);
    const Real part = std::clamp(at - static_cast<Real>(i), Real(0), Real(1));
    map.tap(i, 1 - part);
    map.tap(std::min(i + 1, p.in - 1), part);
    map.end_row();
  }
}

// Keys 1981, with a = -3/4.
template <class Real>
void cubic_taps(const Positions<Real>& p, AxisMap<Real>& map) {
  const Real a = Real(-0.75);
  const auto near = [a](Real t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto far = [a](Real t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  for (int64_t j = 0; j < p.out; ++j) {
    const Real at = p.between(j);
    const int64_t i = p.whole(at);
    const Real t = std::clamp(at - static_cast<Real>(i), Real(0), Real(1));
    const Real weights[4] = {far(t + 1), near(t), near(1 - t), far((1 - t) + 1)};
    for (int64_t k = 0; k < 4; ++k) map.tap(std::clamp<int64_t>(i - 1 + k, 0, p.in - 1), weights[k]);
    map.end_row();
  }
}

template <class Real>
void area_taps(int64_t in, int64_t out, AxisMap<Real>& map) {
  for (int64_t j = 0; j < out; ++j) {
    const int64_t first = j * in / out, last = ((j + 1) * in + out - 1) / out;
    for (int64_t i = first; i < last; ++i) map.tap(i, 1);
    map.divisor.push_back(static_cast<Real>(last - first));
    map.end_row();
  }
}

}  // namespace

void Resample::forward(Call& call) {
  const Tensor& x = call.in[0];
  const int axis = normalize_axis(call.integer(0), x.axes(), "resample");
  ROTE_CHECK(x.axes() > 0, ShapeError, "resample: a tensor without axes has none to resample.");
  const int64_t out = call.integer(1), back = call.integer(6), in = back > 0 ? back : x.size(axis);
  ROTE_CHECK(in > 0 && out >= 0, ShapeError, "resample: axis ", axis, " from ", in, " to ", out, " elements; it must have one or more before.");
  const std::string& mode = call.word(2);
  apply_map(call, axis, back, [&](auto t) {
    using Real = decltype(t);
    AxisMap<Real> map(in);
    const Positions<Real> p{in, out, call.flag(3), call.number(4)};
    if (mode == "nearest" || mode == "nearest-exact") nearest_taps(p, mode != "nearest", map);
    else if (mode == "linear") linear_taps(p, map);
    else if (mode == "cubic") cubic_taps(p, map);
    else if (mode == "area") area_taps(in, out, map);
    else
      for (int64_t j = 0; j < out; ++j) {
        const int64_t i = beyond_border(mode, j - call.integer(5), in);
        ROTE_CHECK(i >= 0 && i < in, ShapeError, "resample: ", out, " elements from ", -call.integer(5), " on of ", in, " by mode ", mode, "; it must not reach so far.");
        map.tap(i, 1);
        map.end_row();
      }
    return map;
  });
}

void Resample::backward(Call& call) {
  std::vector<Attr> attrs = call.attrs;
  attrs[6] = call.integer(6) > 0 ? int64_t{0} : call.in_shapes[0][normalize_axis(call.integer(0), call.in_shapes[0].axes(), "resample")];
  call.din[0] = apply<Resample>({call.dout[0]}, attrs);
}

Tensor resample_last(const Tensor& x, const std::vector<int64_t>& size, const std::string& mode, bool align_corners, const std::vector<double>& scale) {
  return in_wide(x, [&](Tensor y) {
    bool changed = false;
    for (size_t i = size.size(); i-- > 0;) {
      const int64_t axis = x.axes() - static_cast<int64_t>(size.size() - i);
      const double factor = scale.empty() ? 0 : scale[i];
      ROTE_CHECK(factor == 0 || (factor > 0x1p-60 && factor < 0x1p60), ArgumentError, "interpolate: scale ", factor, " is no factor between sizes; it lies within 2^-60 and 2^60.");
      if (x.size(axis) == size[i] && (factor == 0 || factor == 1)) continue;
      y = apply<Resample>({y}, {axis, size[i], mode, align_corners, factor});
      changed = true;
    }
    return changed ? y : clone(y);
  });
}

Tensor interpolate(const Tensor& x, const InterpolateOptions& o) {
  const int axes = x.axes() - 2;
  ROTE_CHECK(axes >= 1 && axes <= 3, ShapeError, "interpolate: x is ", describe(x), "; it must have samples, channels and one to three more axes.");
  ROTE_CHECK(o.size.empty() != o.scale.empty(), ArgumentError, "interpolate: size has ", o.size.size(), " values and scale ", o.scale.size(), "; one of them must be given.");
  ROTE_CHECK(static_cast<int>(std::max(o.size.size(), o.scale.size())) == axes, ArgumentError, "interpolate: ", std::max(o.size.size(), o.scale.size()), " sizes for x, ", describe(x),
             "; each of its ", axes, " last axes needs one.");
  static const char* const kModes[] = {"nearest", "nearest-exact", "linear", "cubic", "area"};
  ROTE_CHECK(std::find(std::begin(kModes), std::end(kModes), o.mode) != std::end(kModes), ArgumentError, "interpolate: mode is \"", o.mode,
             "\"; it is nearest, nearest-exact, linear, cubic or area.");
  ROTE_CHECK(o.mode != "cubic" || axes == 2, ShapeError, "interpolate: x is ", describe(x), "; mode cubic takes two axes after the channels.");
  ROTE_CHECK(!o.align_corners || o.mode == "linear" || o.mode == "cubic", ArgumentError, "interpolate: align_corners goes with mode linear or cubic, not with ", o.mode, ".");
  for (const int64_t n : o.size) ROTE_CHECK(n < int64_t{1} << 31, ArgumentError, "interpolate: size ", n, " is too large; each must be below 2^31.");
  std::vector<int64_t> size = o.size;
  std::vector<double> scale = o.scale;
  for (int a = 0; a < axes; ++a) {
    const int64_t n = x.size(a + 2);
    if (o.size.empty()) {
      const double wanted = static_cast<double>(n) * o.scale[static_cast<size_t>(a)];
      ROTE_CHECK(wanted >= 0 && wanted < 0x1p31, ArgumentError, "interpolate: scale ", o.scale[static_cast<size_t>(a)], " takes ", n, " elements to ", wanted, "; it must be positive and below 2^31.");
      size.push_back(static_cast<int64_t>(wanted));
    }
    ROTE_CHECK(n > 0 && size.back() > 0 && size[static_cast<size_t>(a)] > 0 && x.size(1) > 0, ShapeError, "interpolate: x is ", describe(x), " and its new sizes ", Shape(size), "; only samples may be none.");
    // As PyTorch, which takes these from the sizes alone.
    if (o.mode == "nearest" && axes == 2 && !scale.empty() && (size[static_cast<size_t>(a)] == n || size[static_cast<size_t>(a)] == 2 * n)) scale[static_cast<size_t>(a)] = 0;
  }
  return resample_last(x, size, o.mode, o.align_corners, scale);
}

Tensor pixel_shuffle(const Tensor& x, int64_t r) {
  const int lead = x.axes() - 3;
  ROTE_CHECK(lead >= 0, ShapeError, "pixel_shuffle: x is ", describe(x), "; it must have channels, height and width.");
  ROTE_CHECK(r > 0 && r < 1 << 15 && x.size(-3) % (r * r) == 0, ShapeError, "pixel_shuffle: x is ", describe(x), " and r ", r, "; r must be positive and r² divide the channels.");
  const int64_t C = x.size(-3) / (r * r), H = x.size(-2), W = x.size(-1);
  std::vector<int64_t> shape = sizes_of(x.shape().slice(0, lead));
  const int64_t N = Shape(shape).numel();
  shape.insert(shape.end(), {C, H * r, W * r});
  return reshape(permute(reshape(x, {N, C, r, r, H, W}), {0, 1, 4, 2, 5, 3}), shape);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t r) {
  const int lead = x.axes() - 3;
  ROTE_CHECK(lead >= 0, ShapeError, "pixel_unshuffle: x is ", describe(x), "; it must have channels, height and width.");
  ROTE_CHECK(r > 0 && x.size(-2) % r == 0 && x.size(-1) % r == 0, ShapeError, "pixel_unshuffle: x is ", describe(x), " and r ", r, "; r must be positive and divide height and width.");
  const int64_t C = x.size(-3), H = x.size(-2) / r, W = x.size(-1) / r;
  std::vector<int64_t> shape = sizes_of(x.shape().slice(0, lead));
  const int64_t N = Shape(shape).numel();
  shape.insert(shape.end(), {C * r * r, H, W});
  return reshape(permute(reshape(x, {N, C, H, r, W, r}), {0, 1, 3, 5, 2, 4}), shape);
}

Tensor channel_shuffle(const Tensor& x, int64_t groups) {
  ROTE_CHECK(x.axes() > 2, ShapeError, "channel_shuffle: x is ", describe(x), "; it must have samples, channels and one more axis.");
  ROTE_CHECK(groups > 0 && x.size(1) % groups == 0, ShapeError, "channel_shuffle: x is ", describe(x), " and groups ", groups, "; groups must be positive and divide the channels.");
  const int64_t N = x.size(0), C = x.size(1), rest = x.shape().slice(2, x.axes()).numel();
  return reshape(transpose(reshape(x, {N, groups, C / groups, rest}), 1, 2), sizes_of(x.shape()));
}

namespace {

Tensor upsampled(const Arguments& a, const char* mode) {
  const Tensor x = a.tensor("input");
  InterpolateOptions o{.size = a.list("output_size"), .scale = a.numbers("scale_factors"), .mode = mode};
  if (o.mode == "linear" || o.mode == "cubic") o.align_corners = a.flag("align_corners");
  const int axes = axes_in(a.op()) + 2;
  ROTE_CHECK(x.axes() == axes, ShapeError, a.op(), ": x is ", describe(x), "; it must have ", axes, " axes.");
  return interpolate(x, o);
}

}  // namespace

std::vector<Composition> resample_compositions() {
  return {
      {"upsample_nearest1d.vec; upsample_nearest2d.vec; upsample_nearest3d.vec", [](const Arguments& a) -> Value { return upsampled(a, "nearest"); }},
      {"_upsample_nearest_exact1d.vec; _upsample_nearest_exact2d.vec; _upsample_nearest_exact3d.vec", [](const Arguments& a) -> Value { return upsampled(a, "nearest-exact"); }},
      {"upsample_linear1d.vec; upsample_bilinear2d.vec; upsample_trilinear3d.vec", [](const Arguments& a) -> Value { return upsampled(a, "linear"); }},
      {"upsample_bicubic2d.vec", [](const Arguments& a) -> Value { return upsampled(a, "cubic"); }},
      {"pixel_shuffle", [](const Arguments& a) -> Value { return pixel_shuffle(a.tensor("self"), a.integer("upscale_factor")); }},
      {"pixel_unshuffle", [](const Arguments& a) -> Value { return pixel_unshuffle(a.tensor("self"), a.integer("downscale_factor")); }},
      {"channel_shuffle; native_channel_shuffle", [](const Arguments& a) -> Value { return channel_shuffle(a.tensor("self"), a.integer("groups")); }},
  };
}

}  // namespace rote

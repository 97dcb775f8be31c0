#include "autograd/ops/pad.h"

#include <algorithm>

#include "autograd/boxed.h"
#include "autograd/ops/axis_map.h"
#include "autograd/ops/index.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

void check_pairs(const char* who, const Tensor& x, const std::vector<int64_t>& pad) {
  ROTE_CHECK(pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(x.axes()), ArgumentError, who, ": pad has ", pad.size(), " values for x, ", describe(x),
             "; it takes two for each of some last axes.");
  for (const int64_t v : pad) ROTE_CHECK(v > -(int64_t{1} << 48) && v < int64_t{1} << 48, ArgumentError, who, ": pad holds ", v, "; it must be below 2^48.");
}

}  // namespace

void ConstantPad::forward(Call& call) {
  const Tensor& x = call.in[0];
  const std::vector<int64_t>& pad = call.list(0);
  check_pairs("pad", x, pad);
  Shape whole = x.shape(), kept = x.shape();
  int64_t from = x.offset(), to = 0;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int axis = x.axes() - 1 - static_cast<int>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1], n = x.size(axis);
    kept[axis] = n + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    whole[axis] = n + before + after;
    ROTE_CHECK(kept[axis] >= 0, ShapeError, "pad: ", before, " and ", after, " cut more from axis ", axis, " of x, ", describe(x), ", than it has; at most its size.");
  }
  call.out[0] = full(whole, call.number(1), {.dtype = x.dtype(), .device = x.device()});
  const Strides strides = call.out[0].strides();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int axis = x.axes() - 1 - static_cast<int>(i);
    from += std::max<int64_t>(-pad[2 * i], 0) * x.strides()[axis];
    to += std::max<int64_t>(pad[2 * i], 0) * strides[axis];
  }
  copy_elements(alias(call.out[0], kept, strides, to), alias(x, kept, x.strides(), from));
}

void ConstantPad::backward(Call& call) {
  std::vector<int64_t> back = call.list(0);
  for (int64_t& v : back) v = -v;
  call.din[0] = constant_pad(call.dout[0], back);
}

namespace {

Tensor pad_axis(const Tensor& x, int64_t axis, int64_t before, int64_t size, const std::string& mode) {
  if (is_floating(x.dtype())) return apply<Resample>({x}, {axis, size, mode, false, 0.0, before});
  std::vector<int64_t> places(static_cast<size_t>(size));
  for (int64_t j = 0; j < size; ++j) places[static_cast<size_t>(j)] = beyond_border(mode, j - before, x.size(axis));
  return index_select(x, axis, from_values({size}, places));
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<int64_t>& pad, const std::string& mode, double value) {
  if (mode == "constant") return constant_pad(x, pad, value);
  if (mode == "circular" && std::any_of(pad.begin(), pad.end(), [](int64_t v) { return v < 0; })) {  // what is cut off does not come around
    std::vector<int64_t> cut = pad, added = pad;
    for (int64_t& v : cut) v = std::min<int64_t>(v, 0);
    for (int64_t& v : added) v = std::max<int64_t>(v, 0);
    const Tensor rest = constant_pad(x, cut);
    return added == std::vector<int64_t>(pad.size(), 0) ? rest : rote::pad(rest, added, mode);
  }
  ROTE_CHECK(mode == "reflect" || mode == "replicate" || mode == "circular", ArgumentError, "pad: mode is \"", mode, "\"; it is constant, reflect, replicate or circular.");
  check_pairs("pad", x, pad);
  const int axes = static_cast<int>(pad.size() / 2), lead = x.axes() - axes;
  ROTE_CHECK(axes >= 1 && axes <= 3 && (lead == 1 || lead == 2), ShapeError, "pad: ", pad.size(), " values for x, ", describe(x),
             "; mode ", mode, " pads one to three axes behind the channels.");
  Tensor y = x;
  for (int a = x.axes() - 1; a >= lead - 1; --a)
    ROTE_CHECK(x.size(a) > 0, ShapeError, "pad: x is ", describe(x), "; in mode ", mode, " only samples may be none.");
  for (int i = 0; i < axes; ++i) {
    const int64_t axis = x.axes() - 1 - i, n = x.size(axis), before = pad[2 * static_cast<size_t>(i)], after = pad[2 * static_cast<size_t>(i) + 1];
    const int64_t most = mode == "reflect" ? n - 1 : n;
    ROTE_CHECK(mode == "replicate" || (before <= most && after <= most), ShapeError, "pad: ", before, " and ", after, " around axis ", axis, " of x, ", describe(x), "; mode ", mode,
               " takes at most ", most, " here.");
    ROTE_CHECK(n + before + after > 0, ShapeError, "pad: ", before, " and ", after, " leave ", n + before + after, " of axis ", axis, " of x, ", describe(x), "; one must remain.");
    if (before != 0 || after != 0) y = pad_axis(y, axis, before, n + before + after, mode);
  }
  return y.impl() == x.impl() ? clone(x) : y;
}

std::vector<Composition> pad_compositions() {
  return {
      {"pad", [](const Arguments& a) -> Value {
         ROTE_CHECK(a.word("mode") == "constant" || !a.given("value"), ArgumentError, "pad: a value with mode ", a.word("mode"), "; only constant takes one.");
         return pad(a.tensor("self"), a.list("pad"), a.word("mode"), a.given("value") ? a.number("value") : 0);
       }},
      {"constant_pad_nd", [](const Arguments& a) -> Value { return constant_pad(a.tensor("self"), a.list("pad"), a.number("value")); }},
  };
}

}  // namespace rote

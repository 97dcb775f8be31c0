// autograd/ops/axis_map.h — a sparse matrix along one axis of a tensor, built by the rows that resample and average. Only their .cpp files include it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "autograd/ops/cast.h"
#include "autograd/ops/real.h"
#include "kernels/rare_table.h"

namespace rote {

// Row j of the result is Σ weight·x[index] over its taps, divided by its divisor where there are any.
template <class Real>
struct AxisMap {
  int64_t in = 0;
  std::vector<int64_t> begin{0}, index;
  std::vector<Real> weight, divisor;

  explicit AxisMap(int64_t in) : in(in) {}
  int64_t out() const { return static_cast<int64_t>(begin.size()) - 1; }
  void tap(int64_t i, Real w) {
    index.push_back(i);
    weight.push_back(w);
  }
  void end_row() { begin.push_back(static_cast<int64_t>(index.size())); }

  // The transpose: taps of an input in ascending order of the rows that read it.
  AxisMap transposed() const {
    AxisMap back(out());
    back.begin.assign(static_cast<size_t>(in) + 1, 0);
    back.index.resize(index.size());
    back.weight.resize(index.size());
    for (const int64_t i : index) ++back.begin[static_cast<size_t>(i) + 1];
    for (size_t i = 0; i < static_cast<size_t>(in); ++i) back.begin[i + 1] += back.begin[i];
    std::vector<int64_t> next(back.begin.begin(), back.begin.end() - 1);
    for (int64_t j = 0; j < out(); ++j)
      for (int64_t t = begin[static_cast<size_t>(j)]; t < begin[static_cast<size_t>(j) + 1]; ++t) {
        const size_t from = static_cast<size_t>(t), to = static_cast<size_t>(next[static_cast<size_t>(index[from])]++);
        back.index[to] = j;
        back.weight[to] = divisor.empty() ? weight[from] : weight[from] / divisor[static_cast<size_t>(j)];
      }
    return back;
  }
};

// Applies make(Real{}), an AxisMap, along an axis of the call's input; `back`: its transpose, which brings the axis back to that size.
template <class F>
void apply_map(Call& call, int axis, int64_t back, F&& make) {
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    const AxisMap<Real> forward = make(t), map = back > 0 ? forward.transposed() : forward;
    Shape shape = x.shape();
    Taps<Real> taps{.outer = 1, .in = map.in, .out = map.out(), .inner = 1};
    for (int a = 0; a < x.axes(); ++a)
      if (a != axis) (a < axis ? taps.outer : taps.inner) *= shape[a];
    ROTE_CHECK(shape[axis] == map.in, ShapeError, call.op->row.name, ": axis ", axis, " of x, ", describe(x), ", must have size ", map.in, " here.");
    shape[axis] = map.out();
    call.out[0] = empty(shape, {.dtype = x.dtype()});
    taps.begin = map.begin.data(), taps.index = map.index.data(), taps.weight = map.weight.data();
    taps.divisor = map.divisor.empty() ? nullptr : map.divisor.data();
    taps.x = x.data<Real>(), taps.y = call.out[0].data<Real>();
    call.saw(rare_kernels<TapsTable, Real>().taps(taps));
  });
}

// The place in 0…n-1 that place i, which may lie outside, takes its value from. Modes: replicate, circular (once), reflect (once, the border itself is
// not repeated).
inline int64_t beyond_border(const std::string& mode, int64_t i, int64_t n) {
  if (mode == "replicate") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "circular") return i < 0 ? i + n : i >= n ? i - n : i;
  ROTE_CHECK(mode == "reflect", ArgumentError, "resample: mode is \"", mode, "\"; it is nearest, nearest-exact, linear, cubic, area, reflect, replicate or circular.");
  return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

// f(x), where f goes axis by axis: 16-bit floats are computed in f32 and rounded once.
template <class F>
Tensor in_wide(const Tensor& x, F&& f) {
  return is_floating(x.dtype()) && size_of(x.dtype()) == 2 ? to(f(to(x, DType::f32)), x.dtype()) : f(x);
}

// The last axes of x to other sizes (resample.h), the very last first. scale: by axis, empty where the sizes give it.
Tensor resample_last(const Tensor& x, const std::vector<int64_t>& size, const std::string& mode, bool align_corners = false, const std::vector<double>& scale = {});

}  // namespace rote

// kernels/cpu/columns.h — the columns of a convolution: which inputs each window reads, copied out of x and summed back into it. No products.
//
// Row k of the columns is a channel and a kernel position; column (n, p) a sample and an output position, both in row-major order.
#pragma once

#include <stddef.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"

namespace rote::isa::ROTE_ISA_NAME {

// Inputs begin … end-1 of Columns::axis, and the output positions first … first+count-1 of a sample whose windows reach them.
struct Section {
  int64_t begin = 0, end = 0, first = 0, count = 0;
};

struct Columns {
  const Conv<Real>& c;
  int64_t inputs, positions, kernel;  // elements of one channel of x, of one of y, of a window
  int64_t rows;                       // of a group
  int axis;                           // the first that is no unit
  bool direct;                        // the columns are x itself

  explicit Columns(const Conv<Real>& conv)
      : c(conv), inputs(c.in[0] * c.in[1] * c.in[2]), positions(c.out[0] * c.out[1] * c.out[2]), kernel(c.kernel[0] * c.kernel[1] * c.kernel[2]) {
    rows = c.groups == 0 ? 0 : c.C / c.groups * kernel;
    axis = 0;
    while (axis < 2 && c.in[axis] == 1 && c.out[axis] == 1) ++axis;
    direct = true;
    for (int a = 0; a < 3; ++a) direct = direct && c.kernel[a] == 1 && c.stride[a] == 1 && c.pad[a] == 0 && c.in[a] == c.out[a];
  }

  // to[r·count + j]: row k + r of all channels' rows, columns first + j over all samples.
  void gather(int64_t k, int64_t k_count, int64_t first, int64_t count, Real* to) const {
    const int64_t per_task = count >= 8192 ? 1 : 8192 / (count > 0 ? count : 1);
    parallel(ceil_div(k_count, per_task), [&](int64_t task) -> uint32_t {
      for (int64_t r = task * per_task; r < least((task + 1) * per_task, k_count); ++r) gather_row(k + r, first, count, to + r * count);
      return 0;
    });
  }

  // plane = Σ over the kernel's positions, ascending, of their columns; then + bias. cols[q·row + (p - part.first)] of one channel.
  uint32_t scatter(const Section& part, const Real* cols, int64_t row, Real bias, Real* plane) const {
    int64_t begin[3] = {0, 0, 0}, end[3] = {c.in[0], c.in[1], c.in[2]};
    begin[axis] = part.begin, end[axis] = part.end;
    Amax amax;
    for (int64_t d = begin[0]; d < end[0]; ++d)
      for (int64_t h = begin[1]; h < end[1]; ++h)
        scatter_line(part, cols, row, d, h, begin[2], end[2], bias, plane + (d * c.in[1] + h) * c.in[2], amax);
    return amax.word();
  }

  Section part(int64_t begin, int64_t end) const {
    const int64_t reach = (c.kernel[axis] - 1) * c.dilation[axis], s = c.stride[axis], pad = c.pad[axis];
    const int64_t from = begin + pad - reach, first = from <= 0 ? 0 : ceil_div(from, s), last = least((end - 1 + pad) / s + 1, c.out[axis]);
    const int64_t rest = positions / (c.out[axis] > 0 ? c.out[axis] : 1);
    return {begin, end, first * rest, first < last ? (last - first) * rest : 0};
  }

 private:
  void gather_row(int64_t k, int64_t first, int64_t count, Real* to) const {
    const int64_t kw = k % c.kernel[2], kh = k / c.kernel[2] % c.kernel[1], kd = k / c.kernel[2] / c.kernel[1] % c.kernel[0], channel = k / kernel;
    int64_t n = first / positions, p = first % positions;
    int64_t w = p % c.out[2], h = p / c.out[2] % c.out[1], d = p / c.out[2] / c.out[1];
    while (count > 0) {
      const int64_t run = least(c.out[2] - w, count);
      const int64_t id = d * c.stride[0] - c.pad[0] + kd * c.dilation[0], ih = h * c.stride[1] - c.pad[1] + kh * c.dilation[1];
      const int64_t iw = w * c.stride[2] - c.pad[2] + kw * c.dilation[2];
      const bool inside = id >= 0 && id < c.in[0] && ih >= 0 && ih < c.in[1];
      if (inside) gather_run(c.x + (((n * c.C + channel) * c.in[0] + id) * c.in[1] + ih) * c.in[2], iw, run, to);
      else zero(to, run);
      to += run;
      count -= run;
      w = 0;
      if (++h < c.out[1]) continue;
      h = 0;
      if (++d < c.out[0]) continue;
      d = 0;
      ++n;
    }
  }

  // to[j] = line[i + j·stride], 0 where that is outside.
  void gather_run(const Real* line, int64_t i, int64_t run, Real* to) const {
    const int64_t s = c.stride[2];
    const int64_t low = i >= 0 ? 0 : least(ceil_div(-i, s), run), high = i >= c.in[2] ? low : least((c.in[2] - 1 - i) / s + 1, run);
    zero(to, low);
    if (s == 1) __builtin_memcpy(to + low, line + i + low, static_cast<size_t>(high > low ? high - low : 0) * sizeof(Real));
    else for (int64_t j = low; j < high; ++j) to[j] = line[i + j * s];
    const int64_t end = high > low ? high : low;
    zero(to + end, run - end);
  }

  static void zero(Real* to, int64_t n) { __builtin_memset(to, 0, static_cast<size_t>(n) * sizeof(Real)); }

  // The output of an axis whose kernel position k reads input i; false where there is none.
  bool output_of(int a, int64_t i, int64_t k, int64_t& o) const {
    const int64_t at = i + c.pad[a] - k * c.dilation[a];
    o = at / c.stride[a];
    return at >= 0 && at % c.stride[a] == 0 && o < c.out[a];
  }

  void scatter_line(const Section& part, const Real* cols, int64_t row, int64_t d, int64_t h, int64_t begin, int64_t end, Real bias, Real* line, Amax& amax) const {
    zero(line + begin, end - begin);
    int64_t od, oh, q = 0;
    for (int64_t kd = 0; kd < c.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < c.kernel[1]; ++kh) {
        if (!output_of(0, d, kd, od) || !output_of(1, h, kh, oh)) {
          q += c.kernel[2];
          continue;
        }
        for (int64_t kw = 0; kw < c.kernel[2]; ++kw, ++q)
          scatter_run(cols + q * row + (od * c.out[1] + oh) * c.out[2] - part.first, c.pad[2] - kw * c.dilation[2], begin, end, line);
      }
    over_row(end - begin, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = load(line + begin + i, m) + Vec(bias);
      store(line + begin + i, v, m);
      see(amax, v, m);
    });
  }

  // line[w·stride - shift] += from[w] for the outputs w that lie between begin and end.
  void scatter_run(const Real* from, int64_t shift, int64_t begin, int64_t end, Real* line) const {
    const int64_t s = c.stride[2];
    const int64_t low = begin + shift <= 0 ? 0 : ceil_div(begin + shift, s);
    const int64_t high = end - 1 + shift < 0 ? 0 : least((end - 1 + shift) / s + 1, c.out[2]);
    if (s != 1) {
      for (int64_t w = low; w < high; ++w) line[w * s - shift] += from[w];
      return;
    }
    Real* const to = line - shift;
    over_row(high - low, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(to + low + i, load(to + low + i, m) + load(from + low + i, m), m); });
  }
};

}  // namespace rote::isa::ROTE_ISA_NAME

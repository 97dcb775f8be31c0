// kernels/cpu/direct.h — convolutions with few output channels a group (depthwise ones), without columns. The chains are those of the product.
//
// The lines of x are copied with their padding, one part for each remainder of the stride: what a kernel position reads for neighbouring outputs
// then lies side by side.
#pragma once

#include <stddef.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kDirectRows = 4;  // output channels of a tile

struct Direct {
  const Conv<Real>& c;
  int64_t channels, outputs;      // of a group: of x and of y
  int64_t kernel, positions;      // elements of a window and of a channel of y
  int64_t part, line, line_count;

  explicit Direct(const Conv<Real>& conv)
      : c(conv), channels(c.C / c.groups), outputs(c.O / c.groups), kernel(c.kernel[0] * c.kernel[1] * c.kernel[2]), positions(c.out[0] * c.out[1] * c.out[2]) {
    const int64_t reach = (c.kernel[2] - 1) * c.dilation[2];
    part = reach / c.stride[2] + ceil_div(c.out[2], kLanes) * kLanes;
    line = part * c.stride[2];
    line_count = channels * c.in[0] * c.in[1];
  }

  // Elements of scratch memory: the lines, one of zeros behind them, and the weights by tiles.
  int64_t size() const { return (line_count + 1) * line + outputs * channels * kernel; }

  uint32_t run(int64_t n, int64_t g, Real* memory) const {
    const int64_t per_task = most(4096 / line, 1), rows = c.out[0] * c.out[1], rows_per_task = most(16384 / (c.out[2] * channels * kernel), 1);
    parallel(ceil_div(line_count + 1, per_task), [&](int64_t task) -> uint32_t {
      for (int64_t l = task * per_task; l < least((task + 1) * per_task, line_count + 1); ++l) fill(n, g, l, memory + l * line);
      return 0;
    });
    Real* const weights = memory + (line_count + 1) * line;
    pack(g, weights);
    return parallel(ceil_div(rows, rows_per_task), [&](int64_t task) -> uint32_t {
      Amax amax;
      for (int64_t r = task * rows_per_task; r < least((task + 1) * rows_per_task, rows); ++r) row(n, g, r, memory, weights, amax);
      return amax.word();
    });
  }

 private:
  static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

  // The last line is outside of x.
  void fill(int64_t n, int64_t g, int64_t l, Real* to) const {
    __builtin_memset(to, 0, static_cast<size_t>(line) * sizeof(Real));
    if (l == line_count) return;
    const Real* from = c.x + ((n * c.C + g * channels) * c.in[0] * c.in[1] + l) * c.in[2];
    const int64_t s = c.stride[2], end = least(c.in[2], line - c.pad[2]);
    if (s == 1) {
      __builtin_memcpy(to + c.pad[2], from, static_cast<size_t>(end) * sizeof(Real));
      return;
    }
    int64_t remainder = c.pad[2] % s, at = c.pad[2] / s;
    for (int64_t i = 0; i < end; ++i) {
      to[remainder * part + at] = from[i];
      if (++remainder == s) remainder = 0, ++at;
    }
  }

  // [k][channel of the tile], tile after tile.
  void pack(int64_t g, Real* to) const {
    const int64_t K = channels * kernel;
    for (int64_t m = 0; m < outputs; m += kDirectRows) {
      const int64_t rows = tile_rows(m);
      for (int64_t k = 0; k < K; ++k)
        for (int64_t r = 0; r < rows; ++r) *to++ = c.w[(g * outputs + m + r) * K + k];
    }
  }
  int64_t tile_rows(int64_t m) const { return least(outputs - m, kDirectRows); }

  void row(int64_t n, int64_t g, int64_t r, const Real* lines, const Real* weights, Amax& amax) const {
    for (int64_t m = 0; m < outputs; m += kDirectRows) {
      const int64_t rows = tile_rows(m), first = g * outputs + m;
      Real* const y = c.to + (n * c.O + first) * positions + r * c.out[2];
      const Real* bias = c.bias ? c.bias + first : nullptr;
      switch (rows) {
        case 1: tiles<1, 4>(r, lines, weights, bias, y, amax); break;
        case 2: tiles<2, 2>(r, lines, weights, bias, y, amax); break;
        case 3: tiles<3, 2>(r, lines, weights, bias, y, amax); break;
        default: tiles<kDirectRows, 2>(r, lines, weights, bias, y, amax);
      }
      weights += rows * channels * kernel;
    }
  }

  template <int R, int V>
  void tiles(int64_t r, const Real* lines, const Real* weights, const Real* bias, Real* y, Amax& amax) const {
    int64_t w = 0;
    for (; w + V * kLanes <= c.out[2]; w += V * kLanes) tile<R, V>(r, w, lines, weights, bias, y, amax);
    for (; w < c.out[2]; w += kLanes) tile<R, 1>(r, w, lines, weights, bias, y, amax);
  }

  // Outputs w … w + 16·V - 1 of output line r for R channels; lanes past the line's end are not stored.
  template <int R, int V>
  ROTE_INLINE void tile(int64_t r, int64_t w, const Real* lines, const Real* weights, const Real* bias, Real* y, Amax& amax) const {
    const int64_t d = r / c.out[1] * c.stride[0] - c.pad[0], h = r % c.out[1] * c.stride[1] - c.pad[1];
    Vec acc[R][V];
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) acc[i][v] = Vec(Real(0));
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t kd = 0; kd < c.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < c.kernel[1]; ++kh) {
          const int64_t id = d + kd * c.dilation[0], ih = h + kh * c.dilation[1];
          const bool inside = id >= 0 && id < c.in[0] && ih >= 0 && ih < c.in[1];
          const Real* from = lines + (inside ? (channel * c.in[0] + id) * c.in[1] + ih : line_count) * line + w;
          for (int64_t kw = 0, u = 0; kw < c.kernel[2]; ++kw, u += c.dilation[2], weights += R) {
            const Real* at = from + u % c.stride[2] * part + u / c.stride[2];
            Vec x[V];
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) x[v] = load(at + v * kLanes);
#pragma GCC unroll 4
            for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
              for (int v = 0; v < V; ++v) acc[i][v] = fma(Vec(weights[i]), x[v], acc[i][v]);
          }
        }
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const int n = static_cast<int>(least(c.out[2] - w - v * kLanes, kLanes));
        const Vec sum = bias ? acc[i][v] + Vec(bias[i]) : acc[i][v];
        store(y + i * positions + w + v * kLanes, sum, n);
        amax.see(sum, n);
      }
  }
};

}  // namespace rote::isa::ROTE_ISA_NAME

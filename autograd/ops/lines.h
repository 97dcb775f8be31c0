// autograd/ops/lines.h — walking the lines of a contiguous tensor along one axis, and values as integers of the same order. Only the families'
// .cpp files include it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/dtype.h"
#include "kernels/pool.h"
#include "tensor/tensor.h"

namespace rote {

// The lines of a contiguous tensor of `shape` along `axis`; a tensor without axes is one line of one element.
struct Lines {
  int64_t count = 1, n = 1, step = 1;

  Lines(const Shape& shape, int axis) {
    if (shape.axes() == 0) return;
    n = shape[axis];
    for (int i = 0; i < shape.axes(); ++i) {
      if (i != axis) count *= shape[i];
      if (i > axis) step *= shape[i];
    }
  }
  int64_t first(int64_t line) const { return line / step * step * n + line % step; }
};

// body(line) for all lines, in tasks of about 16 thousand elements, so borders never depend on the thread count. Returns the largest word.
template <class F>
uint32_t over_lines(const Lines& lines, const F& body) {
  const int64_t each = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, lines.n));
  return parallel((lines.count + each - 1) / each, [&](int64_t task) -> uint32_t {
    uint32_t word = 0;
    for (int64_t line = task * each; line < std::min(lines.count, (task + 1) * each); ++line) word = std::max(word, body(line));
    return word;
  });
}

inline uint32_t amax_word(double v) { return std::bit_cast<uint32_t>(static_cast<float>(v)) & 0x7FFFFFFFu; }

template <class T>
bool is_nan(T v) {
  if constexpr (std::is_integral_v<T>) return false;
  else return convert<double>(v) != convert<double>(v);
}

// An unsigned integer that orders like the value: -0 equals +0, NaN (every one alike) comes last.
template <class T>
uint64_t order_key(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return order_key(to_float(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (v != v) return ~uint64_t{0};
    const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(v) + 0.0);
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(v)) ^ uint64_t{1} << 63;
  }
}

}  // namespace rote

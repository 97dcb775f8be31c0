// tensor/print.cpp — short, aligned printing of tensors: four significant digits, at most six elements of an axis.
#include <cinttypes>
#include <cstdio>
#include <ostream>

#include "tensor/tensor.h"

namespace rote {

namespace {

constexpr int64_t kEdge = 3;  // elements shown at each end of a longer axis

std::string element(const Tensor& x, int64_t at) {
  char text[32];
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T v = static_cast<const T*>(x.raw())[at];
    if (is_floating(x.dtype())) std::snprintf(text, sizeof text, "%.4g", convert<double>(v));
    else std::snprintf(text, sizeof text, "%" PRId64, convert<int64_t>(v));
  });
  return text;
}

template <class F>
void each_shown(const Tensor& x, int axis, int64_t at, const F& f) {
  if (axis == x.axes()) return f(at);
  const int64_t n = x.shape()[axis];
  for (int64_t i = 0; i < n; ++i)
    if (n <= 2 * kEdge || i < kEdge || i >= n - kEdge) each_shown(x, axis + 1, at + i * x.strides()[axis], f);
}

void print_axis(std::ostream& out, const Tensor& x, int axis, int64_t at, size_t width) {
  if (axis == x.axes()) {
    const std::string text = element(x, at);
    out << std::string(width - text.size(), ' ') << text;
    return;
  }
  const int64_t n = x.shape()[axis];
  const bool rows = axis + 1 < x.axes();
  const std::string separator = rows ? ",\n" + std::string(static_cast<size_t>(axis) + 1, ' ') : ", ";
  out << '[';
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) out << separator;
    if (n > 2 * kEdge && i == kEdge) {
      out << "…" << separator;
      i = n - kEdge;
    }
    print_axis(out, x, axis + 1, at + i * x.strides()[axis], width);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "none";
  size_t width = 0;
  each_shown(x, 0, 0, [&](int64_t at) { width = std::max(width, element(x, at).size()); });
  print_axis(out, x, 0, 0, width);
  return out << ' ' << describe(x);
}

}  // namespace rote

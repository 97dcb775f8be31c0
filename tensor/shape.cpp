#include "tensor/shape.h"

#include <algorithm>
#include <ostream>

namespace rote {

Shape::Shape(const int64_t* extents, int64_t axes) {
  ROTE_CHECK(axes <= kMaxAxes, ShapeError, "shape: ", axes, " axes. A tensor has at most ", kMaxAxes, ".");
  axes_ = static_cast<int>(axes);
  std::copy(extents, extents + axes, extents_);
}

void Shape::append(int64_t extent) {
  ROTE_CHECK(axes_ < kMaxAxes, ShapeError, "shape: ", axes_ + 1, " axes. A tensor has at most ", kMaxAxes, ".");
  extents_[axes_++] = extent;
}

int64_t Shape::numel() const {
  int64_t n = 1;
  bool fits = true;
  for (const int64_t extent : *this) {
    if (extent == 0) return 0;
    fits = !__builtin_mul_overflow(n, extent, &n) && fits;
  }
  ROTE_CHECK(fits, ShapeError, "shape: ", *this, " has more elements than 64 bits count.");
  return n;
}

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.axes(); ++i) out << (i ? "," : "") << shape[i];
  return out << ']';
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  int64_t step = 1;
  for (int i = shape.axes() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

int normalize_axis(int64_t axis, int axes, const char* who) {
  const int range = std::max(axes, 1);
  ROTE_CHECK(axis >= -range && axis < range, ShapeError, who, ": axis ", axis, " of a tensor with ", axes, " axes; it must lie in ", -range, "…",
             range - 1, ".");
  return static_cast<int>(axis < 0 ? axis + range : axis);
}

Shape broadcast(const Shape& a, const Shape& b, const char* who) {
  const Shape& longer = a.axes() >= b.axes() ? a : b;
  const Shape& shorter = a.axes() >= b.axes() ? b : a;
  Shape out = longer;
  const int lead = longer.axes() - shorter.axes();
  for (int i = 0; i < shorter.axes(); ++i) {
    const int64_t x = longer[lead + i], y = shorter[i];
    ROTE_CHECK(x == y || x == 1 || y == 1, ShapeError, who, ": shapes ", a, " and ", b,
               " do not broadcast; counted from the end, each pair of sizes must be equal or hold a 1.");
    out[lead + i] = x == 1 ? y : x;
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  const int lead = to.axes() - from.axes();
  if (lead < 0) return false;
  for (int i = 0; i < from.axes(); ++i)
    if (from[i] != to[lead + i] && from[i] != 1) return false;
  return true;
}

}  // namespace rote

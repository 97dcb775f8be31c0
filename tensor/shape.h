// tensor/shape.h — Shape (extents or strides of at most 8 axes), broadcasting, axis rules. No storage.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include "kernels/check.h"

namespace rote {

class Shape {
 public:
  static constexpr int kMaxAxes = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : Shape(extents.begin(), static_cast<int64_t>(extents.size())) {}
  Shape(const std::vector<int64_t>& extents) : Shape(extents.data(), static_cast<int64_t>(extents.size())) {}
  Shape(const int64_t* extents, int64_t axes);

  int axes() const { return axes_; }
  int64_t operator[](int axis) const { return extents_[axis]; }
  int64_t& operator[](int axis) { return extents_[axis]; }
  const int64_t* begin() const { return extents_; }
  const int64_t* end() const { return extents_ + axes_; }
  void append(int64_t extent);
  int64_t numel() const;
  bool operator==(const Shape& other) const;
  Shape slice(int first, int last) const { return Shape(extents_ + first, last - first); }

 private:
  int64_t extents_[kMaxAxes] = {};
  int axes_ = 0;
};

using Strides = Shape;

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // [4,128]

// Row-major strides, in elements.
Strides contiguous_strides(const Shape& shape);

// 0 … axes-1 from -axes … axes-1; ShapeError in the name of `who` otherwise. A tensor without axes accepts 0 and -1.
int normalize_axis(int64_t axis, int axes, const char* who);

// The common shape: axes aligned at the end, extents equal or 1. ShapeError in the name of `who`.
Shape broadcast(const Shape& a, const Shape& b, const char* who);
bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace rote

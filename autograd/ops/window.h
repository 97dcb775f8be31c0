// autograd/ops/window.h — what convolutions, pools and columns share: settings by axis. Only the families' .cpp files include it.
#pragma once

#include <string>
#include <vector>

#include "autograd/op.h"

namespace rote {

// One value for each of `axes` axes, at least `least` and below 2^31, so that no product of two overflows; a list of one is for all.
inline std::vector<int64_t> per_axis(const char* who, const char* name, std::vector<int64_t> list, int axes, int64_t least) {
  ROTE_CHECK(list.size() == 1 || static_cast<int>(list.size()) == axes, ArgumentError, who, ": ", name, " is ", Shape(list), "; it must have one value or ", axes, ".");
  if (list.size() == 1) list.resize(static_cast<size_t>(axes), list[0]);
  for (const int64_t v : list) ROTE_CHECK(v >= least && v < int64_t{1} << 31, ArgumentError, who, ": ", name, " is ", Shape(list), "; each must be at least ", least, " and below 2^31.");
  return list;
}

// The number of axes in `max_pool2d`.
inline int axes_in(const std::string& name) { return name[name.find_first_of("123")] - '0'; }

inline std::vector<int64_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace rote

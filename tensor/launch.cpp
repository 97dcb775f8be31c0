#include "tensor/launch.h"

#include <algorithm>
#include <type_traits>

namespace rote {

namespace {

// Calls f(offset, step, count) for the pieces of elements first … first+n-1 that lie along the last axis.
template <class F>
void for_each_piece(const Shape& shape, const Strides& strides, int64_t first, int64_t n, const F& f) {
  const int axes = shape.axes();
  if (axes == 0) return f(0, 0, n);
  int64_t index[Shape::kMaxAxes];
  int64_t at = 0, rest = first;
  for (int i = axes - 1; i >= 0; --i) {
    index[i] = rest % shape[i];
    rest /= shape[i];
    at += index[i] * strides[i];
  }
  const int last = axes - 1;
  while (n > 0) {
    const int64_t count = std::min(n, shape[last] - index[last]);
    f(at, strides[last], count);
    n -= count;
    at += count * strides[last];
    index[last] += count;
    for (int i = last; i > 0 && index[i] == shape[i]; --i) {
      at += strides[i - 1] - shape[i] * strides[i];
      index[i] = 0;
      ++index[i - 1];
    }
  }
}

}  // namespace

BlockSource::BlockSource(const Tensor& x, const Shape& to) : data(x.raw()), dtype(x.dtype()), shape(to) {
  const int lead = to.axes() - x.axes();
  for (int i = 0; i < to.axes(); ++i) strides.append(i < lead || x.shape()[i - lead] == 1 ? 0 : x.strides()[i - lead]);
}

template <class Real>
void gather(const BlockSource& from, int64_t first, int64_t n, Real* out) {
  visit(from.dtype, [&](auto t) {
    using T = decltype(t);
    const T* base = static_cast<const T*>(from.data);
    for_each_piece(from.shape, from.strides, first, n, [&](int64_t at, int64_t step, int64_t count) {
      for (int64_t i = 0; i < count; ++i) out[i] = convert<Real>(base[at + i * step]);
      out += count;
    });
  });
}

template <class Real>
void scatter(const BlockSource& to, int64_t first, int64_t n, const Real* values) {
  visit(to.dtype, [&](auto t) {
    using T = decltype(t);
    T* base = static_cast<T*>(const_cast<void*>(to.data));
    for_each_piece(to.shape, to.strides, first, n, [&](int64_t at, int64_t step, int64_t count) {
      for (int64_t i = 0; i < count; ++i) base[at + i * step] = convert<T>(values[i]);
      values += count;
    });
  });
}

template void gather<float>(const BlockSource&, int64_t, int64_t, float*);
template void gather<double>(const BlockSource&, int64_t, int64_t, double*);
template void gather<int64_t>(const BlockSource&, int64_t, int64_t, int64_t*);
template void scatter<int64_t>(const BlockSource&, int64_t, int64_t, const int64_t*);
template void scatter<float>(const BlockSource&, int64_t, int64_t, const float*);
template void scatter<double>(const BlockSource&, int64_t, int64_t, const double*);

}  // namespace rote

#include "tensor/launch.h"

#include <algorithm>

#include "tensor/strided.h"

namespace rote {

namespace {

DType dtype_of(float) { return DType::f32; }
DType dtype_of(double) { return DType::f64; }
DType dtype_of(int64_t) { return DType::i64; }

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
  const CopyRun copy = copy_run_of(dtype_of(Real()), from.dtype);
  const char* base = static_cast<const char*>(from.data);
  for_each_piece(from.shape, from.strides, first, n, [&](int64_t at, int64_t step, int64_t count) {
    copy(out, 1, base + at * size_of(from.dtype), step, count);
    out += count;
  });
}

template <class Real>
void scatter(const BlockSource& to, int64_t first, int64_t n, const Real* values) {
  const CopyRun copy = copy_run_of(to.dtype, dtype_of(Real()));
  char* base = static_cast<char*>(const_cast<void*>(to.data));
  for_each_piece(to.shape, to.strides, first, n, [&](int64_t at, int64_t step, int64_t count) {
    copy(base + at * size_of(to.dtype), step, values, 1, count);
    values += count;
  });
}

template void gather<float>(const BlockSource&, int64_t, int64_t, float*);
template void gather<double>(const BlockSource&, int64_t, int64_t, double*);
template void gather<int64_t>(const BlockSource&, int64_t, int64_t, int64_t*);
template void scatter<int64_t>(const BlockSource&, int64_t, int64_t, const int64_t*);
template void scatter<float>(const BlockSource&, int64_t, int64_t, const float*);
template void scatter<double>(const BlockSource&, int64_t, int64_t, const double*);

}  // namespace rote

#include "autograd/sum_to.h"

#include <algorithm>

namespace rote {

namespace {

template <class Real>
Tensor sum_axes(const Tensor& g, const bool* reduced, const RunScope& scope, uint32_t* amax) {
  const KernelTable<Real>& k = kernels<Real>();
  const int axes = g.axes();
  Shape order_shape, kept;
  Strides order_strides;
  int64_t rows = 1, columns = 1;
  for (const bool first : {true, false})
    for (int i = 0; i < axes; ++i)
      if (reduced[i] == first) {
        order_shape.append(g.shape()[i]);
        order_strides.append(g.strides()[i]);
        (first ? rows : columns) *= g.shape()[i];
        if (!first) kept.append(g.shape()[i]);
      }
  Tensor sum = empty(kept, {.dtype = g.dtype()});
  int last_kept = axes;
  while (last_kept > 0 && reduced[last_kept - 1]) --last_kept;
  const bool only_trailing = std::none_of(reduced, reduced + last_kept, [](bool r) { return r; });
  if (only_trailing && kept.axes() > 0) {
    *amax = std::max(*amax, k.sum_rows(columns, rows, contiguous(g).data<Real>(), sum.data<Real>()));
    return sum;
  }
  const int64_t leaf = reduced[0] ? scope.leaf_rows(g.shape(), rows) : 0;
  const Tensor in_order = contiguous(alias(g, order_shape, order_strides, g.offset()));
  *amax = std::max(*amax, k.sum_columns(rows, columns, leaf, in_order.data<Real>(), sum.data<Real>()));
  return sum;
}

}  // namespace

Tensor sum_to(const Tensor& g, const Shape& shape, const RunScope& scope, uint32_t* amax) {
  if (g.shape() == shape) return g;
  const int lead = g.axes() - shape.axes();
  bool reduced[Shape::kMaxAxes] = {};
  // The sample axis counts as summed even where a micro-batch has one sample: the order of the sum must not depend on how many there are.
  for (int i = 0; i < g.axes(); ++i) reduced[i] = i < lead || (shape[i - lead] == 1 && (g.shape()[i] != 1 || (i == 0 && scope.by_sample(g.shape()))));
  // 16-bit gradients add up in f32 and are rounded once.
  const Tensor sum = g.dtype() == DType::f64 ? sum_axes<double>(g, reduced, scope, amax)
                                             : converted(sum_axes<float>(converted(g, DType::f32), reduced, scope, amax), g.dtype());
  return alias(sum, shape, contiguous_strides(shape), 0);
}

}  // namespace rote

// autograd/ops/pool.h — means and largest elements of windows that slide over the last axes.
#pragma once

#include "autograd/apply.h"

namespace rote {

// Means over windows of one axis. Window j holds the elements j·stride - padding … + kernel - 1; those outside are 0 and count only where
// include_padding says so; divisor ≠ 0: in place of the count. back > 0: the transpose, from `size` windows back to `back` elements.
struct AveragePool {
  static constexpr Row row{.name = "avg_pool",
                           .schema = "avg_pool(x[...], axis, size, kernel, stride, padding=0, include_padding=true, divisor=0, back=0) -> y",
                           .samples = "x=2,7,3 axis=1 size=3 kernel=3 stride=2; x=2,7 axis=-1 size=4 kernel=3 stride=2 padding=1; "
                                      "x=2,7 axis=-1 size=4 kernel=3 stride=2 padding=1 include_padding=false; "
                                      "x=5 axis=0 size=4 kernel=2 stride=1 divisor=3; x=0,4 axis=1 size=2 kernel=2 stride=2"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// The largest element of each window over the last axes, as many as kernel has sizes, and its place in the plane of these axes. What lies outside is
// never the largest; the first of equals is taken, and the last NaN where there is one.
struct MaxPool {
  static constexpr Row row{.name = "max_pool", .schema = "max_pool(any x[...], size, kernel, stride, padding, dilation) -> y, i64 index",
                           .saves = "index",
                           .samples = "x=2,3,5,6 size=[2,3] kernel=[3,2] stride=[2,2] padding=[0,0] dilation=[1,1]; "
                                      "x=2,9 size=[4] kernel=[2] stride=[2] padding=[1] dilation=[3]; "
                                      "x=1,3,4,3 size=[2,2,2] kernel=[2,3,2] stride=[1,2,1] padding=[0,1,0] dilation=[1,1,1]; "
                                      "x=0,4 size=[2] kernel=[2] stride=[2] padding=[0] dilation=[1]"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// The same with windows that cut each axis into `size` parts: ⌊j·n/size⌋ … ⌈(j+1)·n/size⌉ - 1.
struct AdaptiveMaxPool {
  static constexpr Row row{.name = "adaptive_max_pool", .schema = "adaptive_max_pool(any x[...], size) -> y, i64 index", .saves = "index",
                           .samples = "x=2,3,5,6 size=[2,4]; x=2,9 size=[4]; x=1,3,4,3 size=[2,2,3]; x=0,4 size=[2]"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// The elements at places of a plane; 0 for place -1.
struct Pick {
  static constexpr Row row{.name = "pick", .schema = "pick(x[*,V], i64 index[*,P]) -> y[*,P]", .saves = "index",
                           .samples = "*=2,3 V=4 P=5; * V=3 P=2; *=0 V=2 P=2"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// The transpose: a plane of `size` elements, each the sum of those that were picked from it, in order.
struct Unpick {
  static constexpr Row row{.name = "unpick", .schema = "unpick(y[*,P], i64 index[*,P], size) -> x", .saves = "index",
                           .samples = "*=2,3 P=5 size=2; * P=2 size=3; *=0 P=2 size=2"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct PoolOptions {
  std::vector<int64_t> stride = {};  // none: the kernel's sizes
  std::vector<int64_t> padding = {0}, dilation = {1};  // by axis, or one for all; dilation of largest elements only
  bool ceil_mode = false;        // a last window that starts inside but does not fit counts too
  bool include_padding = true;   // of means: padding counts as zeros
  int64_t divisor = 0;           // of means: in place of the count
};

// x [N,C,…] or [C,…]; the windows slide over the axes after the channels.
Tensor avg_pool1d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
Tensor avg_pool2d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
Tensor avg_pool3d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
Tensor max_pool1d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
Tensor max_pool2d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
Tensor max_pool3d(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options = {});
// To the given sizes, whatever those of x.
Tensor adaptive_avg_pool1d(const Tensor& x, const std::vector<int64_t>& size);
Tensor adaptive_avg_pool2d(const Tensor& x, const std::vector<int64_t>& size);
Tensor adaptive_avg_pool3d(const Tensor& x, const std::vector<int64_t>& size);
Tensor adaptive_max_pool1d(const Tensor& x, const std::vector<int64_t>& size);
Tensor adaptive_max_pool2d(const Tensor& x, const std::vector<int64_t>& size);
Tensor adaptive_max_pool3d(const Tensor& x, const std::vector<int64_t>& size);
std::vector<Composition> pool_compositions();

using PoolOps = OpList<AveragePool, MaxPool, AdaptiveMaxPool, Pick, Unpick>;

}  // namespace rote

// autograd/ops/strides.h — views that strides can say beyond those of view.h: as_strided, diagonals, sliding windows; and place, the way back.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct AsStrided {  // x's storage from element `offset` on under another shape and strides; within what the storage holds
  // Samples without axes alone: in other memory the same numbers are other views (tests/autograd/index_test.cpp has those with axes).
  // x_strides and x_offset are x's own, which its gradient needs; the forward fills them in.
  static constexpr Row row{.name = "as_strided", .schema = "as_strided(any x[*], shape, strides, offset=0, x_strides=[], x_offset=0) -> y",
                           .samples = "*= shape=[2,3] strides=[0,0]; *= shape=[] strides=[]; *= shape=[2,0] strides=[1,1]"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Place {  // y = zeros of `shape`, to whose element offset + Σ index·strides each element of x is added; strides count in y's logical order
  static constexpr Row row{.name = "place", .schema = "place(any x[*], shape, strides, offset=0) -> y",
                           .samples = "*=2,2 shape=[2,3] strides=[1,2] offset=1; *=4,3 shape=[9] strides=[2,1]; *= shape=[4] strides=[] offset=3; "
                                      "*=2,0 shape=[3,2] strides=[1,1]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Diagonal {  // the elements whose place along `second` is that along `first` plus offset; both axes go, the diagonal is the last one
  static constexpr Row row{.name = "diagonal", .schema = "diagonal(any x[*], offset=0, first=0, second=1) -> y",
                           .samples = "*=3,4; *=2,3,4 offset=1 first=-1 second=0; *=3,2 offset=-2; *=2,2 offset=5",
                           .aten = "diagonal(self, offset, dim1, dim2)"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Unfold {  // windows of `size` elements every `step` along an axis; the place in the window is the last axis
  static constexpr Row row{.name = "unfold", .schema = "unfold(any x[*], axis, size, step) -> y",
                           .samples = "*=7 axis=0 size=3 step=2; *=2,5,2 axis=-2 size=3 step=1; *=4 axis=0 size=0 step=1; *= axis=0 size=1 step=1",
                           .aten = "unfold(self, dimension, size, step)"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor as_strided(const Tensor& x, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t offset = 0) {
  return apply<AsStrided>({x}, {shape, strides, offset});
}
inline Tensor place(const Tensor& x, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t offset = 0) {
  return apply<Place>({x}, {shape, strides, offset});
}
inline Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t first = 0, int64_t second = 1) { return apply<Diagonal>({x}, {offset, first, second}); }
inline Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) { return apply<Unfold>({x}, {axis, size, step}); }

// Compositions.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t first = -2, int64_t second = -1);  // zeros, with x's last axis on a diagonal
Tensor diag(const Tensor& x, int64_t offset = 0);                                                 // [n] -> [n,n]; [m,n] -> its diagonal
Tensor trace(const Tensor& x);                                                                    // the sum of a matrix's diagonal
// x with the elements of a view of it replaced by src, of that view's shape.
Tensor select_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t index);
Tensor slice_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t first, int64_t last, int64_t step = 1);
Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int64_t offset = 0, int64_t first = 0, int64_t second = 1);
std::vector<Composition> strides_compositions();

using StridesOps = OpList<AsStrided, Place, Diagonal, Unfold>;

}  // namespace rote

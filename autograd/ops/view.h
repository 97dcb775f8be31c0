// autograd/ops/view.h — other layouts of the same elements, as ops: results share storage where strides can say it, else they copy.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Reshape {  // one size may be -1: it follows from the others
  static constexpr Row row{.name = "reshape", .schema = "reshape(any x[*], shape) -> y",
                           .samples = "*=2,6 shape=[3,-1]; *=4 shape=[2,2]; *= shape=[1]; *=0 shape=[0,3]", .aten = "reshape(self, shape)"};
  static constexpr bool moves_only = true, takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Permute {  // y's axis i is x's axis axes[i]
  static constexpr Row row{.name = "permute", .schema = "permute(any x[*], axes) -> y",
                           .samples = "*=2,3,4 axes=[2,0,1]; *=3 axes=[0]; *= axes=[]; *=2,0 axes=[1,0]", .aten = "permute(self, dims)"};
  static constexpr bool moves_only = true, takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Slice {  // elements first, first+step … below last along one axis; negative bounds count from the end
  static constexpr Row row{.name = "slice", .schema = "slice(any x[*], axis, first=0, last=9223372036854775807, step=1) -> y",
                           .samples = "*=2,5 axis=1 first=1 last=4; *=5 axis=0 first=-4 last=-1 step=2; *=2,0 axis=0",};
  static constexpr bool moves_only = true, takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Select {  // the elements at one index of an axis, which goes away
  static constexpr Row row{.name = "select", .schema = "select(any x[*], axis, index) -> y", .samples = "*=2,5 axis=1 index=-1; *=3 axis=0 index=1",
                           .aten = "select.int(self, dim, index)"};
  static constexpr bool moves_only = true, takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Expand {  // axes of size 1 repeat; -1 keeps an axis; new axes come first
  static constexpr Row row{.name = "expand", .schema = "expand(any x[*], shape) -> y",
                           .samples = "*=1,3 shape=[2,4,3]; *=3 shape=[-1]; *= shape=[2]; *=1,0 shape=[2,0]",
                           .aten = "expand(self, size); broadcast_to(self, size)"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

struct SumTo {  // expand's inverse: the sum over what repeats when a tensor of `shape` broadcasts to x
  static constexpr Row row{.name = "sum_to", .schema = "sum_to(x[*], shape) -> y",
                           .samples = "*=2,4,3 shape=[1,3]; *=3 shape=[1]; *=2 shape=[]; *=2,3 shape=[2,3]", .aten = "sum_to_size(self, size)"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct Clone {  // a contiguous copy with storage of its own
  static constexpr Row row{.name = "clone", .schema = "clone(any x[*]) -> y",};
  static constexpr bool moves_only = true, takes_sixteen = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor reshape(const Tensor& x, const std::vector<int64_t>& shape) { return apply<Reshape>({x}, {shape}); }
inline Tensor permute(const Tensor& x, const std::vector<int64_t>& axes) { return apply<Permute>({x}, {axes}); }
inline Tensor slice(const Tensor& x, int64_t axis, int64_t first, int64_t last, int64_t step = 1) { return apply<Slice>({x}, {axis, first, last, step}); }
inline Tensor select(const Tensor& x, int64_t axis, int64_t index) { return apply<Select>({x}, {axis, index}); }
inline Tensor expand(const Tensor& x, const std::vector<int64_t>& shape) { return apply<Expand>({x}, {shape}); }
inline Tensor sum_to(const Tensor& x, const std::vector<int64_t>& shape) { return apply<SumTo>({x}, {shape}); }
inline Tensor clone(const Tensor& x) { return apply<Clone>({x}); }

// Compositions of the above.
Tensor transpose(const Tensor& x, int64_t a, int64_t b);
Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1);
Tensor squeeze(const Tensor& x, int64_t axis);    // x itself where that size is not 1
Tensor squeeze(const Tensor& x);                  // all axes of size 1 go
Tensor unsqueeze(const Tensor& x, int64_t axis);  // a new axis of size 1
Tensor view(const Tensor& x, const std::vector<int64_t>& shape);  // as reshape, but refuses to copy
Tensor t(const Tensor& x);                                         // a matrix transposed; what has fewer axes as it is
Tensor narrow(const Tensor& x, int64_t axis, int64_t first, int64_t count);
Tensor movedim(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to);  // the other axes keep their order
Tensor unflatten(const Tensor& x, int64_t axis, const std::vector<int64_t>& sizes);
Tensor with_axes(const Tensor& x, int axes);  // x with new axes of size 1 until it has `axes` of them, at most 3: numpy's atleast_1d to _3d
std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0);
std::vector<Composition> view_compositions();

using ViewOps = OpList<Reshape, Permute, Slice, Select, Expand, SumTo, Clone>;

}  // namespace rote

// autograd/ops/join.h — tensors put beside one another.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Join {  // x and y along one axis
  static constexpr Row row{.name = "join", .schema = "join(any x[...], any y[...], axis) -> z", .samples = "x=2,3 y=2,4 axis=1; x=1,3 y=2,3 axis=-2"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// Equal in all sizes but that of `axis`; dtypes join by PyTorch's promotion. As there, a tensor of shape [0] beside others adds nothing.
Tensor cat(const std::vector<Tensor>& xs, int64_t axis = 0);
Tensor stack(const std::vector<Tensor>& xs, int64_t axis = 0);
// Pieces of the given sizes along an axis, as views.
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0);
// Pieces of ceil(size/chunks), the last ones smaller or left out.
std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t axis = 0);
std::vector<Composition> join_compositions();

using JoinOps = OpList<Join>;

}  // namespace rote

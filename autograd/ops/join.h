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
// `sections` pieces as even as can be, the longer ones first; or cuts before the given places, which may lie beyond the end.
std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t axis = 0);
std::vector<Tensor> tensor_split_at(const Tensor& x, const std::vector<int64_t>& places, int64_t axis = 0);
// All expanded to their common shape, as views.
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& xs);
// Lines x_i of n_i elements as grids [n_0, n_1, …], the i-th varying along axis i; indexing "xy" exchanges the first two axes.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& xs, const std::string& indexing = "ij");
std::vector<Composition> join_compositions();

using JoinOps = OpList<Join>;

}  // namespace rote

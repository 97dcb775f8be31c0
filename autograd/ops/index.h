// autograd/ops/index.h — rows of a table, slices by indices, lists of indices, masks. Made of gather.h but for the embedding, whose gradient
// is a sum over samples.
#pragma once

#include "autograd/ops/gather.h"

namespace rote {

struct Embedding {  // y = w[ids]; ids equal to padding_idx give no gradient; by_count: an id's gradient is divided by how often it occurs
  static constexpr Row row{.name = "embedding", .schema = "embedding(i64 ids[*], any w[V,C], padding_idx=-1, by_count=false) -> y[*,C]",
                           .saves = "ids", .samples = "*=2,3 V=4 C=5; *= V=3 C=2; *=0 V=2 C=2"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct Nonzero {  // the coordinates of the elements that are not 0, in logical order: [count, axes of x]
  static constexpr Row row{.name = "nonzero", .schema = "nonzero(any x[*]) -> i64 y", .no_grad = "an index is constant almost everywhere",
                           .aten = "nonzero(self); argwhere(self)"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
};

// ids i64 [*] in 0…V-1, w [V,C] -> [*,C].
inline Tensor embedding(const Tensor& ids, const Tensor& w, int64_t padding_idx = -1) { return apply<Embedding>({ids, w}, {padding_idx}); }
inline Tensor nonzero(const Tensor& x) { return apply<Nonzero>({x}); }

// ids: i64 [N], or one without axes. The slices of x at the ids along an axis, which gets size N.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& ids);
// x with source's slices in place of those at the ids, or added to them; with a value (0-dim) there, where ids may count from the end.
// source: x's shape but N along the axis.
Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& source);
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& source);
Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& ids, const Tensor& value);

// x[i, :, j]: an index tensor (i64, negative ones count from the end; bool: a mask over as many axes as it has) or none for each leading axis
// of x. The index tensors broadcast; their common shape stands where the indexed axes were, in front where those do not lie side by side.
Tensor pick(const Tensor& x, const std::vector<Tensor>& indices);
// x with values, which broadcast to what pick() gives, at those places (how = "set") or added to them ("add").
Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values, const std::string& how = "set");
// The same over x's elements in logical order, of index's shape; negative indices count from the end.
Tensor take(const Tensor& x, const Tensor& index);
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, const std::string& how = "set");
// gather with sizes that broadcast along the other axes and indices that may count from the end.
Tensor take_along(const Tensor& x, int64_t axis, const Tensor& index);

// Where the mask is true, value; else x. mask bool, broadcasts.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
// The elements of x where the mask is true, in logical order: [count]. x and mask broadcast.
Tensor masked_select(const Tensor& x, const Tensor& mask);
// x with the elements of source, in order, where the mask is true.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);

// Each slice along an axis as often as `repeats` (i64 [n], or one number for all) says, its copies side by side.
Tensor repeat_interleave(const Tensor& x, int64_t axis, const Tensor& repeats);
// i64 [*,classes] with 1 at x's values; classes = -1: the largest value plus 1.
Tensor one_hot(const Tensor& x, int64_t classes = -1);
// How often 0, 1, … occur in x (integers, one axis), or the sums of the weights there; of length `least` or more. No derivative.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t least = 0);
std::vector<Composition> index_compositions();

using IndexOps = OpList<Embedding, Nonzero>;

}  // namespace rote

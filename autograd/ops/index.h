// autograd/ops/index.h — rows picked by integers.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Embedding {  // y = w[ids]; ids equal to padding_idx give no gradient
  static constexpr Row row{.name = "embedding", .schema = "embedding(i64 ids[*], w[V,C], padding_idx=-1) -> y[*,C]", .saves = "ids", .samples = "*=2,3 V=4 C=5; *= V=3 C=2; *=0 V=2 C=2"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// ids i64 [*] in 0…V-1, w [V,C] -> [*,C].
inline Tensor embedding(const Tensor& ids, const Tensor& w, int64_t padding_idx = -1) { return apply<Embedding>({ids, w}, {padding_idx}); }

// Where the mask is true, value; else x. mask bool, broadcasts.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
// The slices of x at the indices (i64 [N] or one without axes) along an axis, which gets size N.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices);
std::vector<Composition> index_compositions();

using IndexOps = OpList<Embedding>;

}  // namespace rote

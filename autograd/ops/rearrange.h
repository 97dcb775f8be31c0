// autograd/ops/rearrange.h — copies with the elements in another order, repeated or partly zero. Views: view.h and strides.h.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Flip {  // the named axes in reverse order
  static constexpr Row row{.name = "flip", .schema = "flip(any x[*], axes) -> y",
                           .samples = "*=2,3,4 axes=[0,2]; *=3 axes=[-1]; *=2,3 axes=[]; *=2,0 axes=[1]", .aten = "flip(self, dims)"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor flip(const Tensor& x, const std::vector<int64_t>& axes) { return apply<Flip>({x}, {axes}); }

// Compositions.
// Elements move on by shifts[i] along axes[i], those beyond the end to the front; without axes by the one shift over all of x in logical order.
Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes = {});
Tensor rot90(const Tensor& x, int64_t times, int64_t from, int64_t to);      // the plane of two axes turned from `from` towards `to`
Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats);         // x beside itself; more repeats than axes make new ones in front
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);           // as repeat, but fewer repeats than axes leave the first ones alone
Tensor tril(const Tensor& x, int64_t diagonal = 0);                          // 0 above a diagonal of the last two axes
Tensor triu(const Tensor& x, int64_t diagonal = 0);                          // 0 below it
Tensor block_diag(const std::vector<Tensor>& xs);                            // matrices along the diagonal of zeros
std::vector<Composition> rearrange_compositions();

using RearrangeOps = OpList<Flip>;

}  // namespace rote

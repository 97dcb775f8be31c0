// autograd/ops/gather.h — elements picked and placed by indices along one axis: gather, scatter and its reductions. All other indexing (index.h,
// sort.h) is made of these.
#pragma once

#include "autograd/apply.h"

namespace rote {

// Indices lie in 0…size-1 of the axis; `index` has as many axes as x and at most x's size along the others. Where several elements go to one
// place they are joined in the logical order of `index`, so a result does not depend on threads.
struct Gather {  // y[.., i, ..] = x[.., index[.., i, ..], ..], of index's shape
  static constexpr Row row{.name = "gather", .schema = "gather(any x[...], i64 index[...], axis) -> y", .saves = "index",
                           .samples = "x=2,5 index=2,3 axis=1 V=5; x=4,3 index=5,2 axis=0 V=4; x=2,3,2 index=2,2,1 axis=-2 V=3; "
                                      "x= index= axis=0 V=1; x=3 index=0 axis=0"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
  static void backward_in_ops(Call& call);
};

struct Scatter {  // y = x, but y[.., index[.., i, ..], ..] = src[.., i, ..] (how = "set"; the last one stays) or += (how = "add")
  static constexpr Row row{.name = "scatter", .schema = "scatter(any x[...], i64 index[...], any src[...], axis, how=\"set\") -> y", .saves = "index",
                           .samples = "x=2,5 index=2,3 src=2,4 axis=1 V=5; x=4,3 index=5,2 src=5,2 axis=0 V=4 how=\"add\"; "
                                      "x=2,3,2 index=2,2,1 src=2,2,2 axis=-2 V=3 how=\"add\"; x= index= src= axis=0 V=1; x=3 index=0 src=0 axis=0"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct ScatterReduce {  // as scatter, joined to what is there by how = "prod", "amax" or "amin"; of equal extremes each gets a share of the gradient
  static constexpr Row row{.name = "scatter_reduce", .schema = "scatter_reduce(any x[...], i64 index[...], any src[...], axis, how) -> y",
                           .saves = "x index src y",
                           .samples = "x=2,5 index=2,3 src=2,4 axis=1 V=5 how=\"prod\"; x=4,3 index=5,2 src=5,2 axis=0 V=4 how=\"amax\"; "
                                      "x=2,3,2 index=2,2,1 src=2,2,2 axis=-2 V=3 how=\"amin\"; x=3 index=0 src=0 axis=0 how=\"prod\""};
  static void forward(Call& call);
  static void backward(Call& call);
};

inline Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) { return apply<Gather>({x, index}, {axis}); }
inline Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) { return apply<Scatter>({x, index, src}, {axis}); }
inline Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  return apply<Scatter>({x, index, src}, {axis, std::string("add")});
}

// Whether the value that a place holds already is one of those that are joined.
enum class IncludeSelf { no, yes };
// how = "sum", "mean" (integers are rounded down), "prod", "amax", "amin". Places that nothing goes to keep x's value.
Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, const std::string& how, IncludeSelf include_self = IncludeSelf::yes);
std::vector<Composition> gather_compositions();

using GatherOps = OpList<Gather, Scatter, ScatterReduce>;

// For the families that are made of these.
namespace detail {

// y, of index's shape, from x; neither is checked and no op is recorded.
void gather_into(const Tensor& y, const Tensor& x, const Tensor& index, int axis);
// The sum of dy at its indices into zeros of `shape`, in dy's dtype; `leaf` rows of index's axis 0 are one sample leaf (0: one leaf).
Tensor scattered_sum(const Shape& shape, const Tensor& index, const Tensor& dy, int axis, int64_t leaf, uint32_t* amax);
// The status word of a contiguous tensor.
uint32_t amax_word(const Tensor& y);
// ArgumentError in the name of `who` unless all elements of index (i64) lie in 0…size-1 of x's axis, or, where it may count from the end, in
// -size…size-1.
enum class Counts { from_start, from_either_end };
void check_index(const char* who, const Tensor& index, const Tensor& x, int axis, Counts counts = Counts::from_start);

}  // namespace detail

}  // namespace rote

// autograd/ops/cast.h — to(dtype). Conversions follow arithmetic.md 5.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct Cast {  // y = x in another dtype; the dtype attribute is its name
  static constexpr Row row{.name = "cast", .schema = "cast(any x[*], dtype) -> y", .samples = "*=2,3 dtype=\"f64\"; *= dtype=\"f64\""};
  static void forward(Call& call);
  static void backward(Call& call);
};

// x itself where it has the dtype already.
inline Tensor to(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : apply<Cast>({x}, {std::string(name(dtype))}); }

// What functions made of several ops compute in where they round once at their end: f32 for f16 and bf16, else x itself.
inline Tensor widened(const Tensor& x) { return size_of(x.dtype()) == 2 && is_floating(x.dtype()) ? to(x, DType::f32) : x; }

std::vector<Composition> cast_compositions();

using CastOps = OpList<Cast>;

}  // namespace rote

// tests/autograd/conv_test.cpp — convolutions: the cut of a batch moves no bit of a gradient, and what does not fit is refused in one sentence.
#include <doctest/doctest.h>

#include <cstring>

#include "autograd/backward.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

Tensor draw(const Shape& shape, uint32_t seed) {
  const Tensor x = empty(shape);
  for (int64_t i = 0; i < x.numel(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    x.data<float>()[i] = static_cast<float>(seed >> 8) * 0x1p-23f - 1;
  }
  return x;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(contiguous(a).raw(), contiguous(b).raw(), static_cast<size_t>(a.numel()) * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("conv: gradients do not depend on how the samples are cut into micro-batches") {
  const int64_t B = 21;
  const Tensor x = draw({B, 4, 9, 8}, 1);
  Tensor w = draw({20, 4, 3, 3}, 2), b = draw({20}, 3), v = draw({20, 2, 2, 3}, 4), u = draw({20, 1, 3, 3}, 5);
  std::vector<Tensor> leaves = {w, b, v, u};
  for (Tensor& p : leaves) requires_grad(p);
  for (const int64_t sample_leaf : {1, 2}) {
    std::vector<std::vector<Tensor>> grads;
    for (const int64_t micro : {22, 16, 8, 4, 2}) {
      for (int64_t first = 0; first < B; first += micro) {
        const int64_t samples = std::min(micro, B - first);
        const RunScopeGuard scope({.first_sample = static_cast<uint64_t>(first), .samples = samples, .sample_leaf = sample_leaf});
        Tensor y = conv2d(slice(x, 0, first, first + samples), w, b, {.padding = {1}});
        y = conv2d(max_pool2d(y, {2}), u, {}, {.padding = {1}, .groups = 20});
        backward(sum(square(conv_transpose2d(y, v, {}, {.stride = {2}, .groups = 10}))));
      }
      fold_gradients(leaves);
      grads.emplace_back();
      for (const Tensor& p : leaves) grads.back().push_back(p.grad());
      zero_grad(leaves);
    }
    for (size_t cut = 1; cut < grads.size(); ++cut)
      for (size_t p = 0; p < leaves.size(); ++p) {
        CAPTURE(cut);
        CAPTURE(p);
        CHECK(same_bits(grads[0][p], grads[cut][p]));
      }
  }
}

TEST_CASE("conv: what does not fit is refused") {
  const Tensor x = zeros({2, 4, 5, 6});
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 2, 3, 3})), "conv: x is f32[2,4,5,6] but w is f32[3,2,3,3] with groups 1; x must have 2 channels.", ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 4, 3})), "conv2d: w is f32[3,4,3]; it must have 4 axes.", ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 4, 3, 3}), zeros({4})), "conv: b is f32[4] but w is f32[3,4,3,3]; b must be [3].", ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 4, 7, 3}), {}, {.padding = {0, 1}}),
                       "conv: the input's axis 0 has size 5, with padding 5, but the kernel reaches over 7; it must fit.", ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 2, 3, 3}), {}, {.groups = 2}), "conv: w is f32[3,2,3,3]; its first size must be a multiple of groups, 2.", ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 4, 3, 3}), {}, {.stride = {1, 1, 1}}), "conv: stride is [1,1,1]; it must have one value or 2.", ArgumentError);
  CHECK_THROWS_WITH_AS(conv2d(x, zeros({3, 4, 3, 3}), {}, {.stride = {2}, .same = true}), "conv2d: stride is [2,2]; padding that keeps the sizes needs stride 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(conv2d(x, converted(zeros({3, 4, 3, 3}), DType::f64)), "conv: w is f64[3,4,3,3] but another input is f32[2,4,5,6]; the dtypes must be equal.", DTypeError);
  CHECK_THROWS_WITH_AS(conv_transpose2d(x, zeros({4, 3, 1, 1}), {}, {.output_padding = {1}}),
                       "conv_transpose: output_padding is [1,1] but stride [1,1] and dilation [1,1]; it must be less than one of them.", ArgumentError);
  CHECK_THROWS_WITH_AS(conv_transpose2d(x, zeros({4, 3, 1, 1}), {}, {.padding = {3}}),
                       "conv_transpose: axis 0 of the result would have size -1 for x f32[2,4,5,6]; less padding or a larger kernel leaves some.", ShapeError);
  CHECK_THROWS_WITH_AS(col2im(zeros({1, 8, 11}), {4, 5}, {2, 2}), "col2im: x is f32[1,8,11] but 3 by 4 windows fit [4,5]; axis 2 must be 12.", ShapeError);
}

// tests/autograd/pool_test.cpp — which element a window takes, and what pools, interpolation and padding refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<int64_t> places(const Tensor& x, const std::vector<int64_t>& kernel, int64_t padding = 0) {
  const std::vector<int64_t> paddings(kernel.size(), padding), ones(kernel.size(), 1);
  std::vector<int64_t> size;
  for (size_t i = 0; i < kernel.size(); ++i) size.push_back((x.size(x.axes() - static_cast<int64_t>(kernel.size() - i)) + 2 * padding - kernel[i]) / kernel[i] + 1);
  const Tensor index = apply_all<MaxPool>({x}, {size, kernel, kernel, paddings, ones})[1];
  return {index.data<int64_t>(), index.data<int64_t>() + index.numel()};
}

}  // namespace

TEST_CASE("max_pool: the first of equals, the last NaN, never what lies outside") {
  CHECK(places(from_values({1, 6}, std::vector<double>{1, 1, -kInfinity, -kInfinity, 0, -0.0}), {2}) == std::vector<int64_t>{0, 2, 4});
  CHECK(places(from_values({1, 4}, std::vector<double>{NAN, kInfinity, NAN, NAN}), {2}) == std::vector<int64_t>{0, 3});
  CHECK(places(from_values({1, 2}, std::vector<double>{-kInfinity, -3}), {2}, 1) == std::vector<int64_t>{0, 1});
  CHECK(places(converted(from_values({1, 4}, std::vector<int64_t>{-5, -6, 250, 7}), DType::i16), {2}) == std::vector<int64_t>{0, 2});
  Tensor x = ones_like(zeros({1, 2, 2}));
  requires_grad(x);
  const Tensor nothing = max_pool2d(x, {2}, {.padding = {1}, .dilation = {3}});  // a window between whose elements x lies
  CHECK(nothing.item() == -kInfinity);
  backward(nothing);
  CHECK(sum(abs(x.grad())).item() == 0);
}

TEST_CASE("max_pool: overlapping windows add their gradients at the element that both took") {
  Tensor x = from_values({1, 5}, std::vector<float>{0, 1, 5, 2, 3});
  requires_grad(x);
  backward({max_pool1d(x, {3}, {.stride = {1}})}, {from_values({1, 3}, std::vector<float>{1, 10, 100})});
  const Tensor grad = x.grad();
  CHECK(std::vector<float>(grad.data<float>(), grad.data<float>() + 5) == std::vector<float>{0, 0, 111, 0, 0});
}

TEST_CASE("pools, interpolation, padding: what does not fit is refused") {
  const Tensor x = zeros({2, 3, 4, 5});
  CHECK_THROWS_WITH_AS(avg_pool2d(x, {5}), "avg_pool2d: no window fits axis 0 of x, f32[2,3,4,5]: the kernel reaches over 5, padding is 0; it must fit.", ShapeError);
  CHECK_THROWS_WITH_AS(avg_pool2d(x, {2}, {.padding = {2}}), "avg_pool2d: padding is [2,2] but the kernel [2,2]; at most half of it.", ArgumentError);
  CHECK_THROWS_WITH_AS(max_pool2d(x, {2}, {.stride = {0}}), "max_pool2d: stride is [0,0]; each must be at least 1 and below 2^31.", ArgumentError);
  CHECK_THROWS_WITH_AS(max_pool1d(x, {2}), "max_pool1d: x is f32[2,3,4,5]; it must have channels and 1 more axes, or samples before.", ShapeError);
  CHECK_THROWS_WITH_AS(max_pool2d(zeros({2, 0, 4, 5}), {2}), "max_pool2d: x is f32[2,0,4,5]; only samples may be none.", ShapeError);
  CHECK_THROWS_WITH_AS(adaptive_avg_pool2d(x, {1, 2, 3}), "adaptive_avg_pool2d: size is [1,2,3]; it must have one value or 2.", ArgumentError);
  CHECK_THROWS_WITH_AS(interpolate(x, {.size = {3}}), "interpolate: 1 sizes for x, f32[2,3,4,5]; each of its 2 last axes needs one.", ArgumentError);
  CHECK_THROWS_WITH_AS(interpolate(x, {.size = {3, 3}, .mode = "bicubic"}), "interpolate: mode is \"bicubic\"; it is nearest, nearest-exact, linear, cubic or area.", ArgumentError);
  CHECK_THROWS_WITH_AS(pixel_shuffle(x, 2), "pixel_shuffle: x is f32[2,3,4,5] and r 2; r must be positive and r² divide the channels.", ShapeError);
  CHECK_THROWS_WITH_AS(pad(x, {5, 0}, "reflect"), "pad: 2 values for x, f32[2,3,4,5]; mode reflect pads one to three axes behind the channels.", ShapeError);
  CHECK_THROWS_WITH_AS(pad(x, {5, 0, 0, 0}, "reflect"), "pad: 5 and 0 around axis 3 of x, f32[2,3,4,5]; mode reflect takes at most 4 here.", ShapeError);
  CHECK_THROWS_WITH_AS(pad(x, {-3, -3}), "pad: -3 and -3 cut more from axis 3 of x, f32[2,3,4,5], than it has; at most its size.", ShapeError);
  CHECK_THROWS_WITH_AS(apply<Pick>({zeros({2, 3}), full({2, 1}, 3, {.dtype = DType::i64})}), "pick: place 3 of a plane of 3 elements; places lie in -1…2.", ArgumentError);
}

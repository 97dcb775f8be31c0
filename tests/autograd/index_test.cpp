// tests/autograd/index_test.cpp — indexing, sorting and views as strides: error texts, order of sums, what duplicates do, shared memory.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"
#include "kernels/pool.h"

using namespace rote;

namespace {

Tensor ids(std::vector<int64_t> v) { return from_values({static_cast<int64_t>(v.size())}, v); }
Tensor row(std::vector<float> v) { return from_values({static_cast<int64_t>(v.size())}, v); }
Tensor leaf(const Tensor& x) {
  Tensor y = clone(x);
  requires_grad(y);
  return y;
}
std::vector<double> list(const Tensor& x) {
  const Tensor y = contiguous(converted(x, DType::f64));
  return {y.data<double>(), y.data<double>() + y.numel()};
}
using L = std::vector<double>;

}  // namespace

TEST_CASE("gather, scatter: an index out of range is refused with its place before anything is written") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(gather(x, 1, from_values({1, 2}, std::vector<int64_t>{0, 3})),
                       "gather: index 3 at element 1 but axis 1 of f32[2,3] has size 3; indices lie in 0…2.", ArgumentError);
  CHECK_THROWS_WITH_AS(pick(x, {ids({0, -3})}), "index: index -3 at element 1 but axis 0 of f32[2,3] has size 2; indices lie in -2…1.", ArgumentError);
  CHECK_THROWS_WITH_AS(gather(x, 1, ids({0})), "gather: index is i64[1] but x f32[2,3]; they must have as many axes.", ShapeError);
  CHECK_THROWS_WITH_AS(pick(x, {ne(zeros({3}), 0.0)}), "index: the mask is bool[3] at axis 0 of f32[2,3]; it must have the sizes of the axes that it covers.", ShapeError);
  CHECK_THROWS_WITH_AS(index_add(x, 0, ids({1}), zeros({2, 3})),
                       "index_add: source is f32[2,3]; for 1 indices along axis 0 of f32[2,3] it must be [1,3].", ShapeError);
  CHECK_THROWS_WITH_AS(topk(x, 4), "topk: k is 4 but axis -1 of f32[2,3] has 3 elements.", ArgumentError);
  CHECK_THROWS_WITH_AS(as_strided(x, {4}, {2}), "as_strided: shape [4] with strides [2] from 0 on reaches element 6 but the storage of f32[2,3] holds 6.", ShapeError);
}

TEST_CASE("scatter: of elements that go to one place the last one stays and alone has a gradient") {
  const Tensor x = leaf(zeros({3})), src = leaf(row({1, 2, 3}));
  const Tensor y = scatter(x, 0, ids({1, 1, 0}), src);
  CHECK(list(y) == L{3, 2, 0});
  backward({y}, {row({10, 20, 30})});
  CHECK(list(src.grad()) == L{0, 20, 10});
  CHECK(list(x.grad()) == L{0, 0, 30});
}

TEST_CASE("scatter_add: sums are taken in the order of the index") {
  // 1 + 2^-24 + 2^-24 rounds to 1 from the left, and to 1 + 2^-23 the other way.
  const float tiny = 0x1p-24f;
  CHECK(list(scatter_add(zeros({1}), 0, ids({0, 0, 0}), row({1, tiny, tiny}))) == L{1});
  CHECK(list(scatter_add(zeros({1}), 0, ids({0, 0, 0}), row({tiny, tiny, 1}))) == L{1 + 0x1p-23});
}

TEST_CASE("gather: a gradient over samples is cut into leaves and folded by the tree") {
  // Four samples of one leaf each add t, t, t, 1 to one place: (t + t) + (t + 1) = 1 + 2^-23 where a chain gives 1 + 2^-22.
  const float t = 0x1p-24f;
  const Tensor w = leaf(zeros({2, 1}));
  const RunScopeGuard scope({.samples = 4, .sample_leaf = 1});
  const Tensor y = index_select(w, 0, ids({0, 0, 0, 0}));
  backward({y}, {from_values({4, 1}, std::vector<float>{t, t, t, 1})});
  fold_gradients({w});
  CHECK(list(w.grad()) == L{1 + 0x1p-23, 0});
}

TEST_CASE("gather, scatter: large ones have the bits of one thread") {
  const int64_t rows = 300, n = 700;
  std::vector<int64_t> at(static_cast<size_t>(rows * n));
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int64_t>(i * 7919 % 250);
  const Tensor index = from_values({rows, n}, at), src = sin(reshape(to(arange(rows * n), DType::f32), {rows, n}));
  for (const int64_t axis : {0, 1}) {
    const Tensor x = zeros({axis == 0 ? 250 : rows, axis == 0 ? n : 250});
    set_num_threads(1);
    const std::vector<double> one = list(scatter_add(x, axis, index, src)), picked = list(gather(src, 1, index));
    set_num_threads(5);
    CHECK(list(scatter_add(x, axis, index, src)) == one);
    CHECK(list(gather(src, 1, index)) == picked);
    set_num_threads(0);
  }
}

TEST_CASE("pick: indices beside and apart from one another") {
  const Tensor x = reshape(arange(24), {2, 3, 4});
  CHECK(list(pick(x, {ids({1, 0}), ids({2, -1})})) == L{20, 21, 22, 23, 8, 9, 10, 11});
  const Tensor apart = pick(x, {ids({1, 0}), {}, ids({0, 3})});
  CHECK(apart.shape() == Shape{2, 3});
  CHECK(list(apart) == L{12, 16, 20, 3, 7, 11});
  CHECK(list(index_put(zeros({2, 3}), {{}, ids({2})}, from_values({2, 1}, std::vector<float>{5, 6}))) == L{0, 0, 5, 0, 0, 6});
}

TEST_CASE("sort: stable both ways, NaN as the largest, -0 equal to +0") {
  const Tensor x = row({1, NAN, -0.0f, 0, 1, -INFINITY});
  CHECK(list(sort(x).indices) == L{5, 2, 3, 0, 4, 1});
  CHECK(list(sort(x, 0, Order::descending).indices) == L{1, 0, 4, 2, 3, 5});
  CHECK(list(topk(x, 3).indices) == L{1, 0, 4});
  CHECK(std::signbit(list(sort(x).values)[1]));
  CHECK(list(cummax(row({1, 3, 3, NAN, 2}), 0).indices) == L{0, 1, 2, 3, 3});
}

TEST_CASE("diagonal, unfold, as_strided: the memory is x's own") {
  const Tensor x = clone(reshape(to(arange(12), DType::f32), {3, 4}));
  for (const Tensor& view : {diagonal(x, 1), unfold(x, 1, 2, 2), as_strided(x, {2, 2}, {1, 4}, 3)}) {
    CHECK(view.storage() == x.storage());
    CHECK(view.impl()->base == x.impl());
  }
  zero_(diagonal(x));
  CHECK(list(x) == L{0, 1, 2, 3, 4, 0, 6, 7, 8, 9, 0, 11});
}

TEST_CASE("as_strided: gradients of views that overlap, of a tensor that is itself a view, and of one that repeats") {
  const Tensor x = from_values({2, 3}, std::vector<double>{0.3, -0.7, 1.1, 0.2, 0.9, -1.3});
  const auto check = [&](const TensorFunction& f) {
    CHECK(gradcheck(f, {x}) == "");
    CHECK(gradgradcheck(f, {x}) == "");
  };
  check([](const std::vector<Tensor>& v) { return as_strided(v[0], {3, 2}, {2, 1}); });
  check([](const std::vector<Tensor>& v) { return as_strided(v[0], {2, 3}, {1, 1}, 2); });
  check([](const std::vector<Tensor>& v) { return as_strided(transpose(v[0], 0, 1), {2, 2}, {1, 2}, 1); });
  check([](const std::vector<Tensor>& v) { return as_strided(expand(v[0], {2, 2, 3}), {2, 2}, {1, 2}, 1); });
}

TEST_CASE("composed index ops: second derivatives") {
  const std::vector<Tensor> x = {from_values({2, 3}, std::vector<double>{0.3, -0.7, 1.1, 0.2, 0.9, -1.3})};
  const auto squared = [](const Tensor& y) { return mul(y, mul(y, y)); };
  CHECK(gradgradcheck([&](const std::vector<Tensor>& v) { return squared(sort(v[0], 1).values); }, x) == "");
  CHECK(gradgradcheck([&](const std::vector<Tensor>& v) { return squared(pick(v[0], {ids({0, 1, 0}), ids({2, 2, 2})})); }, x) == "");
  CHECK(gradgradcheck([&](const std::vector<Tensor>& v) { return squared(roll(repeat(v[0], {2, 1}), {1}, {0})); }, x) == "");
  CHECK(gradgradcheck([&](const std::vector<Tensor>& v) { return cumprod(squared(v[0]), 1); }, x) == "");
  CHECK(gradgradcheck([&](const std::vector<Tensor>& v) { return embedding(ids({1, 0, 1}), squared(v[0]), 0); }, x) == "");
}

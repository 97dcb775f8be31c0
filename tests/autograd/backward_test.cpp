// tests/autograd/backward_test.cpp — the walk: accumulation, freeing, refusals, long chains, windows of micro-batches.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "autograd/ops.h"
#include "tensor/generator.h"

using namespace rote;

namespace {

Tensor leaf(const Shape& shape, double value) {
  Tensor x = full(shape, value);
  return requires_grad(x);
}

Tensor draw(const Shape& shape, uint32_t op) {
  Tensor x = empty(shape);
  kernels<float>().normal(1, op, 0, x.numel(), x.data<float>());
  return x;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(contiguous(a).raw(), contiguous(b).raw(), static_cast<size_t>(a.numel()) * 4) == 0;
}

}  // namespace

TEST_CASE("backward: uses of a leaf add up, also over two calls") {
  Tensor x = leaf({2}, 3);
  backward(sum(x * x + x));
  CHECK(x.grad().data<float>()[0] == 7);
  backward(sum(x));
  CHECK(x.grad().data<float>()[0] == 8);
  zero_grad({x});
  CHECK(!x.grad().defined());
}

TEST_CASE("backward: a leaf's gradient is its own memory") {
  Tensor x = leaf({2}, 1), y = leaf({2}, 1);
  const Tensor dy = full({2}, 1.0);
  backward({x + y}, {dy});
  CHECK(x.grad().storage() != y.grad().storage());
  CHECK(x.grad().storage() != dy.storage());
}

TEST_CASE("backward: a second walk needs a retained graph and says so") {
  Tensor x = leaf({2}, 3);
  const Tensor y = sum(x * x);
  backward(y, {.retain_graph = true});
  backward(y);
  CHECK(x.grad().data<float>()[0] == 12);
  CHECK_THROWS_WITH_AS(backward(y), "backward: the graph of this loss was freed by an earlier backward; pass {.retain_graph = true} to the first call.",
                       StateError);
}

TEST_CASE("backward: an overwritten saved value is refused by name, one that is not needed is not") {
  Tensor x = leaf({2}, 3);
  Tensor a = x * 1.0;
  const Tensor y = sum(a * a);
  a.storage()->bump_version();
  CHECK_THROWS_WITH_AS(backward(y), "backward: mul needs the value of x (f32[2]) that an in-place op overwrote after it ran; write into a clone.", StateError);
  Tensor b = x + x;
  const Tensor z = sum(b);
  b.storage()->bump_version();
  backward(z);
  CHECK(x.grad().data<float>()[0] == 2);
}

TEST_CASE("backward: what cannot start is refused") {
  Tensor x = leaf({2}, 3);
  CHECK_THROWS_AS(backward(x * x), ShapeError);
  CHECK_THROWS_AS(backward(zeros({})), StateError);
  const NoGrad guard;
  CHECK_THROWS_AS(backward(sum(x)), StateError);
}

TEST_CASE("backward: a chain of 100,000 ops needs no deep stack, with or without a walk") {
  Tensor x = leaf({1}, 1);
  for (const bool walked : {true, false}) {
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = y + 1.0;
    if (walked) backward(sum(y));
  }
  CHECK(x.grad().data<float>()[0] == 1);
}

TEST_CASE("window: gradients do not depend on how the samples are cut into micro-batches") {
  manual_seed(3);
  const int64_t B = 21, T = 5, I = 7, O = 6;
  const Tensor x = draw({B, T, I}, 1);
  Tensor w = draw({O, I}, 2), b = draw({O}, 3), g = draw({O}, 4), h = draw({O}, 5), e = draw({T, O}, 6), v = draw({O, O}, 7);
  std::vector<Tensor> leaves = {w, b, g, h, e, v};
  for (Tensor& p : leaves) requires_grad(p);
  for (const int64_t sample_leaf : {1, 2}) {
    std::vector<std::vector<Tensor>> grads;
    for (const int64_t micro : {22, 16, 8, 4, 2, 1}) {
      if (micro < sample_leaf) continue;
      for (int64_t first = 0; first < B; first += micro) {
        const int64_t samples = std::min(micro, B - first);
        const RunScopeGuard scope({.seed = 9, .first_sample = static_cast<uint64_t>(first), .samples = samples, .sample_leaf = sample_leaf});
        const Tensor rows = slice(x, 0, first, first + samples);
        Tensor y = linear(rows, w, b) + e;
        y = dropout(layer_norm(gelu(y), g, h), 0.25);
        y = linear(relu(linear(y, v, b)), v, b);  // v twice, b three times
        backward(loss_sum(square(y), 80));
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

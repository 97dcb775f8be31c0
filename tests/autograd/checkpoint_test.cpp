// tests/autograd/checkpoint_test.cpp — recomputation gives the bits of the plain forward: gradients, dropout, shared parameters, scopes.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "autograd/backward.h"
#include "autograd/checkpoint.h"
#include "autograd/mode.h"
#include "autograd/ops.h"
#include "tensor/generator.h"

using namespace rote;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() && std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * size_of(x.dtype()))) == 0;
}

Tensor drawn(const Shape& shape, uint32_t op) {
  const Tensor x = empty(shape);
  kernels<float>().normal(5, op, 0, x.numel(), x.data<float>());
  return x;
}

struct Block {
  Tensor w, v;
  Tensor operator()(const Tensor& x) const {
    const PathGuard path("block");
    return add(x, linear(dropout(gelu(linear(x, w, Tensor())), 0.3), v, Tensor()));
  }
};

struct Result {
  Tensor y, dx, dw, dv;
};

// Three blocks that share their weights, with the uses of each in the order of the graph.
Result run_blocks(bool checkpointed, bool scoped, bool nested) {
  manual_seed(3);
  Tensor x = drawn({8, 6}, 1);
  Block block{drawn({10, 6}, 2), drawn({6, 10}, 3)};
  for (Tensor* leaf : {&x, &block.w, &block.v}) requires_grad(*leaf);
  std::optional<RunScopeGuard> scope;
  if (scoped) scope.emplace(RunScope{.seed = 9, .first_sample = 4, .samples = 8});
  const PathGuard path("model");
  const auto twice = [&](const Tensor& in) {
    const auto one = [&](const Tensor& h) { return block(h); };
    return nested ? checkpoint(one, block(in)) : block(block(in));
  };
  Tensor y = checkpointed ? checkpoint(twice, x) : twice(x);
  y = checkpointed ? checkpoint([&](const Tensor& h) { return block(h); }, y) : block(y);
  const Tensor next = dropout(y, 0.5);
  backward({next}, {drawn({8, 6}, 4)});
  if (scoped) fold_gradients({x, block.w, block.v});
  return {next, x.grad(), block.w.grad(), block.v.grad()};
}

}  // namespace

TEST_CASE("checkpoint: the same bits as without, dropout and shared weights included") {
  for (const bool scoped : {false, true})
    for (const bool nested : {false, true}) {
      CAPTURE(scoped);
      CAPTURE(nested);
      const Result plain = run_blocks(false, scoped, false), again = run_blocks(true, scoped, nested);
      CHECK(same_bits(plain.y, again.y));
      CHECK(same_bits(plain.dx, again.dx));
      CHECK(same_bits(plain.dw, again.dw));
      CHECK(same_bits(plain.dv, again.dv));
    }
}

TEST_CASE("checkpoint: works for parameters alone, under grad() and create_graph") {
  Tensor w = from_values({2}, std::vector<double>{0.5, -2});
  requires_grad(w);
  const Tensor x = from_values({2}, std::vector<double>{3, 4});
  const auto f = [&](const Tensor& in) { return mul(mul(w, w), in); };
  const Tensor y = sum(checkpoint(f, x));
  const Tensor dw = grad({y}, {w}, {.create_graph = true})[0];  // 2w·x
  CHECK(dw.data<double>()[0] == 3);
  CHECK(!w.grad().defined());
  backward(sum(dw));
  CHECK(w.grad().data<double>()[1] == 8);
}

TEST_CASE("checkpoint: an input that is overwritten before backward is refused") {
  Tensor x = from_values({2}, std::vector<double>{3, 4});
  requires_grad(x);
  const Tensor h = mul(x, 1.0), y = checkpoint([](const Tensor& in) { return exp(in); }, h);
  zero_(h);
  CHECK_THROWS_AS(backward(sum(y)), StateError);
}

TEST_CASE("checkpoint: what the function refers to beside its inputs gets its gradient, in backward() and in grad()") {
  Tensor w = from_values({2}, std::vector<double>{0.5, -2});
  requires_grad(w);
  const Tensor x = from_values({2}, std::vector<double>{3, 4});
  const Tensor h = mul(w, 2.0), y = checkpoint([h](const Tensor& in) { return mul(in, h); }, x);
  CHECK(grad({sum(y)}, {w}, {.retain_graph = true})[0].data<double>()[1] == 8);
  backward(sum(y));
  CHECK(w.grad().data<double>()[0] == 6);
}

TEST_CASE("checkpoint: a function that does something else the second time is refused") {
  Tensor x = from_values({1}, std::vector<double>{3});
  requires_grad(x);
  int runs = 0;
  const Tensor y = checkpoint([&](const Tensor& t) { return runs++ == 0 ? mul(t, 1.0) : expand(t, {1000}); }, x);
  CHECK_THROWS_AS(backward(sum(y)), StateError);
}

// tests/autograd/graph_test.cpp — what a user does with the graph: grad(), second derivatives, hooks, custom functions, a very long chain.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "autograd/backward.h"
#include "autograd/custom.h"
#include "autograd/gradcheck.h"
#include "autograd/mode.h"
#include "autograd/node.h"
#include "autograd/ops.h"
#include "kernels/table.h"
#include "tensor/generator.h"

using namespace rote;

namespace {

Tensor leaf(const std::vector<double>& values) {
  Tensor x = from_values({static_cast<int64_t>(values.size())}, values);
  return requires_grad(x);
}

double first(const Tensor& x) { return contiguous(x).data<double>()[0]; }

}  // namespace

TEST_CASE("grad: the gradient of an inner tensor and of a leaf, no grad touched") {
  const Tensor x = leaf({2, 3}), y = mul(x, x), z = sum(mul(y, y));  // z = x⁴
  const std::vector<Tensor> g = grad({z}, {y, x});
  CHECK(first(g[0]) == 8);
  CHECK(first(g[1]) == 32);
  CHECK(!x.grad().defined());
}

TEST_CASE("grad: an input that nothing depends on is refused, or undefined where asked") {
  const Tensor x = leaf({1}), other = leaf({1});
  CHECK_THROWS_WITH_AS(grad({sum(x)}, {other}), "grad: no output depends on input 0 (f64[1]); pass {.allow_unused = true} to get an undefined gradient for it.",
                       StateError);
  CHECK(!grad({sum(x)}, {other}, {.allow_unused = true})[0].defined());
  CHECK_THROWS_AS(grad({sum(x)}, {from_values({1}, std::vector<double>{1})}), StateError);
}

TEST_CASE("grad: only the part between outputs and inputs runs") {
  const Tensor x = leaf({2}), y = exp(x), w = log(y);
  int runs = 0;
  register_hook(y, [&](const Tensor&) { ++runs; return Tensor(); });
  CHECK(first(grad({w}, {w}, {.dys = {full({1}, 1.0, {.dtype = DType::f64})}, .retain_graph = true})[0]) == 1);
  CHECK(runs == 0);
  CHECK(first(grad({w}, {y})[0]) == doctest::Approx(1 / first(y)));
}

TEST_CASE("backward: create_graph gives second derivatives of a composed function") {
  const auto f = [](const std::vector<Tensor>& x) { return sum(mul(tanh(x[0]), exp(mul(x[0], x[1])))); };
  CHECK(gradgradcheck(f, {from_values({3}, std::vector<double>{0.3, -0.7, 1.1}), from_values({1}, std::vector<double>{0.5})}) == "");
}

TEST_CASE("backward: a gradient penalty trains") {
  const Tensor x = leaf({0.5, -0.25}), y = sum(mul(mul(x, x), x));
  const Tensor dx = grad({y}, {x}, {.create_graph = true})[0];  // 3x²
  backward(sum(mul(dx, dx)));                                   // Σ 9x⁴, 36x³
  CHECK(first(x.grad()) == doctest::Approx(36 * 0.125));
}

TEST_CASE("backward: a third derivative of a formula is refused by name") {
  const Tensor x = leaf({0.5}), y = exp(x);
  const Tensor once = grad({y}, {x}, {.create_graph = true})[0];
  CHECK(first(grad({once}, {x}, {.retain_graph = true})[0]) == doctest::Approx(first(y)));
  CHECK_THROWS_WITH_AS(grad({once}, {x}, {.create_graph = true}), "backward: exp has no third derivative; differentiate twice at most.", StateError);
}

TEST_CASE("backward: what an op saved is freed unless retained, and a second walk says so") {
  const Tensor x = leaf({2}), y = mul(x, x);
  backward(y, {.retain_graph = true});
  backward(y);
  CHECK(first(x.grad()) == 8);
  CHECK_THROWS_WITH_AS(backward(y), "backward: the graph of this loss was freed by an earlier backward; pass {.retain_graph = true} to the first call.", StateError);
}

TEST_CASE("hooks: a leaf's hook sees the whole gradient of a walk once and may replace it") {
  const Tensor x = leaf({2});
  std::vector<double> seen;
  register_hook(x, [&](const Tensor& dx) {
    seen.push_back(first(dx));
    return mul(dx, 10.0);
  });
  backward(sum(add(mul(x, x), x)));  // 2x + 1
  REQUIRE(seen.size() == 1);
  CHECK(seen[0] == 5);
  CHECK(first(x.grad()) == 50);
}

TEST_CASE("hooks: an inner tensor's hook changes what goes on; retain_grad keeps it") {
  const Tensor x = leaf({2}), y = mul(x, 3.0);
  retain_grad(y);
  register_hook(y, [](const Tensor& dy) { return mul(dy, 2.0); });
  backward(sum(mul(y, y)));
  CHECK(first(y.grad()) == 12);
  CHECK(first(x.grad()) == 72);
}

TEST_CASE("hooks: a gradient of another shape is refused") {
  const Tensor x = leaf({1, 2});
  register_hook(x, [](const Tensor&) { return zeros({3}, {.dtype = DType::f64}); });
  CHECK_THROWS_WITH_AS(backward(sum(x)), "hook: gave f64[3] for the gradient f64[2]; shape and dtype must stay.", ShapeError);
}

namespace {

// y = x³ with its derivative written by hand in ops.
const CustomFunction kCube{.name = "cube",
                           .forward =
                               [](Keeper& keeper, const std::vector<Tensor>& x) {
                                 keeper.keep(x[0]);
                                 return std::vector<Tensor>{mul(mul(x[0], x[0]), x[0])};
                               },
                           .backward = [](const std::vector<Tensor>& kept, const std::vector<Tensor>& dy) {
                             return std::vector<Tensor>{mul(dy[0], mul(mul(kept[0], kept[0]), 3.0))};
                           }};

}  // namespace

TEST_CASE("custom: a function of the user's own has first and second derivatives") {
  const auto f = [](const std::vector<Tensor>& x) { return run(kCube, {x[0]})[0]; };
  const Tensor x = from_values({3}, std::vector<double>{0.3, -0.7, 1.1});
  CHECK(gradcheck(f, {x}) == "");
  CHECK(gradgradcheck(f, {x}) == "");
}

TEST_CASE("custom: overwriting what it kept is refused by its name") {
  const Tensor x = leaf({2}), y = mul(x, 1.0), z = run(kCube, {y})[0];
  add_(y, 1.0);
  CHECK_THROWS_WITH_AS(backward(sum(z)), "backward: cube needs the value of a tensor that it kept (f64[1]) that an in-place op overwrote after it ran; write into a clone.",
                       StateError);
}

TEST_CASE("custom: a backward that gives too few gradients is refused") {
  CustomFunction wrong = kCube;
  wrong.backward = [](const std::vector<Tensor>&, const std::vector<Tensor>&) { return std::vector<Tensor>{}; };
  const Tensor x = leaf({2}), y = run(wrong, {x})[0];
  CHECK_THROWS_WITH_AS(backward(y), "cube: backward gave 0 gradients for 1 inputs; one each is needed.", ArgumentError);
}

TEST_CASE("backward: a frozen weight is the only thing that a linear layer keeps") {
  Tensor x = from_values({2, 3}, std::vector<float>(6, 1.0f));
  requires_grad(x);
  const Tensor w = from_values({4, 3}, std::vector<float>(12, 0.5f)), y = linear(x, w, Tensor());
  const Call& call = grad_meta(y).node->call;
  CHECK(!call.in[0].defined());
  CHECK(call.in[1].defined());
}

TEST_CASE("backward: 100,000 ops in a row and a second derivative through 10,000") {
  const Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = mul(y, 1.0);
  backward(sum(y));
  CHECK(first(x.grad()) == 1);
  Tensor z = x;
  for (int i = 0; i < 10000; ++i) z = add(mul(z, 0.5), mul(x, x));
  const Tensor dz = grad({sum(z)}, {x}, {.create_graph = true})[0];
  CHECK(first(grad({sum(dz)}, {x})[0]) == doctest::Approx(4));
}

TEST_CASE("sum_to: a tensor that has the shape already stays the leaf that it was") {
  const Tensor w = leaf({1, 2});
  backward(sum(sum_to(w, {2})));
  backward(sum(mul(w, w)));
  CHECK(first(w.grad()) == 3);
}

TEST_CASE("dropout: a backward drops what its forward dropped, whatever was seeded between") {
  manual_seed(1);
  Tensor x = full({64}, 1.0);
  requires_grad(x);
  const Tensor y = dropout(x, 0.5);
  manual_seed(2);
  backward(sum(y));
  for (int64_t i = 0; i < 64; ++i) CHECK(x.grad().data<float>()[i] == y.data<float>()[i]);
}

TEST_CASE("grad: a leaf's hooks see its gradient too") {
  const Tensor x = leaf({2});
  register_hook(x, [](const Tensor& dx) { return mul(dx, 2.0); });
  CHECK(first(grad({mul(x, 3.0)}, {x}, {.dys = {full({1}, 1.0, {.dtype = DType::f64})}})[0]) == 6);
}

TEST_CASE("matmul: a weight's gradient does not depend on how the samples were cut") {
  Tensor w = empty({3, 2});
  kernels<float>().normal(5, 1, 0, 6, w.data<float>());
  requires_grad(w);
  const Tensor x = empty({8, 3}), dy = empty({8, 2});
  kernels<float>().normal(5, 2, 0, 24, x.data<float>());
  kernels<float>().normal(5, 3, 0, 16, dy.data<float>());
  const auto gradient = [&](int64_t rows) {
    for (int64_t at = 0; at < 8; at += rows) {
      const RunScopeGuard scope({.seed = 1, .first_sample = static_cast<uint64_t>(at), .samples = rows});
      backward({matmul(slice(x, 0, at, at + rows), w)}, {slice(dy, 0, at, at + rows)});
    }
    fold_gradients({w});
    const Tensor g = w.grad();
    zero_grad({w});
    return g;
  };
  const Tensor whole = gradient(8);
  for (const int64_t rows : {4, 2, 1}) {
    const Tensor cut = gradient(rows);
    for (int64_t i = 0; i < 6; ++i) CHECK(cut.data<float>()[i] == whole.data<float>()[i]);
  }
}

TEST_CASE("custom: a tensor that was there before keeps its own history") {
  const Tensor w = leaf({3}), a = leaf({1});
  const CustomFunction hands_on{.name = "hands_on",
                                .forward = [w](Keeper&, const std::vector<Tensor>&) { return std::vector<Tensor>{w}; },
                                .backward = [](const std::vector<Tensor>&, const std::vector<Tensor>& dy) { return std::vector<Tensor>{dy[0]}; }};
  const Tensor y = run(hands_on, {a})[0];
  backward(sum(mul(w, 2.0)));
  CHECK(first(w.grad()) == 2);
  CHECK(!a.grad().defined());
  backward(sum(y));
  CHECK(first(a.grad()) == 1);
}

TEST_CASE("hooks: a hook may register others, which wait for the next gradient") {
  const Tensor x = leaf({2});
  int calls = 0;
  register_hook(x, [&](const Tensor&) {
    for (int i = 0; i < 50; ++i) register_hook(x, [&](const Tensor& d) { ++calls; return d; });
    return Tensor();
  });
  backward(sum(mul(x, x)));
  CHECK(calls == 0);
}

TEST_CASE("softmax: contiguous over any axis") { CHECK(softmax(zeros({3, 4}), 0).is_contiguous()); }

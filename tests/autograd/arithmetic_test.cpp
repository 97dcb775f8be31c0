// tests/autograd/arithmetic_test.cpp — the fast mode: which products it reaches, on which thread, and that it is gone with its guard.
#include "autograd/arithmetic.h"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "kernels/blas.h"

using namespace rote;

namespace {

Tensor draw(const Shape& shape, uint32_t op) {
  Tensor x = empty(shape);
  kernels<float>().normal(1, op, 0, x.numel(), x.data<float>());
  return x;
}

std::vector<float> values(const Tensor& x) { return {x.data<float>(), x.data<float>() + x.numel()}; }

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-3f) return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("arithmetic: fast multiplies by OpenBLAS in linear, matmul and their gradients; all else and all other threads keep AC-1") {
  if (blas_name().empty()) {
    MESSAGE("skipped: no libopenblas.so.0");
    return;
  }
  // Long enough that another order of the sums shows.
  const Tensor x = draw({40, 3000}, 1), y = draw({3000, 30}, 2);
  Tensor w = draw({30, 3000}, 3);
  requires_grad(w);
  const auto all = [&] {
    std::vector<std::vector<float>> results = {values(matmul(x, y)), values(detach(linear(x, w))), values(sum(x, {0})), values(softmax(x))};
    backward(sum(square(linear(x, w)) * 1e-3));
    results.push_back(values(w.grad()));
    zero_grad({w});
    return results;
  };
  const auto before = all();
  std::vector<std::vector<float>> fast, elsewhere;
  {
    const ArithmeticGuard guard(Arithmetic::fast);
    fast = all();
    std::thread([&] { elsewhere = all(); }).join();
    const ArithmeticGuard inner(Arithmetic::ac1);
    CHECK(all() == before);
  }
  CHECK(elsewhere == before);
  CHECK(all() == before);
  for (const size_t product : {0, 1, 4}) {
    CHECK(fast[product] != before[product]);
    CHECK(near(fast[product], before[product]));
  }
  CHECK(fast[2] == before[2]);
  CHECK(fast[3] == before[3]);
}

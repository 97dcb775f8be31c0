// tests/autograd/loops_test.cpp — how loops over a formula end: counts around a vector and around a task, on each instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "autograd/ops/formulas.h"
#include "kernels/table.h"

using namespace rote;

namespace {

constexpr int64_t kCounts[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 16383, 16384, 16385, 16400, 40001};
constexpr float kUntouched = 7.25f;

std::vector<float> positives(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x[i] = 0.25f + 0.5f * static_cast<float>((i * 37) % 101);
  return x;
}

uint32_t largest_word(const std::vector<float>& values, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<uint32_t>(values[i]) & 0x7FFFFFFFu);
  return largest;
}

// The loops of F on each instruction set that this machine has.
template <class F>
std::vector<const FormulaKernel<float>*> loops_of() {
  constexpr const char* kIsas[] = {"avx512", "avx2", "neon", "scalar"};  // FormulaLoops::single
  std::vector<const FormulaKernel<float>*> found;
  for (int k = 0; k < 4; ++k)
    if (kernel_table(kIsas[k])) found.push_back(formula_loops<F>().single[k]);
  return found;
}

}  // namespace

TEST_CASE("loops: each count of elements gives each element and no other, and their amax word") {
  for (const FormulaKernel<float>* log : loops_of<Log>()) {
    for (int64_t n : kCounts) {
      CAPTURE(n);
      const std::vector<float> x = positives(n);
      const float* in[] = {x.data()};
      std::vector<float> y(static_cast<size_t>(n) + 3, kUntouched);
      const uint32_t word = log->forward(n, in, nullptr, y.data());
      CHECK(word == largest_word(y, n));  // log of what is not there would be infinite
      for (int64_t i = 0; i < n; ++i) REQUIRE(std::abs(y[i] - std::log(x[i])) <= 1e-6f);
      for (int k = 0; k < 3; ++k) CHECK(y[n + k] == kUntouched);

      std::vector<float> same = x;  // in place
      const float* own[] = {same.data()};
      CHECK(log->forward(n, own, nullptr, same.data()) == word);
      for (int64_t i = 0; i < n; ++i) REQUIRE(std::bit_cast<uint32_t>(same[i]) == std::bit_cast<uint32_t>(y[i]));
    }
  }
}

TEST_CASE("loops: a gradient that is not wanted is not written and not seen") {
  for (const FormulaKernel<float>* mul : loops_of<Mul>()) {
    for (int64_t n : kCounts) {
      CAPTURE(n);
      const std::vector<float> x = positives(n), dy(static_cast<size_t>(n), 2.0f);
      const std::vector<float> infinite(static_cast<size_t>(n), HUGE_VALF);
      const float* saved[] = {infinite.data(), x.data()};  // so dx = 2x is finite, and the other, infinite, is not asked for
      std::vector<float> dx(static_cast<size_t>(n) + 1, kUntouched);
      float* din[] = {dx.data(), nullptr};
      const uint32_t word = mul->backward(n, saved, dy.data(), nullptr, din);
      CHECK(word == largest_word(dx, n));
      for (int64_t i = 0; i < n; ++i) REQUIRE(dx[i] == 2 * x[i]);
      CHECK(dx[n] == kUntouched);
    }
  }
}

// tests/kernels/blas_test.cpp — OpenBLAS in place of the product of AC-1: the same matrices within rounding, for every layout that a Gemm may have.
#include "kernels/blas.h"

#include <doctest/doctest.h>

#include "kernels/pool.h"
#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

using namespace rote::testing;

TEST_CASE("blas: products are those of AC-1 within rounding, in every layout, and so is the status word") {
  if (rote::blas_name().empty()) {
    MESSAGE("skipped: no libopenblas.so.0");
    return;
  }
  enum class Layout { rows, columns, spread };  // of which the last is left to AC-1
  struct Shape {
    int64_t batch, M, N, K;
  };
  for (const Shape& s : {Shape{1, 5, 7, 3}, Shape{1, 1, 40, 33}, Shape{1, 64, 2, 96}, Shape{3, 20, 33, 40}, Shape{1, 70, 90, 1500}, Shape{1, 3, 4, 0}}) {
    for (const Layout a_layout : {Layout::rows, Layout::columns, Layout::spread}) {
      for (const Layout b_layout : {Layout::rows, Layout::columns}) {
        for (const bool with_bias : {false, true}) {
          CAPTURE(s.M);
          CAPTURE(s.K);
          const std::vector<float> a = random_values(s.batch * s.M * (s.K + 1) * 2, 1), b = random_values(s.batch * (s.K + 1) * s.N, 2), bias = random_values(s.N, 3);
          const int64_t c_row = s.N + 3;
          std::vector<float> want(static_cast<size_t>(s.batch * s.M * c_row), -77.0f), got = want;
          rote::Gemm<float> g{.batch = s.batch, .M = s.M, .N = s.N, .K = s.K, .a = a.data(), .a_batch = s.M * s.K, .b = b.data(), .b_batch = s.K * s.N, .c = want.data(), .c_batch = s.M * c_row,
                              .c_row = c_row, .bias = with_bias ? bias.data() : nullptr};
          g.a_row = a_layout == Layout::rows ? s.K : a_layout == Layout::columns ? 1 : 2, g.a_col = a_layout == Layout::rows ? 1 : a_layout == Layout::columns ? s.M : 2 * s.M;
          g.b_row = b_layout == Layout::rows ? s.N : 1, g.b_col = b_layout == Layout::rows ? 1 : s.K;
          rote::kernels<float>().gemm(g);
          g.c = got.data();
          for (const int threads : {1, 2}) {
            rote::set_num_threads(threads);
            const uint32_t word = rote::blas_gemm(g);
            uint32_t largest = 0;
            for (size_t i = 0; i < got.size(); ++i) {
              CHECK(near(got[i], want[i], 1e-5, 1e-5 * static_cast<double>(s.K)));  // K roundings of sums below K
              if (static_cast<int64_t>(i) % c_row < s.N) largest = std::max(largest, bits(got[i]) & 0x7FFFFFFF);
            }
            CHECK(word == largest);
          }
          rote::set_num_threads(0);
        }
      }
    }
  }
}

TEST_CASE("blas: an overflow and a NaN show in the status word") {
  if (rote::blas_name().empty()) return;
  std::vector<float> a = {3e38f, 3e38f}, b = {1, 1}, c = {0};
  rote::Gemm<float> g{.M = 1, .N = 1, .K = 2, .a = a.data(), .a_row = 2, .a_col = 1, .b = b.data(), .b_row = 1, .b_col = 2, .c = c.data(), .c_row = 1};
  CHECK(rote::blas_gemm(g) == 0x7F800000u);
  a[0] = std::nanf("");
  CHECK(rote::blas_gemm(g) > 0x7F800000u);
}

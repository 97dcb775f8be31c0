// tests/kernels/conv_test.cpp — convolutions, their transposes and taps along an axis against plain loops in the order of arithmetic.md, bit for bit.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "kernels/blocks.h"
#include "tests/kernels/spec.h"

namespace {

using namespace rote::testing;
using Conv = rote::Conv<float>;

int64_t volume(const int64_t (&e)[3]) { return e[0] * e[1] * e[2]; }

struct Problem {
  const char* what;
  Conv c;
  std::vector<float> x, w, y, bias_out, bias_in;

  Problem(const char* what, Conv conv) : what(what), c(conv) {
    for (int a = 0; a < 3; ++a) c.out[a] = (c.in[a] + 2 * c.pad[a] - (c.kernel[a] - 1) * c.dilation[a] - 1) / c.stride[a] + 1;
    x = random_values(c.N * c.C * volume(c.in), 1);
    w = random_values(c.O * c.C / c.groups * volume(c.kernel), 2);
    y = random_values(c.N * c.O * volume(c.out), 3);
    bias_out = random_values(c.O, 4);
    bias_in = random_values(c.C, 5);
  }

  Conv call(std::vector<float>& to) const {
    Conv call = c;
    call.x = x.data(), call.w = w.data(), call.y = y.data(), call.to = to.data();
    return call;
  }

  int64_t per() const { return c.C / c.groups; }
  int64_t outputs() const { return c.O / c.groups; }
  int64_t rows() const { return per() * volume(c.kernel); }

  // The place in a plane of x that position q of the window at p reads, -1 where it lies outside.
  int64_t place(int64_t p, int64_t q) const {
    const int64_t os[3] = {p / c.out[2] / c.out[1], p / c.out[2] % c.out[1], p % c.out[2]};
    const int64_t ks[3] = {q / c.kernel[2] / c.kernel[1], q / c.kernel[2] % c.kernel[1], q % c.kernel[2]};
    int64_t at = 0;
    for (int a = 0; a < 3; ++a) {
      const int64_t i = os[a] * c.stride[a] - c.pad[a] + ks[a] * c.dilation[a];
      if (i < 0 || i >= c.in[a]) return -1;
      at = at * c.in[a] + i;
    }
    return at;
  }
  // Row k of group g's columns at position p of sample n.
  float column(int64_t n, int64_t g, int64_t k, int64_t p) const {
    const int64_t Q = volume(c.kernel), at = place(p, k % Q);
    return at < 0 ? 0 : x[(n * c.C + g * per() + k / Q) * volume(c.in) + at];
  }
  float grad(int64_t n, int64_t o, int64_t p) const { return y[(n * c.O + o) * volume(c.out) + p]; }

  std::vector<float> expected_out() const {
    std::vector<float> out;
    for (int64_t n = 0; n < c.N; ++n)
      for (int64_t o = 0; o < c.O; ++o)
        for (int64_t p = 0; p < volume(c.out); ++p)
          out.push_back(spec_column_sum(rows(), 0, [&](float sum, int64_t k) { return std::fma(w[o * rows() + k], column(n, o / outputs(), k, p), sum); }) + bias_out[o]);
    return out;
  }

  std::vector<float> expected_in() const {
    std::vector<float> in(x.size());
    const int64_t Q = volume(c.kernel), I = volume(c.in);
    for (int64_t n = 0; n < c.N; ++n)
      for (int64_t channel = 0; channel < c.C; ++channel)
        for (int64_t q = 0; q < Q; ++q)
          for (int64_t p = 0; p < volume(c.out); ++p) {
            const int64_t g = channel / per(), at = place(p, q), k = channel % per() * Q + q;
            if (at < 0) continue;
            in[(n * c.C + channel) * I + at] += spec_column_sum(outputs(), 0, [&](float sum, int64_t m) {
              return std::fma(w[(g * outputs() + m) * rows() + k], grad(n, g * outputs() + m, p), sum);
            });
          }
    for (size_t i = 0; i < in.size(); ++i) in[i] += bias_in[static_cast<int64_t>(i) / I % c.C];
    return in;
  }

  std::vector<float> expected_weight(int64_t leaf) const {
    std::vector<float> dw;
    const int64_t P = volume(c.out);
    for (int64_t o = 0; o < c.O; ++o)
      for (int64_t k = 0; k < rows(); ++k)
        dw.push_back(spec_column_sum(c.N * P, leaf, [&](float sum, int64_t r) { return std::fma(grad(r / P, o, r % P), column(r / P, o / outputs(), k, r % P), sum); }));
    return dw;
  }
};

std::vector<Problem> problems() {
  return {
      {"narrow, across samples", {.N = 3, .C = 4, .O = 40, .groups = 2, .in = {1, 5, 6}, .kernel = {1, 3, 2}, .stride = {1, 2, 1}, .pad = {0, 1, 2}, .dilation = {1, 1, 2}}},
      {"within samples", {.N = 2, .C = 3, .O = 18, .in = {1, 9, 11}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}}},
      {"more than a piece of k", {.N = 1, .C = 40, .O = 17, .in = {4, 4, 6}, .kernel = {3, 3, 3}, .pad = {1, 1, 1}}},
      {"depthwise, strided", {.N = 2, .C = 5, .O = 5, .groups = 5, .in = {1, 9, 43}, .kernel = {1, 3, 3}, .stride = {1, 2, 2}, .pad = {0, 2, 3}, .dilation = {1, 2, 3}}},
      {"few outputs, three axes", {.N = 1, .C = 6, .O = 14, .groups = 2, .in = {3, 4, 70}, .kernel = {2, 2, 3}, .pad = {1, 0, 1}}},
      {"stride beyond the kernel", {.N = 2, .C = 2, .O = 3, .in = {1, 8, 40}, .kernel = {1, 1, 2}, .stride = {1, 3, 4}}},
      {"one position", {.N = 2, .C = 6, .O = 4, .groups = 2, .in = {1, 8, 9}}},
      {"long", {.N = 3, .C = 2, .O = 3, .in = {1, 1, 1502}, .kernel = {1, 1, 3}}},
  };
}

}  // namespace

TEST_CASE("conv: chains over channels and kernel positions, on each instruction set") {
  for (const Problem& problem : problems()) {
    const std::vector<float> expected = problem.expected_out();
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(problem.what);
      CAPTURE(std::string(table.isa));
      std::vector<float> y(expected.size(), NAN);
      Conv c = problem.call(y);
      c.bias = problem.bias_out.data();
      const uint32_t word = table.conv(c);
      CHECK(same_bits(y, expected));
      CHECK(word == amax_word(y));
    });
  }
}

TEST_CASE("conv_input: chains over outputs, added up by kernel position") {
  for (const Problem& problem : problems()) {
    const std::vector<float> expected = problem.expected_in();
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(problem.what);
      CAPTURE(std::string(table.isa));
      std::vector<float> x(expected.size(), NAN);
      Conv c = problem.call(x);
      c.bias = problem.bias_in.data();
      const uint32_t word = table.conv_input(c);
      CHECK(same_bits(x, expected));
      CHECK(word == amax_word(x));
    });
  }
}

TEST_CASE("conv_weight: chains over samples and positions, cut by leaves and pieces") {
  for (const Problem& problem : problems()) {
    const int64_t P = volume(problem.c.out);
    for (const int64_t leaf : {int64_t{0}, P, 2 * P}) {
      const std::vector<float> expected = problem.expected_weight(leaf);
      each_rare_kernels([&](const RareKernels<float>& table) {
        CAPTURE(problem.what);
        CAPTURE(std::string(table.isa));
        CAPTURE(leaf);
        std::vector<float> dw(expected.size(), NAN);
        Conv c = problem.call(dw);
        c.leaf = leaf;
        const uint32_t word = table.conv_weight(c);
        CHECK(same_bits(dw, expected));
        CHECK(word == amax_word(dw));
      });
    }
  }
}

TEST_CASE("conv: how work is dealt to threads, and a channel cut for its size, move no bit") {
  const rote::GemmBlocks before = rote::gemm_blocks;
  const Problem large("cut along an axis", {.N = 1, .C = 2, .O = 1, .in = {1, 300, 301}, .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .pad = {0, 1, 1}});
  std::vector<Problem> all = problems();
  all.push_back(large);
  const RareKernels<float>& table = *all_rare_kernels().back();
  for (const Problem& problem : all) {
    std::vector<float> results[2][3];
    for (const int shared : {0, 1}) {
      rote::gemm_blocks.shared_work = shared ? 1 : before.shared_work;
      rote::gemm_blocks.task_work = shared ? 1 : before.task_work;
      const auto run = [&](uint32_t (*kernel)(const Conv&), size_t size) {
        std::vector<float> to(size, NAN);
        kernel(problem.call(to));
        return to;
      };
      results[shared][0] = run(table.conv, problem.y.size());
      results[shared][1] = run(table.conv_input, problem.x.size());
      results[shared][2] = run(table.conv_weight, problem.w.size());
    }
    for (int i = 0; i < 3; ++i) CHECK(same_bits(results[0][i], results[1][i]));
  }
  rote::gemm_blocks = before;
  Problem plain = large;
  plain.bias_in.assign(plain.bias_in.size(), 0);
  std::vector<float> x(plain.x.size());
  table.conv_input(plain.call(x));
  CHECK(same_bits(x, plain.expected_in()));
}

TEST_CASE("unfold, fold: what the windows read, and its sums") {
  for (const Problem& problem : problems()) {
    if (problem.c.groups != 1) continue;
    const int64_t P = volume(problem.c.out), rows = problem.rows(), I = volume(problem.c.in), Q = volume(problem.c.kernel);
    std::vector<float> columns;
    for (int64_t n = 0; n < problem.c.N; ++n)
      for (int64_t k = 0; k < rows; ++k)
        for (int64_t p = 0; p < P; ++p) columns.push_back(problem.column(n, 0, k, p));
    std::vector<float> sums(problem.x.size());
    for (int64_t row = 0; row < problem.c.N * problem.c.C; ++row)
      for (int64_t q = 0; q < Q; ++q)
        for (int64_t p = 0; p < P; ++p)
          if (const int64_t at = problem.place(p, q); at >= 0) sums[row * I + at] += columns[(row * Q + q) * P + p];
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(problem.what);
      std::vector<float> got(columns.size(), NAN), back(sums.size(), NAN);
      table.unfold(problem.call(got));
      CHECK(same_bits(got, columns));
      Conv c = problem.call(back);
      c.y = columns.data();
      const uint32_t word = table.fold(c);
      CHECK(word == amax_word(back));
      CHECK(same_bits(back, sums));
    });
  }
}

TEST_CASE("taps: a product, then fma; empty rows are 0; divisors last") {
  const int64_t in = 7, out = 19;
  std::vector<int64_t> begin{0}, index;
  for (int64_t j = 0; j < out; ++j) {
    for (int64_t k = 0; k < j % 5; ++k) index.push_back((3 * j + 2 * k) % in);
    begin.push_back(static_cast<int64_t>(index.size()));
  }
  const std::vector<float> weight = random_values(static_cast<int64_t>(index.size()), 7), divisor(out, 3.0f);
  for (const int64_t inner : {1, 5, 16, 40}) {
    const int64_t outer = 130;
    const std::vector<float> x = random_values(outer * in * inner, 8);
    std::vector<float> expected;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < out; ++j)
        for (int64_t i = 0; i < inner; ++i) {
          float sum = 0;
          for (int64_t t = begin[j]; t < begin[j + 1]; ++t) {
            const float v = x[(o * in + index[t]) * inner + i];
            sum = t == begin[j] ? v * weight[t] : std::fma(v, weight[t], sum);
          }
          expected.push_back(sum / 3.0f);
        }
    each_rare_kernels([&](const RareKernels<float>& table) {
      CAPTURE(std::string(table.isa));
      CAPTURE(inner);
      std::vector<float> y(expected.size(), NAN);
      const uint32_t word = table.taps({.outer = outer, .in = in, .out = out, .inner = inner, .begin = begin.data(), .index = index.data(), .weight = weight.data(), .divisor = divisor.data(),
                                        .x = x.data(), .y = y.data()});
      CHECK(word == amax_word(y));
      CHECK(same_bits(y, expected));
    });
  }
}

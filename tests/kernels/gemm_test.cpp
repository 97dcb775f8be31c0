// tests/kernels/gemm_test.cpp — the matrix product against a triple loop and the tree law written out anew, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/blocks.h"
#include "kernels/pool.h"
#include "kernels/table.h"
#include "tests/kernels/isas.h"
#include "tests/support/compare.h"

namespace {

using namespace rote;
using rote::testing::first_bit_difference;
using rote::testing::spec_tree;
using rote::testing::tables;

struct Shape {
  int64_t batch, M, N, K, leaf;
};

enum class Layout { rows, columns, spread };  // contiguous rows, contiguous columns, neither

// Numbers of mixed size and sign, so that any other order of the sums shows.
struct Numbers {
  uint32_t state = 12345;
  double next() {
    state = state * 1664525u + 1013904223u;
    const double mantissa = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
    return mantissa * ((state >> 3) % 7 == 0 ? 37.0 : 1.0);
  }
};

// An operand [batch, rows, columns] in some layout inside a larger buffer; what lies between its elements is NaN.
template <class Real>
struct Operand {
  std::vector<Real> data;
  int64_t batch = 0, row = 0, column = 0;

  Operand(Numbers& numbers, Layout layout, int64_t items, int64_t rows, int64_t columns) {
    const int64_t gap = 3;
    if (layout == Layout::rows) row = columns + gap, column = 1;
    if (layout == Layout::columns) row = 1, column = rows + gap;
    if (layout == Layout::spread) row = 2, column = 2 * rows + gap;
    batch = std::max<int64_t>(rows, 1) * row + std::max<int64_t>(columns, 1) * column;
    data.assign(static_cast<size_t>(items * batch + 1), std::numeric_limits<Real>::quiet_NaN());
    for (int64_t n = 0; n < items; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) at(n, i, j) = static_cast<Real>(numbers.next());
  }
  Real& at(int64_t n, int64_t i, int64_t j) { return data[static_cast<size_t>(n * batch + i * row + j * column)]; }
};

template <class Real>
struct Problem {
  Shape shape;
  Operand<Real> a, b;
  std::vector<Real> bias;
  std::vector<Real> c;
  uint32_t word = 0;

  Problem(Numbers& numbers, Shape s, Layout a_layout, Layout b_layout, bool with_bias)
      : shape(s), a(numbers, a_layout, s.batch, s.M, s.K), b(numbers, b_layout, s.batch, s.K, s.N) {
    if (with_bias)
      for (int64_t j = 0; j < s.N; ++j) bias.push_back(static_cast<Real>(numbers.next()));
  }

  int64_t c_row() const { return shape.N + 5; }
  int64_t c_batch() const { return shape.M * c_row() + 2; }

  Gemm<Real> gemm() {
    c.assign(static_cast<size_t>(shape.batch * c_batch()), Real(-77));
    Gemm<Real> g;
    g.batch = shape.batch, g.M = shape.M, g.N = shape.N, g.K = shape.K, g.leaf = shape.leaf;
    g.a = a.data.data(), g.a_batch = a.batch, g.a_row = a.row, g.a_col = a.column;
    g.b = b.data.data(), g.b_batch = b.batch, g.b_row = b.row, g.b_col = b.column;
    g.c = c.data(), g.c_batch = c_batch(), g.c_row = c_row();
    g.bias = bias.empty() ? nullptr : bias.data();
    return g;
  }
};

// All of C's buffer as it must be: -77 wherever no element of C lies.
template <class Real>
std::vector<Real> reference(Problem<Real>& p) {
  const Shape s = p.shape;
  std::vector<Real> c(static_cast<size_t>(s.batch * p.c_batch()), Real(-77));
  const int64_t leaf = s.leaf == 0 ? s.K : s.leaf;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t i = 0; i < s.M; ++i) {
      for (int64_t j = 0; j < s.N; ++j) {
        std::vector<Real> leaves;
        for (int64_t first = 0; first < s.K; first += leaf) {
          std::vector<Real> pieces;
          for (int64_t k0 = first; k0 < std::min(first + leaf, s.K); k0 += 1024) {
            Real sum = 0;
            for (int64_t k = k0; k < std::min({k0 + 1024, first + leaf, s.K}); ++k) sum = std::fma(p.a.at(n, i, k), p.b.at(n, k, j), sum);
            pieces.push_back(sum);
          }
          leaves.push_back(spec_tree(pieces, 0, pieces.size()));
        }
        Real y = leaves.empty() ? Real(0) : spec_tree(leaves, 0, leaves.size());
        if (!p.bias.empty()) y = y + p.bias[static_cast<size_t>(j)];
        c[static_cast<size_t>(n * p.c_batch() + i * p.c_row() + j)] = y;
      }
    }
  }
  return c;
}

// The word that C's elements give.
template <class Real>
uint32_t amax_word(const Problem<Real>& p, const std::vector<Real>& c) {
  uint32_t word = 0;
  for (int64_t n = 0; n < p.shape.batch; ++n)
    for (int64_t i = 0; i < p.shape.M; ++i)
      for (int64_t j = 0; j < p.shape.N; ++j) {
        const float y = static_cast<float>(c[static_cast<size_t>(n * p.c_batch() + i * p.c_row() + j)]);
        word = std::max(word, rote::testing::bits(y) & 0x7FFFFFFFu);
      }
  return word;
}

template <class Real>
void check_equal(const KernelTable<Real>& table, Problem<Real>& p, const std::vector<Real>& want) {
  const uint32_t word = table.gemm(p.gemm());
  const std::string isa = table.isa;
  CAPTURE(isa);
  CAPTURE(p.shape.batch);
  CAPTURE(p.shape.M);
  CAPTURE(p.shape.N);
  CAPTURE(p.shape.K);
  CAPTURE(p.shape.leaf);
  CHECK(first_bit_difference(static_cast<int64_t>(want.size()), p.c.data(), want.data()) == -1);
  CHECK(word == amax_word(p, want));
}

const Shape kShapes[] = {
    {1, 1, 1, 1, 0},        {1, 1, 1, 0, 0},        {1, 3, 70, 0, 0},       {1, 1, 40, 33, 0},      {1, 2, 17, 100, 0},     {1, 13, 31, 37, 0},
    {1, 14, 32, 64, 0},     {1, 15, 33, 65, 0},     {1, 29, 64, 50, 0},     {1, 57, 97, 131, 0},    {1, 64, 2, 96, 0},      {1, 100, 3, 20, 0},
    {1, 33, 35, 1024, 0},   {1, 33, 35, 1025, 0},   {1, 7, 9, 2048, 0},     {1, 7, 9, 2049, 0},     {1, 5, 3, 9000, 0},     {1, 35, 20, 7000, 0},
    {1, 30, 40, 128, 64},   {1, 31, 20, 63, 21},    {1, 40, 33, 500, 20},   {1, 6, 5, 500, 1},      {1, 30, 18, 4500, 1500}, {1, 31, 18, 9001, 9001},
    {1, 40, 7, 3072, 48},   {1, 3, 3, 7168, 1024},  {1, 30, 3, 13000, 2600}, {5, 4, 6, 8, 0},        {7, 20, 33, 40, 0},     {3, 40, 20, 2200, 0},
    {3, 40, 20, 2100, 700}, {40, 3, 5, 7, 0},       {1, 30, 40, 150, 64},   {1, 9, 33, 2600, 1100}, {1, 5, 5, 20, 64},
};

}  // namespace

TEST_CASE_TEMPLATE("gemm: every element is the specified chain and tree", Real, float, double) {
  Numbers numbers;
  int layout = 0;
  for (const Shape& shape : kShapes) {
    const Layout a_layout = static_cast<Layout>(layout % 3), b_layout = static_cast<Layout>(layout / 3 % 3);
    ++layout;
    Problem<Real> problem(numbers, shape, a_layout, b_layout, layout % 2 == 0);
    const std::vector<Real> want = reference(problem);
    for (const KernelTable<Real>* table : tables<Real>()) check_equal(*table, problem, want);
  }
}

TEST_CASE("gemm: every layout of both operands is read right") {
  Numbers numbers;
  for (const Shape& shape : {Shape{1, 47, 53, 61, 0}, Shape{2, 17, 21, 44, 11}}) {
    for (Layout a_layout : {Layout::rows, Layout::columns, Layout::spread}) {
      for (Layout b_layout : {Layout::rows, Layout::columns, Layout::spread}) {
        Problem<float> problem(numbers, shape, a_layout, b_layout, true);
        const std::vector<float> want = reference(problem);
        for (const KernelTable<float>* table : tables<float>()) check_equal(*table, problem, want);
      }
    }
  }
}

TEST_CASE("gemm: the number of threads and the moment of each task change no bit") {
  Numbers numbers;
  for (const Shape& shape : {Shape{1, 200, 150, 300, 60}, Shape{1, 20, 600, 2500, 0}, Shape{1, 90, 70, 5000, 0}, Shape{50, 30, 30, 30, 0}}) {
    Problem<float> problem(numbers, shape, Layout::rows, Layout::columns, false);
    const KernelTable<float>& table = *tables<float>().back();
    set_num_threads(1);
    table.gemm(problem.gemm());
    const std::vector<float> alone = problem.c;
    set_task_hook([](int64_t task) {
      volatile int64_t turns = task * 7919 % 13 * 500;
      while (turns > 0) turns = turns - 1;
    });
    for (int threads : {2, 3, 5, 8}) {
      set_num_threads(threads);
      table.gemm(problem.gemm());
      CAPTURE(threads);
      CHECK(first_bit_difference(static_cast<int64_t>(alone.size()), problem.c.data(), alone.data()) == -1);
    }
    set_task_hook(nullptr);
    set_num_threads(0);
  }
}

TEST_CASE("gemm: the sizes of blocks and tasks change no bit") {
  Numbers numbers;
  const GemmBlocks usual = gemm_blocks;
  for (const Shape& shape : {Shape{1, 70, 90, 300, 60}, Shape{1, 50, 70, 5000, 0}, Shape{1, 9, 100, 4500, 1500}, Shape{4, 60, 40, 130, 0}}) {
    Problem<float> problem(numbers, shape, Layout::columns, Layout::rows, true);
    const std::vector<float> want = reference(problem);
    for (int turn = 0; turn < 12; ++turn) {
      const auto draw = [&](int64_t top) { return 1 + static_cast<int64_t>((numbers.next() + 20) * 1e6) % top; };
      gemm_blocks = {.k_rows = draw(turn % 2 ? 100 : 4000), .shared_b = draw(40000), .private_a = draw(60000), .task_work = draw(200000),
                     .shared_work = draw(400000)};
      for (const KernelTable<float>* table : tables<float>()) check_equal(*table, problem, want);
    }
    gemm_blocks = usual;
  }
}

TEST_CASE("gemm: a NaN or infinity reaches its row or column and no other element") {
  Numbers numbers;
  for (const KernelTable<float>* table : tables<float>()) {
    for (int64_t M : {5, 31}) {
      Problem<float> problem(numbers, {1, M, 37, 19, 0}, Layout::rows, Layout::rows, false);
      table->gemm(problem.gemm());
      const std::vector<float> clean = problem.c;
      problem.a.at(0, 3, 7) = std::numeric_limits<float>::quiet_NaN();
      problem.b.at(0, 2, 36) = std::numeric_limits<float>::infinity();
      CHECK(table->gemm(problem.gemm()) > 0x7F800000u);
      for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < 37; ++j) {
          const float y = problem.c[static_cast<size_t>(i * problem.c_row() + j)];
          if (i == 3)
            CHECK(std::isnan(y));
          else if (j == 36)
            CHECK(std::isinf(y));
          else
            CHECK(rote::testing::bits(y) == rote::testing::bits(clean[static_cast<size_t>(i * problem.c_row() + j)]));
        }
      }
    }
  }
}

TEST_CASE("gemm: an overflow shows in the status word as an infinity") {
  std::vector<float> a = {3e38f, 3e38f}, b = {1.0f, 1.0f}, c = {0.0f};
  Gemm<float> g;
  g.M = 1, g.N = 1, g.K = 2, g.a = a.data(), g.a_row = 2, g.a_col = 1, g.b = b.data(), g.b_row = 1, g.b_col = 1, g.c = c.data(), g.c_row = 1;
  for (const KernelTable<float>* table : tables<float>()) CHECK(table->gemm(g) == 0x7F800000u);
}

TEST_CASE("gemm: subnormal products and sums are kept") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> a(40, tiny), b(40, 1.0f), c(1);
  Gemm<float> g;
  g.M = 1, g.N = 1, g.K = 40, g.a = a.data(), g.a_row = 40, g.a_col = 1, g.b = b.data(), g.b_row = 1, g.b_col = 1, g.c = c.data(), g.c_row = 1;
  for (const KernelTable<float>* table : tables<float>()) {
    table->gemm(g);
    CHECK(rote::testing::bits(c[0]) == 40u);
  }
}

TEST_CASE("gemm: two micro-batches joined by one addition give the bits of the whole") {
  // 16 samples of 12 rows: the leaves of each half fold to one subtree (arithmetic.md 6).
  Numbers numbers;
  Problem<float> whole(numbers, {1, 33, 40, 192, 12}, Layout::columns, Layout::rows, false);
  for (const KernelTable<float>* table : tables<float>()) {
    table->gemm(whole.gemm());
    const std::vector<float> want = whole.c;
    std::vector<float> halves[2];
    for (int half = 0; half < 2; ++half) {
      Gemm<float> g = whole.gemm();
      g.K = 96;
      g.a = g.a.from(half * 96 * g.a_col);
      g.b = g.b.from(half * 96 * g.b_row);
      table->gemm(g);
      halves[half] = whole.c;
    }
    for (int64_t i = 0; i < 33; ++i)
      for (int64_t j = 0; j < 40; ++j) {
        const size_t at = static_cast<size_t>(i * whole.c_row() + j);
        CHECK(rote::testing::bits(halves[0][at] + halves[1][at]) == rote::testing::bits(want[at]));
      }
  }
}

// tests/kernels/gemm_sixteen_test.cpp — products whose operands or results are stored in 16 bits: what converting before and after gives, bit for bit.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/blocks.h"
#include "kernels/dtype.h"
#include "kernels/table.h"
#include "tests/kernels/isas.h"
#include "tests/support/compare.h"

namespace {

using namespace rote;
using rote::testing::all_tables;
using rote::testing::bits;
using rote::testing::first_bit_difference;

constexpr Stored kSources[] = {Stored::real, Stored::bf16, Stored::f16, Stored::rounded_to_bf16, Stored::rounded_to_f16};
constexpr Stored kTargets[] = {Stored::real, Stored::bf16, Stored::f16};

bool is_bf16(Stored stored) { return stored == Stored::bf16 || stored == Stored::rounded_to_bf16; }
uint16_t narrowed(float x, Stored stored) { return is_bf16(stored) ? to_bfloat16(x).bits : to_half(x).bits; }
float widened(uint16_t x, Stored stored) { return is_bf16(stored) ? to_float(BFloat16{x}) : to_float(Half{x}); }

// A matrix in a larger buffer: as it is stored, and the Reals that it stands for. Between its elements is NaN.
struct Matrix {
  std::vector<float> given, meant;
  std::vector<uint16_t> words;
  Stored stored;
  int64_t row = 0, column = 0, batch = 0;

  // layout 0: rows are contiguous, 1: columns, 2: neither
  Matrix(Stored stored, int layout, int64_t items, int64_t rows, int64_t columns, uint32_t seed) : stored(stored) {
    row = layout == 0 ? columns + 3 : layout == 1 ? 1 : 2;
    column = layout == 0 ? 1 : layout == 1 ? rows + 3 : 2 * rows + 3;
    batch = rows * row + columns * column;
    given.assign(static_cast<size_t>(items * batch + 1), std::numeric_limits<float>::quiet_NaN());
    for (int64_t n = 0; n < items; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          seed = seed * 1664525u + 1013904223u;
          const float x = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
          given[static_cast<size_t>(n * batch + i * row + j * column)] = seed % 11 == 0 ? std::ldexp(x, -22) : x;  // some are subnormal in f16
        }
    meant = given;
    for (size_t i = 0; stored != Stored::real && i < given.size(); ++i) {
      words.push_back(narrowed(given[i], stored));
      meant[i] = widened(words[i], stored);
    }
  }
  Elements<float> elements() const { return is_narrow(stored) ? Elements<float>(words.data(), stored) : Elements<float>(given.data(), stored); }
};

struct Size {
  int64_t batch, M, N, K, leaf;
};

void check_product(const Size& s, const Matrix& a, const Matrix& b, Stored c_stored, bool with_bias) {
  const int64_t c_row = s.N + 5, c_batch = s.M * c_row + 2;
  const size_t room = static_cast<size_t>(s.batch * c_batch);
  const std::vector<float> bias(static_cast<size_t>(s.N), 0.37f);
  Gemm<float> g;
  g.batch = s.batch, g.M = s.M, g.N = s.N, g.K = s.K, g.leaf = s.leaf;
  g.a_batch = a.batch, g.a_row = a.row, g.a_col = a.column;
  g.b_batch = b.batch, g.b_row = b.row, g.b_col = b.column;
  g.c_batch = c_batch, g.c_row = c_row;
  g.bias = with_bias ? bias.data() : nullptr;
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    CAPTURE(s.M);
    CAPTURE(s.N);
    CAPTURE(s.K);
    CAPTURE(static_cast<int>(a.stored));
    CAPTURE(static_cast<int>(b.stored));
    CAPTURE(static_cast<int>(c_stored));
    std::vector<float> want(room, -77.0f), got(room, -77.0f);
    g.a = a.meant.data(), g.b = b.meant.data(), g.c = want.data();
    const uint32_t want_word = table->gemm(g);
    std::vector<uint16_t> want_words, got_words(room, c_stored == Stored::real ? 0 : narrowed(-77.0f, c_stored));
    g.a = a.elements(), g.b = b.elements();
    if (c_stored == Stored::real) g.c = got.data();
    else g.c = Results<float>(got_words.data(), c_stored);
    CHECK(table->gemm(g) == want_word);  // of the values before they are narrowed
    if (c_stored == Stored::real) {
      CHECK(first_bit_difference(static_cast<int64_t>(room), got.data(), want.data()) == -1);
    } else {
      for (const float y : want) want_words.push_back(narrowed(y, c_stored));
      CHECK(first_bit_difference(static_cast<int64_t>(room), got_words.data(), want_words.data()) == -1);
    }
  }
}

}  // namespace

TEST_CASE("gemm: every way to store both factors and the result gives what converting first and last gives") {
  const Size sizes[] = {{1, 15, 33, 65, 0}, {1, 47, 53, 131, 20}, {3, 17, 21, 44, 11}};
  int turn = 0;
  for (const Size& s : sizes)
    for (const Stored a_stored : kSources)
      for (const Stored b_stored : kSources) {
        const Matrix a(a_stored, turn % 3, s.batch, s.M, s.K, 1), b(b_stored, turn / 3 % 3, s.batch, s.K, s.N, 2);
        for (const Stored c_stored : kTargets) check_product(s, a, b, c_stored, turn % 2 == 0);
        ++turn;
      }
}

TEST_CASE("gemm: 16 bits in every layout, at every edge, over several blocks of K") {
  const Size sizes[] = {{1, 1, 1, 1, 0}, {1, 14, 32, 64, 0}, {1, 13, 16, 3, 0}, {1, 29, 97, 67, 0}, {1, 60, 40, 0, 0}, {1, 9, 5, 2600, 1100}, {1, 70, 90, 2200, 0}, {40, 3, 5, 7, 0}};
  for (const Size& s : sizes)
    for (int a_layout = 0; a_layout < 3; ++a_layout)
      for (int b_layout = 0; b_layout < 3; ++b_layout) {
        const Matrix a(Stored::bf16, a_layout, s.batch, s.M, s.K, 3), b(Stored::rounded_to_bf16, b_layout, s.batch, s.K, s.N, 4);
        check_product(s, a, b, Stored::bf16, true);
        const Matrix c(Stored::rounded_to_f16, a_layout, s.batch, s.M, s.K, 5), d(Stored::f16, b_layout, s.batch, s.K, s.N, 6);
        check_product(s, c, d, Stored::f16, false);
      }
}

TEST_CASE("gemm: the sizes of blocks and tasks change no 16-bit result") {
  const GemmBlocks usual = gemm_blocks;
  const Size s{1, 70, 90, 300, 60};
  const Matrix a(Stored::rounded_to_bf16, 1, 1, s.M, s.K, 7), b(Stored::bf16, 0, 1, s.K, s.N, 8);
  for (const int64_t small : {1, 50, 700, 9000}) {
    gemm_blocks = {.k_rows = 1 + small / 7, .shared_b = 3 * small, .private_a = 2 * small, .task_work = 90 * small, .shared_work = 60 * small};
    check_product(s, a, b, Stored::bf16, true);
  }
  gemm_blocks = usual;
}

TEST_CASE("gemm: what overflows only when it is narrowed is infinite in C and finite in the status word") {
  const std::vector<float> a = {300.0f}, b = {300.0f};
  for (const KernelTable<float>* table : all_tables()) {
    uint16_t c = 0;
    Gemm<float> g;
    g.M = 1, g.N = 1, g.K = 1, g.a = a.data(), g.a_row = 1, g.a_col = 1, g.b = b.data(), g.b_row = 1, g.b_col = 1, g.c_row = 1;
    g.c = Results<float>(&c, Stored::f16);
    CHECK(table->gemm(g) == bits(90000.0f));
    CHECK(c == 0x7C00);
  }
}

TEST_CASE("sum_columns: 16-bit rows give the sums of what they stand for") {
  const Size sizes[] = {{1, 64, 65, 0, 8}, {1, 1030, 70, 0, 0}, {1, 13, 64, 0, 2}, {1, 5, 3, 0, 1}};
  for (const Size& s : sizes)
    for (const Stored stored : {Stored::bf16, Stored::f16}) {
      const Matrix padded(stored, 0, 1, s.M, s.N, 9);
      std::vector<float> meant;
      std::vector<uint16_t> words;
      for (int64_t i = 0; i < s.M; ++i)
        for (int64_t j = 0; j < s.N; ++j) {
          meant.push_back(padded.meant[static_cast<size_t>(i * padded.row + j)]);
          words.push_back(padded.words[static_cast<size_t>(i * padded.row + j)]);
        }
      for (const KernelTable<float>* table : all_tables()) {
        std::vector<float> want(static_cast<size_t>(s.N)), got(static_cast<size_t>(s.N));
        const uint32_t word = table->sum_columns(s.M, s.N, s.leaf, meant.data(), want.data());
        CHECK(table->sum_columns(s.M, s.N, s.leaf, Elements<float>(words.data(), stored), got.data()) == word);
        CHECK(first_bit_difference(s.N, got.data(), want.data()) == -1);
      }
    }
}

// tests/kernels/tree_test.cpp — the tree law (kernels/tree.h) across ranks: sums over samples have the bits of one rank, however the leaves are dealt out.
#include <doctest/doctest.h>

#include <string>

#include "tests/kernels/spec.h"
#include "tests/support/ranks.h"

namespace {

using namespace rote::testing;
using Floats = std::vector<float>;

Floats add(const Floats& a, const Floats& b) {
  Floats sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

// sum(first, count): of leaves first … first+count-1, by a kernel. Each rank computes its subtrees, the receiver folds them.
template <class F>
Floats over_ranks(const std::vector<int64_t>& borders, const F& sum) {
  Receiver<Floats, decltype(&add)> receiver(&add);
  for (size_t rank = 0; rank + 1 < borders.size(); ++rank)
    for (const Subtree& part : maximal_subtrees(borders[rank], borders[rank + 1])) receiver.push(part.leaves, sum(part.begin, part.leaves));
  return receiver.total();
}

}  // namespace

TEST_CASE("tree law: aligned subtrees in order, folded as they come, are the tree") {
  std::mt19937 source(1);
  const Floats x = random_values(700, 2);
  for (int turn = 0; turn < 3000; ++turn) {
    const int64_t n = 1 + static_cast<int64_t>(source() % x.size());
    const std::vector<int64_t> borders = random_borders(n, 1 + turn % 9, source);
    const Floats ranked = over_ranks(borders, [&](int64_t first, int64_t count) { return Floats{spec_tree(x, static_cast<size_t>(first), static_cast<size_t>(count))}; });
    REQUIRE(ranked[0] == spec_tree(x, 0, static_cast<size_t>(n)));
  }
}

TEST_CASE("tree law: ranks 1, 2, 3, 4 and 8 with contiguous leaves give the sums of one") {
  struct Job {
    int64_t leaf, rows;  // rows of a leaf and of all; the last leaf may be short
  };
  const int64_t C = 37, M = 19, N = 23;
  for (const Job& job : {Job{1, 13}, Job{1, 64}, Job{5, 101}, Job{32, 500}, Job{1100, 5500}}) {
    const int64_t leaves = (job.rows + job.leaf - 1) / job.leaf;
    const Floats x = random_values(job.rows * C, 3), a = random_values(job.rows * M, 4), b = random_values(job.rows * N, 5);
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < job.rows; ++i) ids.push_back(i * 7 % 3);
    CAPTURE(job.leaf);
    CAPTURE(job.rows);
    for (const rote::KernelTable<float>* table : all_tables()) {
      CAPTURE(std::string(table->isa));
      const auto rows_of = [&](int64_t first, int64_t count) { return std::min(count * job.leaf, job.rows - first * job.leaf); };
      const auto columns = [&](int64_t first, int64_t count) {
        Floats y(C);
        table->sum_columns(rows_of(first, count), C, job.leaf, x.data() + first * job.leaf * C, y.data());
        return y;
      };
      const auto weights = [&](int64_t first, int64_t count) {
        Floats y(M * N);
        table->gemm({.M = M, .N = N, .K = rows_of(first, count), .a = a.data() + first * job.leaf * M, .a_row = 1, .a_col = M, .b = b.data() + first * job.leaf * N, .b_row = N,
                     .b_col = 1, .c = y.data(), .c_row = N, .leaf = job.leaf});
        return y;
      };
      const auto embeddings = [&](int64_t first, int64_t count) {
        Floats y(3 * C);
        table->embedding_backward(rows_of(first, count), C, 3, job.leaf, -1, ids.data() + first * job.leaf, x.data() + first * job.leaf * C, y.data());
        return y;
      };
      std::mt19937 source(6);
      for (int ranks : {1, 2, 3, 4, 8}) {
        for (int turn = 0; turn < 4; ++turn) {
          const std::vector<int64_t> borders = random_borders(leaves, ranks, source);
          CAPTURE(ranks);
          CHECK(same_bits(over_ranks(borders, columns), columns(0, leaves)));
          CHECK(same_bits(over_ranks(borders, weights), weights(0, leaves)));
          CHECK(same_bits(over_ranks(borders, embeddings), embeddings(0, leaves)));
        }
      }
    }
  }
}

// Two ranks of 5 and 8 leaves that send one total each, as a ring would: most such sums round otherwise.
TEST_CASE("tree law: one total a rank has other bits") {
  int other = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Floats x = random_values(13, seed);
    if (spec_tree(x, 0, 5) + spec_tree(x, 5, 8) != spec_tree(x, 0, 13)) ++other;
  }
  CHECK(other > 20);
}

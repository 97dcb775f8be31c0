// tests/kernels/index_test.cpp — the order in which the gradients of embedding rows are added.
#include <doctest/doctest.h>

#include <string>

#include "tests/kernels/spec.h"

namespace {

using namespace rote::testing;

// The gradient of one element by the definition: chains of the leaves that hold the id, the tree over ALL leaves, missing ones 0.
float spec_gradient(const std::vector<int64_t>& ids, int64_t id, int64_t leaf, int64_t C, int64_t c, const std::vector<float>& dy) {
  const int64_t n = static_cast<int64_t>(ids.size());
  if (leaf == 0) leaf = n;
  std::vector<float> leaves(static_cast<size_t>((n + leaf - 1) / leaf), 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    if (ids[i] == id) leaves[i / leaf] += dy[i * C + c];
  }
  return spec_tree(leaves, 0, leaves.size()) + 0.0f;
}

}  // namespace

TEST_CASE("embedding_backward: chains inside leaves, the tree over all leaves, on each instruction set") {
  std::mt19937 source(5);
  for (int64_t n : {1, 2, 13, 100, 700}) {
    for (int64_t leaf : {0, 1, 3, 8}) {
      for (int64_t C : {1, 20, 64, 100}) {
        const int64_t V = 23;
        std::vector<int64_t> ids(static_cast<size_t>(n));
        for (int64_t& id : ids) id = source() % 4 == 0 ? 7 : static_cast<int64_t>(source() % V);
        const std::vector<float> dy = random_values(n * C, 42);
        std::vector<float> expected(V * C);
        for (int64_t v = 0; v < V; ++v)
          for (int64_t c = 0; c < C; ++c) expected[v * C + c] = v == 2 ? 0.0f : spec_gradient(ids, v, leaf, C, c, dy);
        each_table([&](const rote::KernelTable<float>& table) {
          std::vector<float> got(V * C, 99.0f);
          const uint32_t word = table.embedding_backward(n, C, V, leaf, 2, ids.data(), dy.data(), got.data());
          CAPTURE(std::string(table.isa));
          CAPTURE(n);
          CAPTURE(leaf);
          CHECK(same_bits(got, expected));
          CHECK(word == amax_word(got));
        });
      }
    }
  }
}

TEST_CASE("embedding_backward: halves of a batch, added, give the bits of the whole") {
  const int64_t V = 5, C = 16, leaf = 4, n = 16 * leaf;
  std::vector<int64_t> ids(n);
  for (int64_t i = 0; i < n; ++i) ids[i] = i * i % V;
  const std::vector<float> dy = random_values(n * C, 43);
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> whole(V * C), first(V * C), second(V * C);
    table.embedding_backward(n, C, V, leaf, -1, ids.data(), dy.data(), whole.data());
    table.embedding_backward(n / 2, C, V, leaf, -1, ids.data(), dy.data(), first.data());
    table.embedding_backward(n / 2, C, V, leaf, -1, ids.data() + n / 2, dy.data() + n / 2 * C, second.data());
    for (size_t i = 0; i < whole.size(); ++i) CHECK(same_bits(whole[i], first[i] + second[i]));
  });
}

TEST_CASE("embedding_backward: no id at all writes zeros") {
  each_table([&](const rote::KernelTable<float>& table) {
    std::vector<float> got(6, 99.0f);
    CHECK(table.embedding_backward(0, 2, 3, 1, -1, nullptr, nullptr, got.data()) == 0u);
    CHECK(got == std::vector<float>(6, 0.0f));
  });
}

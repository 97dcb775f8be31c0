// tests/trainer/sampler_test.cpp — the generator and the orders against PyTorch's values.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/check.h"
#include "trainer/data/sampler.h"

using namespace rote;
using namespace rote::data;

namespace {

using Order = std::vector<int64_t>;

Order permutation(int64_t n, uint64_t seed) {
  Mt19937 generator(seed);
  return randperm(n, generator);
}

const Order kLengths = {5, 3, 9, 1, 7, 2, 8, 6, 4, 10};

}  // namespace

TEST_CASE("mt19937: the words of torch 2.15, of the low 32 bits of the seed") {
  for (const uint64_t seed : {uint64_t{42}, (uint64_t{7} << 32) + 42}) {
    Mt19937 generator(seed);
    for (const uint32_t word : {1608637542u, 3421126067u, 4083286876u, 787846414u}) CHECK(generator.next() == word);
  }
  // The 10000th word of seed 5489, which the C++ standard fixes for its own engine.
  Mt19937 generator(5489);
  for (int i = 1; i < 10000; ++i) generator.next();
  CHECK(generator.next() == 4123659995u);
}

TEST_CASE("randperm: torch.randperm(10) of torch 2.15") {
  CHECK(permutation(10, 0) == Order{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  CHECK(permutation(10, 42) == Order{2, 6, 1, 8, 4, 5, 0, 9, 3, 7});
  CHECK(permutation(10, 43) == Order{8, 4, 9, 0, 5, 1, 6, 7, 2, 3});
  CHECK(permutation(0, 1).empty());
  CHECK(permutation(1, 1) == Order{0});
}

TEST_CASE("epoch_order: random takes seed + epoch, sequential takes neither") {
  CHECK(epoch_order({.rows = 10, .base_seed = 42, .epoch = 0}) == permutation(10, 42));
  CHECK(epoch_order({.rows = 10, .base_seed = 42, .epoch = 1}) == permutation(10, 43));
  CHECK(epoch_order({.strategy = SamplingStrategy::sequential, .rows = 3, .base_seed = 42, .epoch = 1}) == Order{0, 1, 2});
}

TEST_CASE("group_by_length: the reference's order, the longest row first") {
  CHECK(epoch_order({.strategy = SamplingStrategy::group_by_length, .rows = 10, .base_seed = 0, .lengths = &kLengths, .block = 2}) ==
        Order{9, 1, 7, 5, 4, 3, 0, 8, 2, 6});
  CHECK(grouped_by_length(permutation(10, 0), kLengths, 4) == Order{9, 7, 1, 5, 4, 0, 8, 3, 2, 6});
}

TEST_CASE("group_by_length: every row once, groups of at most 50 updates sorted by length, another order each epoch") {
  const int64_t rows = 1003, block = 4;
  Order lengths(static_cast<size_t>(rows));
  Mt19937 generator(1);
  for (int64_t& length : lengths) length = 1 + generator.next() % 60;
  const EpochOrder wanted{
      .strategy = SamplingStrategy::group_by_length, .rows = rows, .base_seed = 9, .epoch = 2, .lengths = &lengths, .block = block};
  const Order order = epoch_order(wanted);
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < rows; ++i) CHECK(sorted[static_cast<size_t>(i)] == i);
  CHECK(lengths[static_cast<size_t>(order[0])] == *std::max_element(lengths.begin(), lengths.end()));
  for (size_t i = 2; i < 200; ++i)
    CHECK(lengths[static_cast<size_t>(order[i - 1])] >= lengths[static_cast<size_t>(order[i])]);  // 50 updates of 4 rows
  EpochOrder next = wanted;
  next.epoch = 3;
  CHECK(epoch_order(next) != order);
  CHECK(epoch_order(wanted) == order);
  CHECK_THROWS_WITH_AS(epoch_order({.strategy = SamplingStrategy::group_by_length, .rows = 4, .lengths = &kLengths}),
                       "group_by_length: got 10 lengths for 4 rows; every row needs one.", ArgumentError);
}

// trainer/data/sampler.h — the order in which an epoch visits the rows, and the generator behind it. No data, no batches.
//
// The generator and the orders are PyTorch's, so that one seed sees one order of rows in both. All other randomness of Rote is Philox.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/fields.h"

namespace rote::data {

// batch_rebalance visits rows as random does, in batches of its own (rebalance.h).
enum class SamplingStrategy { random, sequential, group_by_length, batch_rebalance };
inline WordList words_of(SamplingStrategy) { return {"random", "sequential", "group_by_length", "batch_rebalance"}; }

// Whether batches are rebalance.h's, and whether the tokens of all rows are to be known first.
inline bool is_rebalanced(SamplingStrategy strategy) { return strategy == SamplingStrategy::batch_rebalance; }
inline bool is_by_length(SamplingStrategy strategy) { return strategy == SamplingStrategy::group_by_length || is_rebalanced(strategy); }

// Mersenne Twister.  Matsumoto & Nishimura 1998, ACM TOMACS 8(1)
class Mt19937 {
 public:
  // Takes the low 32 bits of `seed`.
  explicit Mt19937(uint64_t seed);
  uint32_t next();

 private:
  void refill();

  std::array<uint32_t, 624> state_;
  size_t at_ = 624;
};

// A permutation of 0 .. n-1.  REQUIRES: 0 <= n < 2^32.
std::vector<int64_t> randperm(int64_t n, Mt19937& generator);

// `order` cut into groups of `group` rows, each sorted by length, longest first, equal ones as they were; the group with the longest row
// then lends its first place to the front, so that the largest batch comes first and memory runs out early or never.
std::vector<int64_t> grouped_by_length(const std::vector<int64_t>& order, const std::vector<int64_t>& lengths, int64_t group);

struct EpochOrder {
  SamplingStrategy strategy = SamplingStrategy::random;
  int64_t rows = 0;
  int64_t base_seed = 0;  // of the run
  int64_t epoch = 0;      // from 0
  // group_by_length: tokens of each row, and the rows of one update (micro-batch times accumulation)
  const std::vector<int64_t>* lengths = nullptr;
  int64_t block = 1;
};

// The rows of one epoch in order. A function of its arguments alone, so that a resumed run finds its place.
// The generator is seeded with base_seed + epoch. group_by_length departs from the reference there, which draws from a global generator and
// so has another order after a resume.  Throws ArgumentError when lengths do not cover the rows.
std::vector<int64_t> epoch_order(const EpochOrder& wanted);

}  // namespace rote::data

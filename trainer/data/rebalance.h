// trainer/data/rebalance.h — the rows of each update cut into micro-batches of like cost: batches of long rows have fewer of them. Lengths and order are
// the caller's: dataset.h, sampler.h.
#pragma once

#include <cstdint>
#include <vector>

namespace rote::data {

struct Rebalance {
  int64_t batch = 1;         // rows of a micro-batch at the mean
  int64_t accumulation = 1;  // micro-batches of an update, on each rank
  int64_t ranks = 1, rank = 0;
  bool drop_last = false;    // leaves out the rows that fill no update

  int64_t update_rows() const { return batch * accumulation * ranks; }
  // Updates of an epoch of so many rows, and the rows that they hold on all ranks: a last update that has fewer rows than micro-batches repeats some.
  int64_t updates(int64_t rows) const;
  int64_t epoch_rows(int64_t rows) const;
};

// The micro-batches of one rank, `accumulation` for each update, in the order of transformers' BatchRebalanceSampler: rows as the update takes them from
// `order`, sorted by length, longest first, are cut into accumulation × ranks groups of like cost b·L + 0.001·b·L² (b rows, the longest L),
// which are dealt out dearest first.  REQUIRES: lengths of every row in `order`.
std::vector<std::vector<int64_t>> rebalanced_batches(const std::vector<int64_t>& order, const std::vector<int64_t>& lengths, const Rebalance& options);

}  // namespace rote::data

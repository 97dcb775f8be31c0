// tests/trainer/rebalance_test.cpp — the batches of transformers 5.24's BatchRebalanceSampler (seed 42, its own run), and training on them.
#include "trainer/data/rebalance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/trainer/listed_stream.h"
#include "tests/trainer/small_run.h"
#include "trainer/data/sampler.h"

namespace rote::testing {

namespace {

using Batches = std::vector<std::vector<int64_t>>;
const std::vector<int64_t> kLengths = {5, 3, 9, 1, 7, 2, 8, 6, 4, 10};

Batches batches(const std::vector<int64_t>& lengths, const data::Rebalance& options, int64_t epoch = 0) {
  const std::vector<int64_t> order = data::epoch_order(
      {.strategy = data::SamplingStrategy::batch_rebalance, .rows = static_cast<int64_t>(lengths.size()), .base_seed = 42, .epoch = epoch});
  return data::rebalanced_batches(order, lengths, options);
}

int64_t rows_of(const Batches& all) {
  int64_t rows = 0;
  for (const auto& batch : all) rows += static_cast<int64_t>(batch.size());
  return rows;
}

}  // namespace

TEST_CASE("rebalanced_batches: the reference's for ten rows: dearest first, short last updates, rows repeated, two ranks") {
  CHECK(batches(kLengths, {.batch = 2, .accumulation = 2, .drop_last = true}) == Batches{{2, 6}, {8, 1}, {9, 4}, {0, 5}});
  CHECK(batches(kLengths, {.batch = 2, .accumulation = 2}) == Batches{{2, 6}, {8, 1}, {9, 4}, {0, 5}, {7}, {3}});
  CHECK(batches(kLengths, {.batch = 3}) == Batches{{2, 6, 1}, {4, 8, 5}, {9, 0, 3}, {7}});
  CHECK(batches(kLengths, {.batch = 1, .accumulation = 4}) == Batches{{2}, {6}, {8}, {1}, {9}, {4}, {0}, {5}, {2}, {6}, {7}, {3}});
  CHECK(batches(kLengths, {.batch = 2, .ranks = 2}) == Batches{{2, 6}, {9, 4}, {7}});
  CHECK(batches(kLengths, {.batch = 2, .ranks = 2, .rank = 1}) == Batches{{8, 1}, {0, 5}, {3}});
  CHECK(batches(kLengths, {.batch = 4, .accumulation = 4}) == Batches{{9, 2}, {6, 4}, {8, 1, 5, 3}, {7, 0}});
}

TEST_CASE("rebalanced_batches: the reference's for 997 rows of very different lengths, by a hash of rows and sizes") {
  std::vector<int64_t> lengths;
  int64_t x = 1;
  for (int64_t i = 0; i < 997; ++i) {
    x = (x * 1103515245 + 12345) % (int64_t{1} << 31);
    lengths.push_back(1 + (x >> 8) % (i % 3 ? 500 : 20));
  }
  struct Row {
    data::Rebalance options;
    size_t batches;
    int64_t rows, hash;
  };
  const Row table[] = {
      {{.batch = 8, .accumulation = 4}, 128, 997, 512319519},
      {{.batch = 4, .accumulation = 8, .ranks = 2}, 128, 465, 61885335},
      {{.batch = 4, .accumulation = 8, .ranks = 2, .rank = 1, .drop_last = true}, 120, 509, 945655744},
      {{.batch = 16, .accumulation = 2, .ranks = 4, .rank = 3}, 16, 195, 876957065},
      {{.batch = 1, .accumulation = 3, .ranks = 4, .rank = 2}, 252, 252, 643555498},
  };
  for (const Row& row : table) {
    CAPTURE(row.hash);
    const Batches all = batches(lengths, row.options, 3);
    int64_t hash = 0;
    for (const auto& batch : all) {
      hash = (hash * 31 + static_cast<int64_t>(batch.size())) % 1000000007;
      for (const int64_t i : batch) hash = (hash * 31 + i) % 1000000007;
    }
    CHECK(all.size() == row.batches);
    CHECK(static_cast<int64_t>(all.size()) == row.options.updates(997) * row.options.accumulation);
    CHECK(rows_of(all) == row.rows);
    CHECK(hash == row.hash);
  }
}

TEST_CASE("rebalanced_batches: rows of one length are cut evenly, each once; costs come nearer to each other than even cuts'") {
  const Batches even = batches(std::vector<int64_t>(24, 7), {.batch = 3, .accumulation = 4});
  for (const auto& batch : even) CHECK(batch.size() == 3);
  CHECK(rows_of(even) == 24);
  const std::vector<int64_t> lengths = {100, 90, 80, 10, 10, 10, 9, 9, 9, 8, 8, 8};
  int64_t dearest = 0, cheapest = std::numeric_limits<int64_t>::max();
  for (const auto& batch : batches(lengths, {.batch = 3, .accumulation = 4})) {
    const int64_t cost = static_cast<int64_t>(batch.size()) * lengths[static_cast<size_t>(batch[0])];
    dearest = std::max(dearest, cost);
    cheapest = std::min(cheapest, cost);
  }
  CHECK(dearest == 100);  // against 300 of three rows each
  CHECK(cheapest >= 40);
}

TEST_CASE("train: batch_rebalance makes its updates, and resumed from each of them ends with the same bits") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = 2;
  args.gradient_accumulation_steps = 3;
  args.num_train_epochs = 2;
  args.train_sampling_strategy = data::SamplingStrategy::batch_rebalance;
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 1;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  SmallRun whole(args, {.rows = 14});  // updates of 6, 6 and 2 rows, of which one is repeated
  CHECK(said_by([&] { CHECK(whole.train().global_step == 6); }).find("batch_rebalance cuts an update into micro-batches of unlike size: the bits of this run are those of this split alone\n") !=
        std::string::npos);
  CHECK(number_at(whole.trainer->state().log_history[1], "epoch") == 6.0 / 9);
  for (int64_t step = 1; step < 6; ++step) {
    const TempFolder elsewhere;
    args.output_dir = elsewhere.path();
    SmallRun rest(args, {.rows = 14});
    rest.train(str(folder.path(), "/checkpoint-", step));
    CHECK(rest.hash() == whole.hash());
  }
  struct Longer : Trainer {
    using Trainer::Trainer;
    std::vector<int64_t> train_order(int64_t epoch) const override {
      std::vector<int64_t> order = Trainer::train_order(epoch);
      order.insert(order.end(), {3, 1, 2});  // beyond the epoch
      return order;
    }
  };
  args.save_strategy = SaveStrategy::no;
  const auto model = small_classifier();
  Longer longer(*model, args, {.train_dataset = &whole.rows, .data_collator = pad});
  SmallRun::silence(longer);
  longer.train();
  CHECK(hash_tensors(nn::state_dict(*model)) == whole.hash());
  args.auto_find_batch_size = true;
  CHECK_THROWS_WITH_AS(SmallRun{args}, "auto_find_batch_size: the batches of --train_sampling_strategy batch_rebalance have no one size to be halved; give one of the two.", ArgumentError);
}

}  // namespace rote::testing

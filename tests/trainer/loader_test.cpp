// tests/trainer/loader_test.cpp — batches in order whatever the threads, faults in their place, stops without a wait; whole runs with threads.
#include "trainer/data/loader.h"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "tests/trainer/listed_stream.h"
#include "tests/trainer/small_run.h"
#include "trainer/data/language_collate.h"

namespace rote::testing {

namespace {

using data::BatchRows;
using data::Loader;

// A batch that holds its rows' sum and the row from which on it counts.
nn::Batch summed(const BatchRows& rows) {
  int64_t sum = 0;
  for (const int64_t row : rows.rows) sum += row;
  nn::Batch batch;
  batch.set("x", from_values({2}, std::vector<int64_t>{sum, rows.first}));
  return batch;
}

std::vector<std::vector<int64_t>> cut(int64_t rows, int64_t size) {
  std::vector<std::vector<int64_t>> out;
  for (int64_t first = 0; first < rows; first += size) {
    out.emplace_back();
    for (int64_t row = first; row < std::min(first + size, rows); ++row) out.back().push_back(row);
  }
  return out;
}

std::vector<int64_t> all_of(Loader& loader) {
  std::vector<int64_t> out;
  while (loader.has_next()) {
    const Loader::Loaded loaded = loader.next();
    out.insert(out.end(), {static_cast<int64_t>(loaded.rows.size()), loaded.batch["x"].data<int64_t>()[0], loaded.batch["x"].data<int64_t>()[1]});
  }
  CHECK_FALSE(loader.has_next());
  return out;
}

}  // namespace

TEST_CASE("Loader: the same batches in the same order for any number of threads and of batches ahead") {
  Loader plain(data::in_order(cut(1000, 3)), summed);
  const std::vector<int64_t> expected = all_of(plain);
  CHECK(expected.size() == 334 * 3);
  for (const int64_t workers : {1, 2, 8})
    for (const int64_t ahead : {1, 2, 50}) {
      Loader loader(data::in_order(cut(1000, 3)), summed, {.num_workers = workers, .prefetch_factor = ahead});
      CHECK(all_of(loader) == expected);
    }
  Loader counted(data::in_order(10, 4), summed), none(data::in_order(0, 4), summed, {.num_workers = 2});
  CHECK(all_of(counted) == std::vector<int64_t>{4, 6, 0, 4, 22, 4, 2, 17, 8});
  CHECK_FALSE(none.has_next());
}

TEST_CASE("Loader: a stream is read by one thread at a time, in order, short batches and drop_last included") {
  for (const int64_t workers : {0, 3})
    for (const bool drop_last : {false, true}) {
      std::vector<data::Example> rows(11);
      ListedStream stream((data::ListDataset(rows)));
      stream.restart(0);
      Loader loader(data::in_order(stream, {.batch = 4, .first = 100, .drop_last = drop_last}), summed, {.num_workers = workers});
      std::vector<int64_t> expected = {4, 406, 0, 4, 422, 4};
      if (!drop_last) expected.insert(expected.end(), {3, 327, 8});
      CHECK(all_of(loader) == expected);
    }
}

TEST_CASE("Loader: no more batches are made ahead than was asked for, and none without a call for it") {
  std::atomic<int> made = 0;
  const auto count = [&](BatchRows& rows) {
    ++made;
    return summed(rows);
  };
  {
    Loader lazy(data::in_order(100, 1), count);
    CHECK(lazy.has_next());
    CHECK(made == 0);
    lazy.next();
    CHECK(made == 1);
  }
  made = 0;
  {
    Loader eager(data::in_order(100, 1), count, {.num_workers = 2, .prefetch_factor = 3});
    for (int i = 0; i < 50; ++i) eager.next();
    CHECK(made <= 50 + 6);
  }  // stopped in the middle
  CHECK(made <= 50 + 6);
  CHECK(made >= 50);
}

TEST_CASE("Loader: what reading or making throws comes out at its batch, those before it whole") {
  for (const int64_t workers : {0, 1, 4})
    for (const bool in_reading : {false, true}) {
      CAPTURE(workers);
      CAPTURE(in_reading);
      const auto next = [inner = data::in_order(100, 1), in_reading, read = 0]() mutable {
        ROTE_CHECK(!in_reading || read++ != 7, IoError, "read: broken.");
        return inner();
      };
      const auto make = [&](BatchRows& rows) {
        ROTE_CHECK(in_reading || rows.rows[0] != 7, MemoryError, "made: broken.");
        return summed(rows);
      };
      Loader loader(next, make, {.num_workers = workers, .prefetch_factor = 4});
      for (int64_t i = 0; i < 7; ++i) CHECK(loader.next().rows[0] == i);
      CHECK(loader.has_next());
      if (in_reading) CHECK_THROWS_WITH_AS(loader.next(), "read: broken.", IoError);
      else CHECK_THROWS_WITH_AS(loader.next(), "made: broken.", MemoryError);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these keep more of the address space than such a limit leaves
TEST_CASE("Loader: where the system gives no more threads, those that there are end and one sentence says so") {
  std::ifstream sizes("/proc/self/statm");
  rlim_t pages = 0;
  sizes >> pages;
  REQUIRE(pages > 0);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const auto next = [row = int64_t{0}]() mutable { return std::optional(BatchRows{.rows = {row++}}); };  // without an end
  std::string text;
  rlimit little = before;
  little.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{100} << 20);  // of some stacks
  REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
  try {
    const Loader loader(next, summed, {.num_workers = 1000, .prefetch_factor = 1});
  } catch (const ArgumentError& fault) {
    text = fault.text;
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(text.starts_with("dataloader_num_workers: the system gives no thread beyond "));
  CHECK(text.ends_with("; give fewer."));
}
#endif

TEST_CASE("train: loader threads change no bit: masks, dropout, logs, evaluations, early stops, streams") {
  const auto trained = [](int64_t workers, bool streams) {
    const TempFolder folder;
    TrainingArguments args = quiet_args(folder.path());
    args.num_train_epochs = 3;
    args.max_steps = streams ? 12 : -1;
    args.gradient_accumulation_steps = 2;
    args.per_device_eval_batch_size = 2;
    args.eval_strategy = IntervalStrategy::steps;
    args.eval_steps = 2;
    args.logging_strategy = IntervalStrategy::steps;
    args.logging_steps = 1;
    args.dataloader_num_workers = workers;
    if (workers > 0) args.dataloader_prefetch_factor = 3;
    manual_seed(7);
    auto config = small_bert();
    SmallRunOptions options;
    options.model = std::make_unique<nn::BertForMaskedLM>(config);
    options.trainer.data_collator = data::LanguageModelingCollator(data::PadOptions{}, data::MaskTokens{1, config->vocab_size, {}}, {.mlm_probability = 0.5});
    ListedStream stream(small_rows(13));
    if (streams) options.trainer.train_dataset = &stream;
    options.rows = 13;
    SmallRun run(args, std::move(options));
    run.trainer->on(Event::step_end, [](const TrainerState& state, TrainerControl& control) { control.should_epoch_stop = state.global_step == 6; });
    run.train();
    return std::pair(run.hash(), timeless(run.trainer->state().log_history));
  };
  for (const bool streams : {false, true}) {
    const auto expected = trained(0, streams);
    for (const int64_t workers : {1, 4}) CHECK(trained(workers, streams) == expected);
  }
}

TEST_CASE("train: a collator that throws on another thread ends the run at the batch it was given") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.dataloader_num_workers = 2;
  SmallRunOptions options;
  options.trainer.data_collator = [](const std::vector<data::Example>& rows) {
    for (const data::Example& row : rows) ROTE_CHECK(data::find(row, "input_ids")->length() < 9, ArgumentError, "collate: a row of nine.");
    return pad(rows);
  };
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  SmallRun run(args, std::move(options));
  CHECK_THROWS_WITH_AS(run.train(), "collate: a row of nine.", ArgumentError);
  CHECK(run.trainer->state().global_step == 2);  // row 4 is of nine
}

}  // namespace rote::testing

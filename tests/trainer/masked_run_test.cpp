// tests/trainer/masked_run_test.cpp — training on masks that are drawn while it runs: split, threads, length grouping and resumes move no bit.
#include <doctest/doctest.h>

#include <set>

#include "tests/trainer/small_run.h"
#include "trainer/data/language_collate.h"

namespace rote::testing {

namespace {

// Ids 0 to 3 are special, 3 is the mask; rows of 5 to 17 ids without labels.
data::ListDataset masked_rows(int64_t n) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> ids = {1};
    for (int64_t j = 0; j < 3 + (i * 5) % 13; ++j) ids.push_back(4 + (i * 11 + j * (i % 3 + 1)) % 27);
    ids.push_back(2);
    rows.push_back({{"input_ids", data::Feature::list(std::move(ids))}});
  }
  return data::ListDataset(std::move(rows));
}

data::LanguageModelingCollator masking(int64_t multiple = 1) {
  return data::LanguageModelingCollator(data::PadOptions{}, {3, 31, {0, 1, 2, 3}}, {.mlm_probability = 0.3, .pad_to_multiple_of = multiple});
}

struct Options {
  data::Collator collator = masking();
  int64_t threads = 2;
  std::string resume = {};
  int64_t rows = 16;
};

struct Result {
  std::string hash;
  std::vector<Logs> history;
};

Result run(const TrainingArguments& args, const Options& options = {}) {
  const data::ListDataset rows = masked_rows(options.rows), eval_rows = masked_rows(7);
  manual_seed(7);
  SmallRunOptions small{.model = std::make_unique<nn::BertForMaskedLM>(small_bert())};
  small.trainer = {.train_dataset = &rows, .eval_dataset = &eval_rows, .data_collator = options.collator};
  small.trainer.rote.num_threads = options.threads;
  SmallRun run(args, std::move(small));
  run.train(options.resume);
  return {run.hash(), timeless(run.trainer->state().log_history)};
}

TrainingArguments masked_args(const std::string& folder, int64_t rows, int64_t accumulation = 1) {
  TrainingArguments args = quiet_args(folder);
  args.per_device_train_batch_size = rows;
  args.gradient_accumulation_steps = accumulation;
  args.num_train_epochs = 2;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  return args;
}

}  // namespace

TEST_CASE("masked run: 1 x 8, 2 x 4 and 8 x 1 rows, any threads and wider padding give one result") {
  const TempFolder folder;
  const Result whole = run(masked_args(folder.path(), 8), {.threads = 1});
  for (const int64_t micro : {8, 4, 2, 1}) {
    CAPTURE(micro);
    const Result split = run(masked_args(folder.path(), micro, 8 / micro), {.threads = 1 + micro % 3});
    CHECK(split.hash == whole.hash);
    for (size_t i = 0; i < whole.history.size() && i < 4; ++i) CHECK(number_at(split.history[i], "loss") == doctest::Approx(number_at(whole.history[i], "loss")).epsilon(1e-6));
  }
  CHECK(run(masked_args(folder.path(), 8), {.collator = masking(16)}).hash == whole.hash);
  TrainingArguments other = masked_args(folder.path(), 8);
  other.seed = 43;
  other.data_seed = 42;
  CHECK(run(other).hash != whole.hash);
}

TEST_CASE("masked run: a resume from any update, in the middle of an epoch, with rows grouped by length, gives the bits of the whole run") {
  const TempFolder folder;
  TrainingArguments args = masked_args(folder.path(), 2, 2);
  args.train_sampling_strategy = data::SamplingStrategy::group_by_length;
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 1;
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 3;
  const Result whole = run(args);
  const auto folders = checkpoints_in(folder.path());
  REQUIRE(folders.size() == 8);
  for (const auto& checkpoint : folders) {
    CAPTURE(checkpoint.string());
    const TempFolder elsewhere;
    TrainingArguments again = args;
    again.output_dir = elsewhere.path();
    CHECK(run(again, {.threads = 1 + checkpoint_step(checkpoint) % 3, .resume = checkpoint.string()}).hash == whole.hash);
  }
}

TEST_CASE("masked run: an epoch masks anew, an evaluation masks as the one before") {
  const TempFolder folder;
  TrainingArguments args = masked_args(folder.path(), 8);
  args.learning_rate = 0;
  args.train_sampling_strategy = data::SamplingStrategy::sequential;
  args.eval_strategy = IntervalStrategy::epoch;
  // Dropout off: with weights at rest, only the masks tell one epoch from another.
  auto config = small_bert();
  config->hidden_dropout_prob = config->attention_probs_dropout_prob = 0;
  const data::ListDataset rows = masked_rows(16), eval_rows = masked_rows(7);
  SmallRunOptions small{.model = std::make_unique<nn::BertForMaskedLM>(config)};
  small.trainer = {.train_dataset = &rows, .eval_dataset = &eval_rows, .data_collator = masking()};
  SmallRun run(args, std::move(small));
  run.train();
  std::set<double> losses, evaluations;
  for (const Logs& entry : run.trainer->state().log_history) {
    double value = 0;
    if (const Value* loss = entry.find("loss"); loss != nullptr && loss->number(value)) losses.insert(value);
    if (const Value* loss = entry.find("eval_loss"); loss != nullptr && loss->number(value)) evaluations.insert(value);
  }
  CHECK(losses.size() == 4);
  CHECK(evaluations.size() == 1);
}

}  // namespace rote::testing

// tests/trainer/stream_test.cpp — the shuffle buffer; training, resuming and evaluating on rows whose number is not known.
#include "trainer/data/stream.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/trainer/listed_stream.h"
#include "tests/trainer/small_run.h"
#include "trainer/checkpoint.h"
#include "trainer/text_forms.h"

namespace rote::testing {

namespace {

data::ListDataset numbered(int64_t n) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back({{"x", data::Feature::single(i)}});
  return data::ListDataset(std::move(rows));
}

std::vector<int64_t> pass_of(data::Stream& stream, int64_t epoch) {
  std::vector<int64_t> out;
  stream.restart(epoch);
  while (const std::optional<data::Example> row = stream.next()) out.push_back(data::find(*row, "x")->whole[0]);
  return out;
}

// `updates` updates on a stream of n rows.
TrainingArguments stream_args(const std::string& folder, int64_t updates) {
  TrainingArguments args = quiet_args(folder);
  args.max_steps = updates;
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  return args;
}

struct StreamRun {
  ListedStream stream;
  SmallRun run;

  StreamRun(const TrainingArguments& args, int64_t rows) : stream(small_rows(rows)), run(args, options(stream)) {}
  static SmallRunOptions options(data::Stream& stream) {
    SmallRunOptions options;
    options.trainer.train_dataset = &stream;
    return options;
  }
};

}  // namespace

TEST_CASE("ShuffledStream: every row once, by the seed and the pass, none further ahead than the buffer reaches") {
  ListedStream plain(numbered(100));
  data::ShuffledStream shuffled(plain, 10, 42);
  const std::vector<int64_t> first = pass_of(shuffled, 0), second = pass_of(shuffled, 1);
  CHECK(pass_of(shuffled, 0) == first);
  CHECK(first != second);
  CHECK(std::set<int64_t>(first.begin(), first.end()).size() == 100);
  CHECK(!std::is_sorted(first.begin(), first.end()));
  for (int64_t i = 0; i < 100; ++i) CHECK(first[static_cast<size_t>(i)] < i + 10);
  data::ShuffledStream other(plain, 10, 43), none(plain, 1, 42), all(plain, 1000, 42);
  CHECK(pass_of(other, 0) != first);
  const std::vector<int64_t> unshuffled = pass_of(none, 0);
  CHECK(std::is_sorted(unshuffled.begin(), unshuffled.end()));
  CHECK(pass_of(all, 0).size() == 100);
  CHECK(plain.passes == std::vector<int64_t>{0, 1, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(data::ShuffledStream(plain, 0, 1), "shuffle_buffer_size: is 0; it must be at least 1 row and below 2^31.", ArgumentError);
}

TEST_CASE("stream: an order that is uniform over the first places") {
  ListedStream plain(numbered(4));
  data::ShuffledStream shuffled(plain, 4, 1);
  std::vector<int> counts(16);
  for (int64_t epoch = 0; epoch < 4000; ++epoch) {
    const std::vector<int64_t> order = pass_of(shuffled, epoch);
    for (size_t place = 0; place < 4; ++place) ++counts[place * 4 + static_cast<size_t>(order[place])];
  }
  for (const int count : counts) CHECK(std::abs(count - 1000) < 140);  // five standard deviations
}

TEST_CASE("stream: consecutive slices, epochs as shares of the run, and the same bits as those rows from a list") {
  const TempFolder folder;
  const TrainingArguments args = stream_args(folder.path(), 5);
  StreamRun streamed(args, 10);
  const TrainOutput output = streamed.run.train();
  CHECK(output.global_step == 5);
  TrainingArguments listed_args = args;
  listed_args.train_sampling_strategy = data::SamplingStrategy::sequential;
  SmallRun listed(listed_args);
  listed.train();
  CHECK(streamed.run.hash() == listed.hash());
  const TrainerState& state = streamed.run.trainer->state();
  CHECK(state.max_steps == 5);
  CHECK(state.num_train_epochs == std::numeric_limits<int64_t>::max());
  for (size_t i = 0; i < 5; ++i) CHECK(number_at(state.log_history[i], "epoch") == static_cast<double>(i + 1) / 5);
  CHECK(streamed.stream.passes == std::vector<int64_t>{0});
}

TEST_CASE("stream: 1x8, 2x4, 4x2 and 8x1 give the same bits, a short last window too") {
  const TempFolder folder;
  std::set<std::string> hashes;
  for (const int64_t batch : {8, 4, 2, 1}) {
    TrainingArguments args = stream_args(folder.path(), 7);
    args.per_device_train_batch_size = batch;
    args.gradient_accumulation_steps = 8 / batch;
    StreamRun streamed(args, 21);  // windows of 8, 8 and 5 rows
    streamed.run.train();
    CHECK(streamed.stream.passes == std::vector<int64_t>{0, 1, 2});
    const std::vector<Logs>& history = streamed.run.trainer->state().log_history;
    CHECK(number_at(history[1], "epoch") == 2.0 / 7);
    CHECK(number_at(history[3], "epoch") == 1 + 1.0 / 7);
    hashes.insert(streamed.run.hash());
  }
  CHECK(hashes.size() == 1);
}

TEST_CASE("stream: resumed from every step, in the middle and at the end of a pass, it ends with the same bits and the same log") {
  for (const bool drop_last : {false, true}) {
    CAPTURE(drop_last);
    const TempFolder folder;
    TrainingArguments args = stream_args(folder.path(), 8);
    args.gradient_accumulation_steps = 2;
    args.dataloader_drop_last = drop_last;
    args.save_strategy = SaveStrategy::steps;
    args.save_steps = 1;
    StreamRun whole(args, 11);  // windows of 4, 4 and 3 rows, or with drop_last 4, 4, 2
    whole.run.train();
    for (int64_t step = 1; step < 8; ++step) {
      CAPTURE(step);
      const TempFolder elsewhere;
      TrainingArguments rest_args = args;
      rest_args.output_dir = elsewhere.path();
      StreamRun rest(rest_args, 11);
      rest.run.train(str(folder.path(), "/checkpoint-", step));
      CHECK(rest.run.hash() == whole.run.hash());
      std::vector<Logs> ours = timeless(rest.run.trainer->state().log_history), all = timeless(whole.run.trainer->state().log_history);
      for (std::vector<Logs>* history : {&ours, &all})
        for (Logs& entry : *history) entry.sort_by_name();  // as a file does
      REQUIRE(ours.size() == all.size());
      for (size_t i = 0; i + 1 < all.size(); ++i) CHECK(ours[i] == all[i]);  // the last are the sums of each call
    }
  }
}

TEST_CASE("stream: saved at the end of an epoch that the run's length cuts short, it goes on behind the rows of that pass") {
  const TempFolder folder, elsewhere;
  TrainingArguments args = stream_args(folder.path(), 12);
  args.lr_scheduler_type = "constant";  // others follow the run's length
  StreamRun whole(args, 10);  // five updates a pass
  whole.run.train();
  args.output_dir = elsewhere.path();
  args.save_strategy = SaveStrategy::epoch;
  for (const int64_t updates : {2, 5, 8, 12}) {
    CAPTURE(updates);
    const std::vector<std::filesystem::path> before = checkpoints_in(elsewhere.path());
    args.max_steps = updates;
    StreamRun part(args, 10);
    part.run.train(before.empty() ? "" : before.back().string());
    REQUIRE(std::filesystem::exists(elsewhere.path() + str("/checkpoint-", updates)));
    if (updates == 12) CHECK(part.run.hash() == whole.run.hash());
  }
}

TEST_CASE("stream: a checkpoint of the model alone goes on behind the rows of its updates") {
  const TempFolder folder;
  TrainingArguments args = stream_args(folder.path(), 5);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 5;
  args.save_only_model = true;
  StreamRun first(args, 7);  // four updates a pass: the fifth is the first of the second pass
  first.run.train();
  args.max_steps = 6;
  StreamRun rest(args, 7);
  rest.run.train(folder.path() + "/checkpoint-5");
  CHECK(rest.stream.passes == std::vector<int64_t>{0, 1, 1});  // read up to there, then dropped once more
  CHECK(number_at(rest.run.trainer->state().log_history.back(), "epoch") == 1 + 2.0 / 6);
}

TEST_CASE("stream: what cannot be is refused before a folder is made, a changed stream where it shows") {
  const TempFolder folder;
  const std::string out = folder.path() + "/out";
  const auto refused = [&](const TrainingArguments& args) {
    try {
      StreamRun(args, 4);
    } catch (const ArgumentError& fault) {
      return fault.text;
    }
    return std::string();
  };
  CHECK(refused(quiet_args(out)) == "max_steps: is -1, but the train_dataset is a stream, whose length is not known; give --max_steps.");
  TrainingArguments args = stream_args(out, 4);
  args.train_sampling_strategy = data::SamplingStrategy::group_by_length;
  CHECK(refused(args) == "train_sampling_strategy: group_by_length needs the lengths of all rows, which a stream does not give; leave it out.");
  args.train_sampling_strategy = data::SamplingStrategy::random;
  ListedStream both(small_rows(4));
  const auto model = small_classifier();
  CHECK_THROWS_WITH_AS(Trainer(*model, args, {.train_dataset = &both, .eval_dataset = &both}),
                       "Trainer: one stream is given to train on and to evaluate on, which would begin it anew; give two.", ArgumentError);
  CHECK_FALSE(std::filesystem::exists(out));

  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 3;
  StreamRun(args, 8).run.train();
  StreamRun shorter(args, 5);
  CHECK_THROWS_WITH_AS(shorter.run.train(out + "/checkpoint-3"),
                       "train_dataset: pass 1 of the stream ends after 5 rows, but the run stands behind row 6 of it; give the stream that it began with.", StateError);
  SmallRun listed(args);
  CHECK_THROWS_WITH_AS(listed.train(out + "/checkpoint-3"), (str("resume_from_checkpoint: ", out, "/checkpoint-3 was written with epochs of a stream, this run has 10; give the same rows, or --ignore_data_skip.")).c_str(), StateError);
}

TEST_CASE("stream: what is trained on is not evaluated on meanwhile, but may be before and after") {
  const TempFolder folder;
  StreamRun streamed(stream_args(folder.path(), 3), 6);
  Trainer& trainer = *streamed.run.trainer;
  bool asks = true;
  trainer.on(Event::step_end, [&](const TrainerState&, TrainerControl&) {
    if (asks) trainer.evaluate(&streamed.stream);
  });
  CHECK(number_at(trainer.evaluate(&streamed.stream), "eval_loss") > 0);
  CHECK_THROWS_WITH_AS(trainer.train(), "eval: the dataset is the stream that is trained on, which would begin anew in the middle of a pass; give another stream of the same rows.",
                       ArgumentError);
  CHECK(number_at(trainer.evaluate(&streamed.stream), "eval_loss") > 0);
  asks = false;
  trainer.train();
  CHECK(number_at(trainer.evaluate(&streamed.stream), "eval_loss") > 0);
}

TEST_CASE("stream: another shuffle buffer or file than the checkpoint's is refused, but for --ignore_data_skip") {
  struct Named : ListedStream {
    using ListedStream::ListedStream;
    std::string fingerprint() const override { return "rows of " + name; }
    std::string name;
  };
  const TempFolder folder;
  TrainingArguments args = stream_args(folder.path(), 3);
  args.save_strategy = SaveStrategy::steps;
  args.save_steps = 3;
  const auto train = [&](const std::string& name, int64_t buffer, const std::string& from) {
    Named rows(small_rows(20));
    rows.name = name;
    data::ShuffledStream shuffled(rows, buffer, 42);
    SmallRun(args, StreamRun::options(shuffled)).train(from);
  };
  train("a", 4, "");
  const std::string from = folder.path() + "/checkpoint-3", saved = str("resume_from_checkpoint: ", from, " was written with the stream \"rows of a, shuffled among 4\", this run has \""),
                    advice = "\"; give the same file and --shuffle_buffer_size, or --ignore_data_skip.";
  args.max_steps = 4;
  CHECK_THROWS_WITH_AS(train("a", 5, from), (saved + "rows of a, shuffled among 5" + advice).c_str(), StateError);
  CHECK_THROWS_WITH_AS(train("b", 4, from), (saved + "rows of b, shuffled among 4" + advice).c_str(), StateError);
  StreamRun plain(args, 20);
  CHECK_THROWS_WITH_AS(plain.run.train(from), (saved + advice).c_str(), StateError);
  CHECK_NOTHROW(train("a", 4, from));
  args.ignore_data_skip = true;
  CHECK_NOTHROW(train("b", 5, from));
}

TEST_CASE("stream: a batch size that memory refuses is halved from the same row on") {
  struct Limited : Trainer {
    using Trainer::Trainer;
    double training_step(nn::Model& m, const nn::Batch& batch) override {
      ROTE_CHECK(batch["input_ids"].size(0) <= 2 || state().global_step < 1, MemoryError, "allocate: two rows fit.");
      return Trainer::training_step(m, batch);
    }
  };
  const TempFolder folder;
  TrainingArguments args = stream_args(folder.path(), 5);
  args.per_device_train_batch_size = 4;
  args.auto_find_batch_size = true;
  const auto trained = [&](auto tag) {
    const auto model = small_classifier();
    ListedStream stream(small_rows(11));
    typename decltype(tag)::type trainer(*model, args, {.train_dataset = &stream, .data_collator = pad});
    SmallRun::silence(trainer);
    trainer.train();
    return std::pair(hash_tensors(nn::state_dict(*model)), trainer.state().epoch);
  };
  CHECK(trained(std::type_identity<Limited>()) == trained(std::type_identity<Trainer>()));
}

TEST_CASE("stream: evaluated and predicted as a list of the same rows, its batches counted as they come") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_eval_batch_size = 3;
  SmallRunOptions options;
  options.trainer.compute_metrics = [](const EvalPrediction& p) { return Metrics{{"rows", p.label_ids.numel()}}; };
  SmallRun run(args, std::move(options));
  std::optional<int64_t> batches = -1;
  run.trainer->on(Event::prediction_step, [&](const CallbackContext& context, TrainerControl&) { batches = context.eval_batches; });
  ListedStream stream(small_rows(10));
  const Metrics listed = run.trainer->evaluate(&run.rows);
  CHECK(batches == 4);
  for (int i = 0; i < 2; ++i) {
    const Metrics streamed = run.trainer->evaluate(&stream);
    CHECK_FALSE(batches.has_value());
    CHECK(number_at(streamed, "eval_loss") == number_at(listed, "eval_loss"));
    CHECK(number_at(streamed, "eval_rows") == 10);
  }
  const PredictionOutput a = run.trainer->predict(run.rows), b = run.trainer->predict(stream);
  CHECK(b.num_samples == 10);
  CHECK(hash_tensors({{"logits", a.predictions[0]}}) == hash_tensors({{"logits", b.predictions[0]}}));
  CHECK(stream.passes == std::vector<int64_t>{0, 0, 0});
  ListedStream nothing(small_rows(0));
  CHECK_THROWS_WITH_AS(run.trainer->evaluate(&nothing), "eval: the dataset has no rows; it needs at least one.", ArgumentError);
}

TEST_CASE("stream: metrics by batch are told which is the last") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_eval_batch_size = 5;
  args.batch_eval_metrics = true;
  std::vector<bool> last;
  SmallRunOptions options;
  options.trainer.compute_batch_metrics = [&](const EvalPrediction&, bool compute_result) {
    last.push_back(compute_result);
    return Metrics{{"n", static_cast<int64_t>(last.size())}};
  };
  SmallRun run(args, std::move(options));
  ListedStream stream(small_rows(10));
  CHECK(number_at(run.trainer->evaluate(&stream), "eval_n") == 2);
  CHECK(last == std::vector<bool>{false, true});
}

}  // namespace rote::testing

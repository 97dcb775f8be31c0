// tests/trainer/seq2seq_test.cpp — evaluation that writes: what a row of predictions holds, whose settings count, how all is padded, and what is refused.
#include "trainer/seq2seq.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "nn/generate.h"
#include "nn/models/t5.h"
#include "tensor/file.h"
#include "tensor/generator.h"
#include "tests/nn/small_writers.h"
#include "tests/trainer/small_run.h"
#include "trainer/data/seq2seq_collate.h"

namespace rote::testing {

namespace {

std::unique_ptr<nn::Model> small_t5() {
  const auto config = small_t5_config();
  config->dropout_rate = 0;
  manual_seed(6);
  auto model = std::make_unique<nn::T5ForConditionalGeneration>(config);
  model->eval();
  return model;
}

data::ListDataset pairs(int64_t n, bool with_labels = true) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> ids, labels;
    for (int64_t j = 0; j < 3 + (i * 5) % 4; ++j) ids.push_back(2 + (i * 11 + j * (i % 3 + 1)) % 29);
    for (int64_t j = 0; j < 2 + (i * 3) % 5; ++j) labels.push_back(2 + (i * 7 + j) % 29);
    labels.push_back(1);
    data::Example row = {{"input_ids", data::Feature::list(std::move(ids))}};
    if (with_labels) row.emplace_back("labels", data::Feature::list(std::move(labels)));
    rows.push_back(std::move(row));
  }
  return data::ListDataset(std::move(rows));
}

struct Written {
  TempFolder folder;
  std::unique_ptr<nn::Model> model = small_t5();
  data::ListDataset rows = pairs(5);
  int64_t metric_calls = 0;

  Seq2SeqTrainingArguments args() const {
    Seq2SeqTrainingArguments a;
    a.output_dir = folder.file("out");
    a.per_device_eval_batch_size = 2;
    a.disable_tqdm = true;
    a.predict_with_generate = true;
    return a;
  }
  std::unique_ptr<Seq2SeqTrainer> trainer(const Seq2SeqTrainingArguments& args, bool with_metrics = true) {
    TrainerOptions options{.train_dataset = &rows, .eval_dataset = &rows, .data_collator = data::Seq2SeqCollator(data::PadOptions{})};
    if (with_metrics)
      options.compute_metrics = [this](const EvalPrediction& p) {
        ++metric_calls;
        return Metrics{{"width", p.predictions.at(0).size(1)}, {"label_width", p.label_ids.size(1)}};
      };
    auto made = std::make_unique<Seq2SeqTrainer>(*model, args, std::move(options));
    made->remove_callback<PrinterCallback>();
    return made;
  }
};

int64_t number(const Metrics& metrics, const std::string& name) { return *metrics.find(name)->as_int(); }

std::vector<int64_t> row_of(const Tensor& x, int64_t row) { return {x.data<int64_t>() + row * x.size(1), x.data<int64_t>() + (row + 1) * x.size(1)}; }

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("generated rows: start, tokens, the first end, then -100, whatever else the batch holds") {
  const auto model = small_t5();
  nn::Batch batch = data::Seq2SeqCollator(data::PadOptions{})({pairs(3).at(0), pairs(3).at(1), pairs(3).at(2)});
  nn::GenerationConfig settings{.max_new_tokens = 6};
  const Tensor free = generated_rows(*model, batch, settings);
  CHECK(free.size(1) == 7);
  const std::vector<int64_t> ends = {row_of(free, 0)[3], 0};  // the start token is an end token as well
  settings.eos_token_id = ends;
  const Tensor ended = generated_rows(*model, batch, settings);
  bool filled = false;
  for (int64_t row = 0; row < 3; ++row) {
    std::vector<int64_t> expected = row_of(free, row);
    const auto end = std::find_first_of(expected.begin() + 1, expected.end(), ends.begin(), ends.end());
    if (end != expected.end()) expected.erase(end + 1, expected.end());
    filled = filled || static_cast<int64_t>(expected.size()) < ended.size(1);
    expected.resize(static_cast<size_t>(ended.size(1)), -100);
    CHECK(row_of(ended, row) == expected);
  }
  CHECK(filled);
  batch.set("decoder_input_ids", full({3, 4}, 9, {.dtype = DType::i64}));
  const Tensor again = generated_rows(*model, batch, settings);
  for (int64_t row = 0; row < 3; ++row) CHECK(row_of(again, row) == row_of(ended, row));
  settings.num_beams = settings.num_return_sequences = 2;
  CHECK(refusal([&] { generated_rows(*model, batch, settings); }) == "predict_with_generate: num_return_sequences is 2; a row has one prediction, leave it at 1.");
}

TEST_CASE("Seq2SeqTrainer: settings of the call stand before the arguments', and these before the model's") {
  Written run;
  run.model->config()->generation = "{\"max_length\": 5, \"eos_token_id\": 1}";
  CHECK(number(run.trainer(run.args())->evaluate(), "eval_width") == 5);
  Seq2SeqTrainingArguments args = run.args();
  args.generation_max_length = 8;
  args.generation_num_beams = 3;
  const auto trainer = run.trainer(args);
  CHECK(number(trainer->evaluate(), "eval_width") == 8);
  CHECK(trainer->generation_config().num_beams == 3);
  CHECK(number(trainer->evaluate(ValueMap{{"max_length", 6}}), "eval_width") == 6);
  CHECK(number(trainer->evaluate(ValueMap{{"max_new_tokens", 3}, {"num_beams", 1}}), "eval_width") == 4);
  CHECK(number(trainer->evaluate(), "eval_width") == 8);
  CHECK(trainer->predict(run.rows, ValueMap{{"max_length", 3}}).predictions.at(0).size(1) == 3);
  run.model->config()->generation = "";
  CHECK(run.trainer(run.args())->predict(run.rows).predictions.at(0).size(1) == 21);  // 20 after the start token
}

TEST_CASE("Seq2SeqTrainer: generation_config, a map or a file, stands in place of the model's, whose ids it takes") {
  Written run;
  run.model->config()->generation = "{\"max_length\": 5, \"eos_token_id\": 1, \"pad_token_id\": 0, \"no_repeat_ngram_size\": 2}";
  Seq2SeqTrainingArguments args = run.args();
  args.generation_config = ValueMap{{"max_new_tokens", 6}};
  CHECK(run.trainer(args)->generation_config().no_repeat_ngram_size == 0);
  CHECK(run.trainer(args)->generation_config().eos_token_id == std::vector<int64_t>{1});
  CHECK(number(run.trainer(args)->evaluate(), "eval_width") == 7);
  write_file(run.folder.file("g.json"), "{\"max_length\": 4}");
  args.generation_config = run.folder.file("g.json");
  CHECK(number(run.trainer(args)->evaluate(), "eval_width") == 4);
  args.generation_max_length = 9;
  CHECK(number(run.trainer(args)->evaluate(), "eval_width") == 9);
}

TEST_CASE("Seq2SeqTrainer: predictions and labels are padded once, with -100, to the longest row of the call") {
  Written run;
  Seq2SeqTrainingArguments args = run.args();
  args.generation_max_length = 10;
  const Tensor free = run.trainer(args)->predict(run.rows).predictions.at(0);
  // An end that some rows write early.
  const PredictionOutput out = run.trainer(args)->predict(run.rows, ValueMap{{"eos_token_id", ValueList{1, row_of(free, 1)[2], row_of(free, 4)[3]}}});
  const Tensor& written = out.predictions.at(0);
  int64_t longest = 0;
  for (int64_t row = 0; row < written.size(0); ++row) {
    const std::vector<int64_t> ids = row_of(written, row);
    const auto end = std::find(ids.begin(), ids.end(), -100);
    for (auto at = end; at != ids.end(); ++at) CHECK(*at == -100);
    longest = std::max<int64_t>(longest, end - ids.begin());
  }
  CHECK(written.size(1) == longest);
  CHECK(row_of(written, 1).size() >= 3);
  CHECK(out.label_ids.size(1) == 7);
  CHECK(row_of(out.label_ids, 0) == std::vector<int64_t>{2, 3, 1, -100, -100, -100, -100});
}

TEST_CASE("Seq2SeqTrainer: the loss is the Trainer's, smoothed where asked for, none without labels (42)") {
  Written run;
  for (const double smoothing : {0.0, 0.2}) {
    Seq2SeqTrainingArguments args = run.args();
    args.label_smoothing_factor = smoothing;
    args.generation_max_length = 4;
    Trainer plain(*run.model, args, {.eval_dataset = &run.rows, .data_collator = data::Seq2SeqCollator(data::PadOptions{})});
    plain.remove_callback<PrinterCallback>();
    CHECK(*run.trainer(args)->evaluate().find("eval_loss") == *plain.evaluate().find("eval_loss"));
  }
  const data::ListDataset unlabelled = pairs(3, false);
  const PredictionOutput out = run.trainer(run.args())->predict(unlabelled);
  CHECK(out.metrics.find("test_loss") == nullptr);
  CHECK(!out.label_ids.defined());
  CHECK(out.predictions.at(0).size(0) == 3);
}

TEST_CASE("Seq2SeqTrainer: nothing is written where nothing looks at it, and training evaluates by what is written") {
  Written run;
  Seq2SeqTrainingArguments args = run.args();
  args.generation_max_length = 4;
  CHECK(run.trainer(args, false)->evaluate().find("eval_loss") != nullptr);
  args.prediction_loss_only = true;
  CHECK(run.trainer(args)->predict(run.rows).predictions.empty());
  args.prediction_loss_only = false;
  args.predict_with_generate = false;
  CHECK(run.trainer(args, false)->predict(run.rows).predictions.size() > 1);  // logits and hidden states
  args.predict_with_generate = true;
  args.max_steps = 2;
  args.eval_strategy = IntervalStrategy::steps;
  args.eval_steps = 1;
  args.save_strategy = SaveStrategy::no;
  const auto trainer = run.trainer(args);
  run.metric_calls = 0;
  trainer->train();
  CHECK(run.metric_calls == 2);
  CHECK(number(trainer->state().log_history[0], "eval_width") <= 4);
}

TEST_CASE("Seq2SeqTrainer: what cannot be written is refused before a folder is made") {
  Written run;
  const auto refused = [&](const std::function<void(Seq2SeqTrainingArguments&)>& change) {
    Seq2SeqTrainingArguments args = run.args();
    change(args);
    const std::string text = refusal([&] { run.trainer(args); });
    CHECK_FALSE(std::filesystem::exists(args.output_dir));
    return text;
  };
  CHECK(refused([](auto& a) { a.generation_config = ValueMap{{"do_sample", true}}; }) == "generate: do_sample is true, and this build does not sample; set it to false.");
  CHECK(refused([](auto& a) { a.generation_config = ValueMap{{"num_beams", "many"}}; }) == "generation_config: num_beams is \"many\"; it must be a whole number.");
  CHECK(refused([](auto& a) { a.generation_config = ValueMap{{"suppress_tokens", ValueList{31}}}; }) == "generate: suppress_tokens has the id 31; the model's lie in 0…30.");
  CHECK(refused([](auto& a) { a.generation_config = "nowhere"; }) == "read nowhere: it holds no generation_config.json; name that file or its folder.");
  Seq2SeqTrainingArguments args = run.args();
  const auto classifier = small_classifier();
  CHECK(refusal([&] { Seq2SeqTrainer(*classifier, args, {.eval_dataset = &run.rows}); }) ==
        "predict_with_generate: BertForSequenceClassification has no decoder that could write; it needs a model such as T5ForConditionalGeneration.");
}

}  // namespace rote::testing

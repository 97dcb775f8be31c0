// tests/trainer/pipeline_text_classification_test.cpp — scores by problem_type, order and number of classes, the records as JSON; and features,
// which have no rules of their own.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "nn/models/bert_heads.h"
#include "nn/models/gpt2.h"
#include "tests/trainer/tiny_pipelines.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

void write_classifier(const std::string& folder, std::vector<std::string> labels, std::optional<std::string> problem) {
  auto config = bold_bert();
  config->labels = std::move(labels);
  config->problem_type = std::move(problem);
  write_pipeline_model<nn::BertForSequenceClassification>(folder, config, tiny_tokenizer_json());
}

Records all_classes(const std::string& folder, ScoreFunction function = ScoreFunction::by_model) {
  return pipeline("text-classification", {.model = folder, .top_k = 0, .function_to_apply = function})("the film was good");
}

double sum(const Records& records) {
  double total = 0;
  for (const Record& r : records) total += r.score;
  return total;
}

}  // namespace

TEST_CASE("text-classification: softmax of several classes, sigmoid of one or of several labels, regression as it is") {
  const TempFolder folder;
  write_classifier(folder.path(), {"a", "b", "c"}, std::nullopt);
  const Records plain = all_classes(folder.path()), logits = all_classes(folder.path(), ScoreFunction::none);
  CHECK(std::fabs(sum(plain) - 1) < 1e-6);  // three f32 roundings
  REQUIRE(logits.size() == 3);
  for (size_t k = 0; k < 3; ++k) {
    CHECK(plain[k].label == logits[k].label);
    if (k > 0) CHECK(plain[k - 1].score > plain[k].score);
    CHECK(std::fabs(plain[k].score / plain[0].score - std::exp(logits[k].score - logits[0].score)) < 1e-5);
  }
  const auto sigmoid_of = [](double x) { return 1 / (1 + std::exp(-x)); };
  write_classifier(folder.path(), {"a", "b", "c"}, "multi_label_classification");
  const Records several = all_classes(folder.path());
  for (size_t k = 0; k < 3; ++k) CHECK(std::fabs(several[k].score - sigmoid_of(logits[k].score)) < 1e-6);
  write_classifier(folder.path(), {"a", "b", "c"}, "regression");
  for (size_t k = 0; k < 3; ++k) CHECK(all_classes(folder.path())[k].score == logits[k].score);
  write_classifier(folder.path(), {"only"}, std::nullopt);
  const Records one = all_classes(folder.path()), raw = all_classes(folder.path(), ScoreFunction::none);
  CHECK(one[0].label == "only");
  CHECK(std::fabs(one[0].score - sigmoid_of(raw[0].score)) < 1e-6);
  CHECK(all_classes(folder.path(), ScoreFunction::softmax)[0].score == 1);
}

TEST_CASE("text-classification: top_k classes, best first; LABEL_0 and LABEL_1 where the config has no names") {
  const TempFolder folder;
  write_classifier(folder.path(), {"a", "b", "c"}, std::nullopt);
  const Records all = all_classes(folder.path());
  for (const int64_t k : {1, 2, 3, 7}) {
    const Records some = pipeline("text-classification", {.model = folder.path(), .top_k = k})("the film was good");
    REQUIRE(some.size() == std::min<size_t>(static_cast<size_t>(k), 3));
    CHECK(some.back().label == all[some.size() - 1].label);
  }
  const TempFolder unnamed;
  write_classifier(unnamed.path(), {}, std::nullopt);
  const Records two = all_classes(unnamed.path());
  REQUIRE(two.size() == 2);
  CHECK(((two[0].label == "LABEL_0" && two[1].label == "LABEL_1") || (two[0].label == "LABEL_1" && two[1].label == "LABEL_0")));
}

TEST_CASE("text-classification: records are a list of label and score, whose digits are those of the f32") {
  const TempFolder folder;
  write_classifier(folder.path(), {"a", "b"}, std::nullopt);
  const auto pipe = pipeline("text-classification", {.model = folder.path()});
  Records records = {{.label = "POSITIVE", .score = static_cast<double>(0.9998743534088135f)}};
  CHECK(json_text(pipe.value(records), {.indent = -1}) == "[{\"label\": \"POSITIVE\", \"score\": 0.9998743534088135}]");
  records.push_back({.label = "NEGATIVE", .score = 0.25});
  CHECK(pipe.value(records).as_list()->size() == 2);
}

TEST_CASE("feature-extraction: the last hidden state of each token, from checkpoints of other heads too") {
  const TempFolder folder;
  write_pipeline_model<nn::BertForMaskedLM>(folder.path(), bold_bert(), tiny_tokenizer_json());  // it has no pooler
  const auto pipe = pipeline("feature-extraction", {.model = folder.path(), .batch_size = 4});
  const std::vector<std::string> texts = {"good film", "bad plot", "", "the end was not good"};
  const std::vector<Records> all = pipe(texts);
  const nn::Loaded<nn::Model> loaded = nn::AutoModel::from_pretrained(folder.path());
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 4}, std::vector<int64_t>{2, 5, 9, 3}));
  const Tensor expected = (*loaded.model)(batch).last_hidden_state, given = all[1][0].features;
  REQUIRE(given.shape() == Shape{4, 12});
  CHECK(std::equal(given.data<float>(), given.data<float>() + given.numel(), expected.data<float>()));
  CHECK(all[2][0].features.shape() == Shape{2, 12});
  const Value value = pipe.value(all[3]);
  REQUIRE(value.as_list()->size() == 1);
  const ValueList& tokens = *(*value.as_list())[0].as_list();
  REQUIRE(tokens.size() == 7);
  REQUIRE(tokens[6].as_list()->size() == 12);
  CHECK(*(*tokens[6].as_list())[11].as_float() == static_cast<double>(all[3][0].features.data<float>()[83]));
}

TEST_CASE("feature-extraction: a decoder takes no token types") {
  const TempFolder folder;
  auto config = std::make_shared<nn::GPT2Config>();
  config->vocab_size = 31;
  config->n_positions = 16;
  config->n_embd = 12;
  config->n_layer = 1;
  config->n_head = 3;
  config->eos_token_id = {3};
  config->bos_token_id = 2;
  write_pipeline_model<nn::GPT2Model>(folder.path(), config, tiny_tokenizer_json());
  CHECK(pipeline("feature-extraction", {.model = folder.path()})("good film")[0].features.shape() == Shape{4, 12});
}

}  // namespace rote::testing

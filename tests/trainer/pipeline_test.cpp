// tests/trainer/pipeline_test.cpp — what all tasks of pipelines share: loading, options, batches, and what they refuse. Each task: pipeline_*_test.cpp.
#include "trainer/pipelines/pipeline.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "nn/models/bert_heads.h"
#include "tests/trainer/tiny_pipelines.h"

namespace rote::testing {

namespace {

using Classifier = nn::BertForSequenceClassification;

// A folder with the classifier of three labels.
struct ClassifierFolder {
  TempFolder folder;

  explicit ClassifierFolder(const std::function<void(nn::BertConfig&)>& change = {}) {
    auto config = bold_bert();
    config->labels = {"bad", "so-so", "good"};
    if (change) change(*config);
    write_pipeline_model<Classifier>(folder.path(), config, tiny_tokenizer_json());
  }
};

// 11 texts of 3 to 12 tokens, some equally long.
std::vector<std::string> some_texts() {
  std::vector<std::string> texts;
  const char* words[] = {"good", "bad film", "the plot was dull", "", "acting and plays", "no end", "very good, not bad."};
  for (size_t i = 0; i < 11; ++i) texts.push_back(std::string(words[i % 7]) + (i % 3 == 2 ? " it is" : ""));
  return texts;
}

}  // namespace

TEST_CASE("pipeline: the program of the contract prints the softmax of the logits and the label of the config") {
  const ClassifierFolder at;
  auto pipe = pipeline("text-classification", {.model = at.folder.path()});
  const nn::Loaded<nn::Model> loaded = nn::AutoModelForSequenceClassification::from_pretrained(at.folder.path());
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 5}, std::vector<int64_t>{2, 4, 8, 19, 3}));
  const Tensor scores = softmax((*loaded.model)(batch).logits);
  const int64_t best = argmax(scores).item_i64();
  int64_t records = 0;
  for (auto& r : pipe("Good films")) {
    CHECK(r.label == loaded.model->config()->label(best));
    CHECK(r.score == static_cast<double>(scores.data<float>()[best]));
    ++records;
  }
  CHECK(records == 1);
  CHECK(pipe({"Good films", "Good films"}).size() == 2);
  CHECK(pipe(std::vector<std::string>()).empty());
}

TEST_CASE("pipeline: a list keeps its order, and neither batch_size nor the other texts move a bit") {
  const ClassifierFolder at;
  const std::vector<std::string> texts = some_texts();
  const auto single = pipeline("text-classification", {.model = at.folder.path(), .top_k = 0});
  std::vector<Records> expected;
  for (const std::string& text : texts) expected.push_back(single(text));
  CHECK(expected[0][0].score != expected[1][0].score);
  for (const int64_t batch_size : {1, 2, 5, 64}) {
    CAPTURE(batch_size);
    const std::vector<Records> given = pipeline("text-classification", {.model = at.folder.path(), .batch_size = batch_size, .top_k = 0})(texts);
    REQUIRE(given.size() == texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      REQUIRE(given[i].size() == 3);
      for (size_t k = 0; k < 3; ++k) CHECK((given[i][k].label == expected[i][k].label && given[i][k].score == expected[i][k].score));
    }
  }
}

TEST_CASE("pipeline: options that do not fit are refused in one sentence") {
  CHECK_THROWS_WITH_AS(pipeline("text-classification", {}), "pipeline: no model; give the folder of one that was trained for text-classification.", ArgumentError);
  CHECK_THROWS_WITH_AS(pipeline("fil-mask", {.model = "m"}),
                       doctest::Contains("pipeline: there is no task \"fil-mask\"; did you mean fill-mask? The tasks are text-"), ArgumentError);
  CHECK_THROWS_WITH_AS(pipeline("ocr", {.model = "m"}), doctest::Contains("pipeline: there is no task \"ocr\"; choose one of text-"), ArgumentError);
  CHECK_THROWS_WITH_AS(pipeline("text-generation", {.model = "m", .top_k = 3}),
                       "--top_k: text-generation does not take it; it is for text-classification, fill-mask, image-classification.", ArgumentError);
  CHECK_THROWS_WITH_AS(pipeline("fill-mask", {.model = "m", .batch_size = 0}), "--batch_size: is 0; it must be at least 1 and below 1048576.", ArgumentError);
  CHECK_THROWS_AS(pipeline("fill-mask", {.model = "no/such-model"}), IoError);
}

TEST_CASE("pipeline: every option belongs to all tasks or is named by one") {
  const std::vector<std::string> shared = {"model", "tokenizer", "revision", "cache_dir", "batch_size"};
  const ValueMap options = to_map(PipelineOptions());
  const auto has = [](const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  for (const auto& entry : options) {
    bool taken = has(shared, entry.first);
    for (const PipelineTask& task : pipeline_tasks()) taken = taken || has(task.options, entry.first);
    CHECK_MESSAGE(taken, entry.first);
  }
  for (const PipelineTask& task : pipeline_tasks())
    for (const std::string& name : task.options) CHECK_MESSAGE(options.find(name) != nullptr, name);
}

TEST_CASE("pipeline: a model without the task's head is refused") {
  const ClassifierFolder at;
  CHECK_THROWS_WITH_AS(pipeline("fill-mask", {.model = at.folder.path()}), doctest::Contains(": this model was not fine-tuned for fill-mask, 5 keys missing"), ArgumentError);
  CHECK_THROWS_WITH_AS(pipeline("text-generation", {.model = at.folder.path()}), doctest::Contains("of which no \"text-generation\" is built"), ArgumentError);
  const TempFolder plain;
  write_tiny_model(plain.path());
  CHECK_THROWS_WITH_AS(pipeline("text-classification", {.model = plain.path()}),
                       (plain.path() + ": this model was not fine-tuned for text-classification, 2 keys missing, drawn anew (classifier.weight, classifier.bias); "
                                       "train it first (rote train).").c_str(),
                       ArgumentError);
}

TEST_CASE("pipeline: a text that is too long is refused with both lengths, or cut") {
  const ClassifierFolder at;
  std::string text = "good";
  for (int i = 0; i < 50; ++i) text += " film";
  const auto pipe = pipeline("text-classification", {.model = at.folder.path()});
  CHECK_THROWS_WITH_AS(pipe(text),
                       "pipeline: \"good film film film film film film film …\" has 53 tokens, the model takes at most 40; give shorter texts, or --truncation where "
                       "the task has it.",
                       ArgumentError);
  const auto cut = pipeline("text-classification", {.model = at.folder.path(), .truncation = true});
  CHECK(cut(text)[0].score == pipe(text.substr(0, 4 + 37 * 5))[0].score);
  write_file(at.folder.file("tokenizer_config.json"), R"({"model_max_length": 5})");
  const auto shorter = pipeline("text-classification", {.model = at.folder.path(), .truncation = true});
  CHECK(shorter(text)[0].score == pipe("good film film")[0].score);
}

TEST_CASE("pipeline: tokens beyond the vocabulary, texts without tokens and texts that are not UTF-8 are refused") {
  const ClassifierFolder small([](nn::BertConfig& config) { config.vocab_size = 19; });
  const auto pipe = pipeline("text-classification", {.model = small.folder.path()});
  CHECK(pipe("good film").size() == 1);
  CHECK_THROWS_WITH_AS(pipe("good films"),
                       "pipeline: \"good films\" has the token 19 but the model a vocabulary of 19; model and tokenizer do not belong together.", ArgumentError);
  CHECK_THROWS_AS(pipe("\xff"), ArgumentError);
  const ClassifierFolder bare;
  write_file(bare.folder.file("tokenizer.json"), bare_tokenizer_json());
  CHECK_THROWS_WITH_AS(pipeline("text-classification", {.model = bare.folder.path()})(""), "pipeline: \"\" has no tokens; give a text that has some.", ArgumentError);
}

TEST_CASE("pipeline: outputs that are not finite are no answer") {
  const TempFolder folder;
  write_pipeline_model<Classifier>(folder.path(), bold_bert(), tiny_tokenizer_json(), [](Classifier& model) { model.classifier.bias.data<float>()[1] = NAN; });
  CHECK_THROWS_WITH_AS(pipeline("text-classification", {.model = folder.path()})({"good", "bad"}),
                       ("non-finite: the output for \"good\" holds Inf or NaN; the weights of " + folder.path() + " are damaged.").c_str(), NonFiniteError);
}

TEST_CASE("pipeline: the tokenizer may be another's, and a name of the hub's cache will do") {
  const ClassifierFolder at;
  const TempFolder words, cache;
  std::filesystem::rename(at.folder.file("tokenizer.json"), words.file("tokenizer.json"));
  CHECK_THROWS_AS(pipeline("text-classification", {.model = at.folder.path()}), IoError);
  const Records expected = pipeline("text-classification", {.model = at.folder.path(), .tokenizer = words.path()})("good");
  std::filesystem::rename(words.file("tokenizer.json"), at.folder.file("tokenizer.json"));
  const std::string commit(40, 'a'), snapshot = cache.file("models--owner--small/snapshots/" + commit);
  std::filesystem::create_directories(snapshot);
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json"}) std::filesystem::copy_file(at.folder.file(name), snapshot + "/" + name);
  const auto pipe = pipeline("text-classification", {.model = "owner/small", .revision = commit, .cache_dir = cache.path()});
  CHECK(pipe("good")[0].score == expected[0].score);
}

}  // namespace rote::testing

// tests/pipeline_app_test.cpp — `rote pipeline` from the shell: a line of JSON a text, files of texts, exit codes. The tasks: tests/trainer/pipeline_*.
#include <doctest/doctest.h>

#include <cmath>

#include "nn/models/bert_heads.h"
#include "tests/app.h"
#include "tests/trainer/tiny_pipelines.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

using Classifier = nn::BertForSequenceClassification;

void write_classifier(const AppFolder& app, const std::function<void(Classifier&)>& change = {}) {
  auto config = bold_bert();
  config->labels = {"neg", "pos"};
  write_pipeline_model<Classifier>(app.file("classifier"), config, tiny_tokenizer_json(), change);
}

}  // namespace

TEST_CASE("rote pipeline: one line a text, and a file stands for its lines") {
  const AppFolder app;
  write_classifier(app);
  const AppResult texts = app.rote("pipeline text-classification 'good film' 'bad' '' --model classifier --num_threads 2");
  REQUIRE_MESSAGE(texts.status == 0, texts.err);
  CHECK(texts.err == "");
  const std::vector<std::string> lines = lines_of(texts.out);
  REQUIRE(lines.size() == 3);
  const Pipeline pipe = pipeline("text-classification", {.model = app.file("classifier")});
  CHECK(lines[0] == json_text(pipe.value(pipe("good film")), {.indent = -1}));
  CHECK(lines[2] == json_text(pipe.value(pipe("")), {.indent = -1}));
  std::string content, expected;
  for (int i = 0; i < 70; ++i) {  // more than are held at once, the last line without an end
    content += (i % 3 == 0 ? "good film\r\n" : i % 3 == 1 ? "bad\n" : "\n");
    expected += lines[static_cast<size_t>(i % 3)] + "\n";
  }
  app.folder.file("texts.txt", content + "bad");
  CHECK(app.rote("pipeline text-classification texts.txt 'good film' --model classifier --batch_size 2").out == expected + lines[1] + "\n" + lines[0] + "\n");
  const AppResult all = app.rote("pipeline text-classification bad --model_name_or_path classifier --top_k 0");
  CHECK(parse_json(all.out, "out").as_list()->size() == 2);
}

TEST_CASE("rote pipeline: what it refuses, and what stops it") {
  const AppFolder app;
  write_classifier(app);
  struct Row {
    std::string words;
    int status;
    std::string part;
  };
  app.folder.file("latin.txt", "good\nb\xe4" "d\n");
  const Row table[] = {
      {"pipeline", 2, "--model: is required"},
      {"pipeline fill-mask --model classifier", 2, "give a task and at least one text"},
      {"pipeline fill-mas x --model classifier", 2, "did you mean fill-mask?"},
      {"pipeline fill-mask x --model classifier", 2, "was not fine-tuned for fill-mask"},
      {"pipeline text-classification x --model classifier --stride 3", 2, "--stride: text-classification does not take it; it is for token-classification."},
      {"pipeline text-classification latin.txt --model classifier", 2, "latin.txt:2: the text is not UTF-8 at byte 1"},
      {"pipeline text-classification good \"$(printf 'b\\344d')\" --model classifier", 2, "text 2: the text is not UTF-8 at byte 1"},
      {"pipeline text-classification x --model none", 2, "none is no folder here"},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const AppResult result = app.rote(row.words);
    CHECK(result.status == row.status);
    CHECK_MESSAGE(contains(result.err, row.part), result.err);
    CHECK(result.out == "");
  }
  write_classifier(app, [](Classifier& model) { model.classifier.bias.data<float>()[0] = INFINITY; });
  const AppResult damaged = app.rote("pipeline text-classification good --model classifier");
  CHECK(damaged.status == 1);
  CHECK(damaged.err == "rote pipeline: non-finite: the output for \"good\" holds Inf or NaN; the weights of classifier are damaged.\n");
}

}  // namespace rote::testing

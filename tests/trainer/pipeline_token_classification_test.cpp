// tests/trainer/pipeline_token_classification_test.cpp — tokens and groups: every strategy on a model whose piece decides the class by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "nn/models/bert_heads.h"
#include "tests/trainer/tiny_pipelines.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

using Tagger = nn::BertForTokenClassification;

enum Label { O, B_PER, I_PER, B_LOC, I_LOC, MISC };

// The embedding of a piece is 1 at its class and `also` at a second one; nothing else is added to it on the way to the classifier, which reads them.
void set_classes(Tagger& model) {
  for (auto& [name, parameter] : model.named_parameters()) {
    const bool adds = name.find("output.dense") != std::string::npos || name.find("embeddings.weight") != std::string::npos || name.starts_with("classifier");
    if (adds) fill(parameter, 0);
  }
  float* classifier = model.classifier.weight.data<float>();
  for (int64_t label = O; label <= MISC; ++label) classifier[label * 12 + label] = 1;
  struct Row {
    int64_t piece;
    Label label, second;
    float also;
  };
  const Row rows[] = {{4, B_PER, O, 0}, {5, I_PER, O, 0.5f}, {6, B_LOC, O, 0.25f}, {7, I_LOC, O, 0}, {8, MISC, I_PER, 0.75f}, {19, I_PER, O, 0}, {21, O, I_LOC, 0.25f}};
  float* words = model.bert.embeddings.word_embeddings.weight.data<float>();
  for (int64_t piece = 0; piece < 31; ++piece) words[piece * 12 + O] = 1;
  for (const Row& row : rows) {
    words[row.piece * 12 + O] = 0;
    words[row.piece * 12 + row.second] = row.also;
    words[row.piece * 12 + row.label] = 1;
  }
}

struct TaggerFolder {
  TempFolder folder;

  explicit TaggerFolder(const std::string& tokenizer_json = tiny_tokenizer_json()) {
    auto config = small_bert();
    config->labels = {"O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC"};
    write_pipeline_model<Tagger>(folder.path(), config, tokenizer_json, set_classes);
  }
  Pipeline pipe(PipelineOptions options = {}) const {
    options.model = folder.path();
    return pipeline("token-classification", options);
  }
};

// `entity:word[start,end)` of each record.
std::string short_form(const Records& records) {
  std::string text;
  for (const Record& r : records) text += str(text.empty() ? "" : " ", r.entity, ":", r.word, "[", r.start, ",", r.end, ")");
  return text;
}

}  // namespace

TEST_CASE("token-classification: each token but those of O and of the template, at its place in code points") {
  const TaggerFolder at;
  const Records records = at.pipe()("\u00c4\u00a0good, Bad films.");  // ä is unknown
  CHECK(short_form(records) == "B-PER:good[2,6) I-PER:bad[8,11) MISC:film[12,16) I-PER:##s[16,17)");
  CHECK(records[0].index == 2);
  CHECK(records[3].index == 6);
  CHECK(records[0].score > records[1].score);
  CHECK(json_text(at.pipe().value({records[3]}), {.indent = -1}).starts_with("[{\"entity\": \"I-PER\", \"score\": 0."));
  CHECK(json_text(at.pipe().value({records[3]}), {.indent = -1}).ends_with(", \"index\": 6, \"word\": \"##s\", \"start\": 16, \"end\": 17}]"));
  CHECK(at.pipe()("the end").empty());
  CHECK(at.pipe()("").empty());
}

TEST_CASE("token-classification: an unknown token shows the text, and ignore_labels says what is left out") {
  const TaggerFolder at;
  const Pipeline pipe = at.pipe({.ignore_labels = {"B-PER", "MISC"}});
  CHECK(short_form(pipe("Quux good the film bad")) == "O:Quux[0,4) O:the[10,13) I-PER:bad[19,22)");
}

TEST_CASE("token-classification: simple joins neighbours of one kind, and B- begins anew") {
  const TaggerFolder at;
  const Pipeline pipe = at.pipe({.aggregation_strategy = Aggregation::simple}), plain = at.pipe();
  const std::string text = "good bad good the bad fine dull, dull films";
  const Records groups = pipe(text), tokens = plain(text);
  CHECK(short_form(groups) == "PER:good bad[0,8) PER:good[9,13) PER:bad[18,21) LOC:fine dull[22,31) LOC:dull[33,37) MISC:film[38,42) PER:##s[42,43)");
  REQUIRE(tokens.size() == 9);
  CHECK(groups[0].score == static_cast<double>((static_cast<float>(tokens[0].score) + static_cast<float>(tokens[1].score)) / 2));
  CHECK(groups[1].score == tokens[2].score);
  const std::string json = json_text(pipe.value({groups[0]}), {.indent = -1});
  CHECK(json.starts_with("[{\"entity_group\": \"PER\", \"score\": 0."));
  CHECK(json.ends_with(", \"word\": \"good bad\", \"start\": 0, \"end\": 8}]"));
}

TEST_CASE("token-classification: first, max and average give a word one class") {
  const TaggerFolder at;
  const auto of = [&](Aggregation how, const std::string& text) { return at.pipe({.aggregation_strategy = how})(text); };
  const Records tokens = at.pipe()("films");  // MISC, second I-PER; then I-PER
  REQUIRE(tokens.size() == 2);
  REQUIRE(tokens[1].score > tokens[0].score);
  const Records first = of(Aggregation::first, "films"), most = of(Aggregation::max, "films"), mean = of(Aggregation::average, "films");
  CHECK(short_form(first) == "MISC:films[0,5)");
  CHECK(first[0].score == tokens[0].score);
  CHECK(short_form(most) == "PER:films[0,5)");
  CHECK(most[0].score == tokens[1].score);
  CHECK(short_form(mean) == "PER:films[0,5)");
  CHECK(mean[0].score < most[0].score);
  CHECK(mean[0].score > most[0].score / 2);
  // The word's class then takes part in the group.
  CHECK(short_form(of(Aggregation::max, "good films")) == "PER:good films[0,10)");
  CHECK(short_form(of(Aggregation::first, "good films")) == "PER:good[0,4) MISC:films[5,10)");
  CHECK(short_form(of(Aggregation::average, "badly dulling")) == "LOC:dulling[6,13)");
}

TEST_CASE("token-classification: without a prefix on pieces, blanks tell words apart") {
  std::string json = tiny_tokenizer_json();
  const std::string model = R"("model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
"max_input_chars_per_word": 100,)";
  REQUIRE(json.find(model) != std::string::npos);
  json.replace(json.find(model), model.size(), R"("model": {"type": "WordLevel", "unk_token": "[UNK]",)");
  const TaggerFolder at(json);
  const Pipeline pipe = at.pipe({.aggregation_strategy = Aggregation::first});
  CHECK(short_form(pipe("good,bad film, fine")) == "PER:good, bad[0,8) MISC:film,[9,14) LOC:fine[15,19)");
}

TEST_CASE("token-classification: a long text is cut, or taken in pieces whose groups are joined") {
  const TaggerFolder at;
  write_file(at.folder.file("tokenizer_config.json"), R"({"model_max_length": 8})");  // 6 tokens of a text at once
  const std::string text = "the good bad end the fine dull dull film was bad";
  const std::string all = "PER:good bad[4,12) LOC:fine dull dull[21,35) MISC:film[36,40) PER:bad[45,48)";
  CHECK(short_form(at.pipe({.aggregation_strategy = Aggregation::simple})(text)) == "PER:good bad[4,12) LOC:fine[21,25)");
  for (const int64_t stride : {3, 4, 5}) CHECK(short_form(at.pipe({.aggregation_strategy = Aggregation::simple, .stride = stride})(text)) == all);
  // Without shared tokens a group ends where a piece does.
  CHECK(short_form(at.pipe({.aggregation_strategy = Aggregation::simple, .stride = 0})(text)) ==
        "PER:good bad[4,12) LOC:fine[21,25) LOC:dull dull[26,35) MISC:film[36,40) PER:bad[45,48)");
  const std::vector<Records> several = at.pipe({.batch_size = 3, .aggregation_strategy = Aggregation::simple, .stride = 4})({"bad", text, text});
  CHECK(short_form(several[0]) == "PER:bad[0,3)");
  CHECK(short_form(several[2]) == all);
  CHECK_THROWS_WITH_AS(at.pipe({.stride = 2}), doctest::Contains("--stride: the tokens that two pieces share are joined as groups; give --aggregation_strategy"), ArgumentError);
  CHECK_THROWS_WITH_AS(at.pipe({.aggregation_strategy = Aggregation::simple, .stride = 6})(text), doctest::Contains("stride"), ArgumentError);
}

}  // namespace rote::testing

// tests/trainer/pipeline_fill_mask_test.cpp — words for masks: scores, order, targets, several masks, and what is refused.
#include <doctest/doctest.h>

#include <set>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "nn/models/bert_heads.h"
#include "tests/trainer/tiny_pipelines.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

struct MaskFolder {
  TempFolder folder;
  MaskFolder() { write_pipeline_model<nn::BertForMaskedLM>(folder.path(), bold_bert(), masking_tokenizer_json()); }
  Pipeline pipe(PipelineOptions options = {}) const {
    options.model = folder.path();
    return pipeline("fill-mask", options);
  }
};

}  // namespace

TEST_CASE("fill-mask: the five likeliest tokens with the softmax of the mask's logits") {
  const MaskFolder at;
  const Records records = at.pipe()("the [MASK] was good.");
  const nn::Loaded<nn::Model> loaded = nn::AutoModelForMaskedLM::from_pretrained(at.folder.path());
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 7}, std::vector<int64_t>{2, 11, 30, 14, 4, 24, 3}));
  const Tensor scores = softmax(select(select((*loaded.model)(batch).logits, 0, 0), 0, 2));
  REQUIRE(records.size() == 5);
  std::set<int64_t> seen;
  for (size_t k = 0; k < 5; ++k) {
    CHECK(records[k].score == static_cast<double>(scores.data<float>()[records[k].token]));
    CHECK(records[k].index == 2);
    if (k > 0) CHECK(records[k - 1].score >= records[k].score);
    seen.insert(records[k].token);
  }
  CHECK(records[0].token == argmax(scores).item_i64());
  CHECK(seen.size() == 5);
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(at.folder.path());
  for (const Record& r : records) {
    CHECK(r.token_str == tokenizer.decode({r.token}, false));
    std::vector<int64_t> filled = {2, 11, r.token, 14, 4, 24, 3};
    if (r.token == 0) filled.erase(filled.begin() + 2);
    CHECK(r.sequence == tokenizer.decode(filled));
  }
  CHECK(at.pipe({.top_k = 0})("[MASK]").size() == 31);
  CHECK(at.pipe({.top_k = 99})("[MASK]").size() == 31);
}

TEST_CASE("fill-mask: of several masks each has its list, and special tokens stay in the text") {
  const MaskFolder at;
  const Pipeline pipe = at.pipe({.top_k = 2, .targets = {"film", "plot"}});
  const Records records = pipe("[MASK] is no [MASK]");
  REQUIRE(records.size() == 4);
  CHECK(records[1].index == 1);
  CHECK(records[2].index == 4);
  CHECK(records[3].sequence == "[CLS] [MASK] is no " + records[3].token_str + " [SEP]");
  const Value value = pipe.value(records);
  REQUIRE(value.as_list()->size() == 2);
  CHECK((*value.as_list())[1].as_list()->size() == 2);
  const Value one = pipe.value({records[0], records[1]});
  std::vector<std::string> keys;
  for (const auto& entry : *(*one.as_list())[0].as_map()) keys.push_back(entry.first);
  CHECK(keys == std::vector<std::string>{"score", "token", "token_str", "sequence"});
}

TEST_CASE("fill-mask: targets are tokens, or the first piece of what is none, each once") {
  const MaskFolder at;
  const auto tokens = [&](std::vector<std::string> targets) {
    std::set<int64_t> ids;
    const Records records = at.pipe({.targets = std::move(targets)})("a [MASK]");
    for (const Record& r : records) ids.insert(r.token);
    CHECK(ids.size() == records.size());
    return ids;
  };
  CHECK(tokens({"film", "good", "film"}) == std::set<int64_t>{4, 8});
  CHECK(tokens({"##s", "plots", ""}) == std::set<int64_t>{9, 19});
  CHECK_THROWS_WITH_AS(tokens({""}), "--targets: no token is in them; give words that the tokenizer knows.", ArgumentError);
}

TEST_CASE("fill-mask: no mask in the text, or none in the tokenizer") {
  const MaskFolder at;
  CHECK_THROWS_WITH_AS(at.pipe()({"a [MASK]", "the film"}), "fill-mask: \"the film\" has no mask; write [MASK] where a word is to be found.", ArgumentError);
  write_file(at.folder.file("tokenizer.json"), tiny_tokenizer_json());
  CHECK_THROWS_WITH_AS(at.pipe(), ("fill-mask: the tokenizer of " + at.folder.path() + " has no mask token; it needs one.").c_str(), ArgumentError);
}

}  // namespace rote::testing

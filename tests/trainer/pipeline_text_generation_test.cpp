// tests/trainer/pipeline_text_generation_test.cpp — what a decoder writes after a text, where it ends, and what is refused.
#include <doctest/doctest.h>

#include "nn/auto.h"
#include "nn/generate.h"
#include "nn/models/gpt2.h"
#include "nn/models/t5.h"
#include "tests/nn/small_writers.h"
#include "tests/trainer/tiny_pipelines.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

std::shared_ptr<nn::GPT2Config> small_gpt2() {
  auto config = small_gpt2_config();
  config->n_positions = 24;
  config->bos_token_id = 2;
  config->eos_token_id = {};
  config->initializer_range = 0.5;
  return config;
}

struct DecoderFolder {
  TempFolder folder;
  DecoderFolder() { write_pipeline_model<nn::GPT2LMHeadModel>(folder.path(), small_gpt2(), bare_tokenizer_json()); }
  Pipeline pipe(PipelineOptions options = {}) const {
    options.model = folder.path();
    if (options.max_new_tokens == PipelineOptions().max_new_tokens) options.max_new_tokens = 12;
    return pipeline("text-generation", options);
  }
  // The ids that greedy decoding writes after `prompt`.
  std::vector<int64_t> written(const std::vector<int64_t>& prompt) const {
    const nn::Loaded<nn::Model> loaded = nn::AutoModelForCausalLM::from_pretrained(folder.path());
    nn::Batch batch;
    batch.set("input_ids", from_values({1, static_cast<int64_t>(prompt.size())}, prompt));
    const Tensor ids = nn::generate(*loaded.model, batch, {.max_new_tokens = 12}).sequences;
    return {ids.data<int64_t>() + prompt.size(), ids.data<int64_t>() + ids.numel()};
  }
};

}  // namespace

TEST_CASE("text-generation: the text and what greedy decoding writes, or that alone, in any batch") {
  const DecoderFolder at;
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(at.folder.path());
  const std::string tail = tokenizer.decode(at.written({4, 8}));
  CHECK(!tail.empty());
  const std::vector<std::string> texts = {"Good film", "bad plot", "the end was", "no"};
  const std::vector<Records> full = at.pipe()(texts), together = at.pipe({.batch_size = 8})(texts), alone = at.pipe({.return_full_text = false})(texts);
  CHECK(full[0][0].generated_text == "Good film" + tail);
  CHECK(alone[0][0].generated_text == tail);
  for (size_t i = 0; i < texts.size(); ++i) {
    CHECK(together[i][0].generated_text == full[i][0].generated_text);
    CHECK(full[i][0].generated_text == texts[i] + alone[i][0].generated_text);
  }
  CHECK(json_text(at.pipe().value({{.generated_text = "a b"}}), {.indent = -1}) == "[{\"generated_text\": \"a b\"}]");
}

TEST_CASE("text-generation: a row ends at the token that generation_config.json names, whatever the rest of its batch does") {
  const DecoderFolder at;
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(at.folder.path());
  const std::vector<int64_t> ids = at.written({4, 8});
  const std::vector<int64_t> kept(ids.begin(), std::find(ids.begin(), ids.end(), ids[3]) + 1);
  for (const std::string& form : {str(ids[3]), str("[30, ", ids[3], "]")}) {
    write_file(at.folder.file("generation_config.json"), "{\"eos_token_id\": " + form + "}");
    const bool both = form[0] == '[' && std::find(kept.begin(), kept.end(), 30) != kept.end();
    const std::vector<Records> records = at.pipe({.batch_size = 2, .return_full_text = false})(std::vector<std::string>{"good film", "bad plot"});
    if (!both) CHECK(records[0][0].generated_text == tokenizer.decode(kept));
    CHECK(at.pipe({.return_full_text = false})("bad plot")[0].generated_text == records[1][0].generated_text);
  }
  write_file(at.folder.file("generation_config.json"), "{\"eos_token_id\": ");
  CHECK_THROWS_AS(at.pipe(), ArgumentError);
}

TEST_CASE("text-generation: an empty text begins with the model's first token, where it has one") {
  const DecoderFolder at;
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(at.folder.path());
  CHECK(at.pipe()("")[0].generated_text == tokenizer.decode(at.written({2})));
  write_file(at.folder.file("generation_config.json"), "{}");
  CHECK_THROWS_WITH_AS(at.pipe()(""), "pipeline: \"\" has no tokens; give a text that has some.", ArgumentError);
}

TEST_CASE("text-generation: more tokens than the model has positions are refused, and as many as it has are not") {
  const DecoderFolder at;
  CHECK(at.pipe({.max_new_tokens = 23})("good film").size() == 1);
  CHECK_THROWS_WITH_AS(at.pipe({.max_new_tokens = 24})("good film"),
                       "text-generation: \"good film\" has 2 tokens, of which the model takes 24 with the new ones; give --max_new_tokens 23 or less, not 24.", ArgumentError);
}

namespace {

struct EncoderDecoderFolder {
  TempFolder folder;
  EncoderDecoderFolder() {
    const auto config = small_t5_config();
    config->eos_token_id = {29};
    write_pipeline_model<nn::T5ForConditionalGeneration>(folder.path(), config, tiny_tokenizer_json());
  }
  Pipeline pipe(PipelineOptions options = {}) const {
    options.model = folder.path();
    options.max_new_tokens = 9;
    return pipeline("text2text-generation", options);
  }
  // The text of ids that generate() writes for `prompt`.
  std::string written(const std::vector<int64_t>& prompt, int64_t beams) const {
    const nn::Loaded<nn::Model> loaded = nn::AutoModelForSeq2SeqLM::from_pretrained(folder.path());
    nn::Batch batch;
    batch.set("input_ids", from_values({1, static_cast<int64_t>(prompt.size())}, prompt));
    const Tensor ids = nn::generate(*loaded.model, batch, {.max_new_tokens = 9, .num_beams = beams, .eos_token_id = {29}}).sequences;
    return text::Tokenizer::from_folder(folder.path()).decode({ids.data<int64_t>() + 1, ids.data<int64_t>() + ids.numel()});
  }
};

}  // namespace

TEST_CASE("text2text-generation: what the model makes of a text, by one beam or more, the same in any batch") {
  const EncoderDecoderFolder at;
  CHECK(at.pipe()("good film")[0].generated_text == at.written({2, 4, 8, 3}, 1));
  CHECK(at.pipe({.num_beams = 3})("good film")[0].generated_text == at.written({2, 4, 8, 3}, 3));
  write_file(at.folder.file("generation_config.json"), "{\"num_beams\": 3, \"eos_token_id\": 29}");
  CHECK(at.pipe()("good film")[0].generated_text == at.written({2, 4, 8, 3}, 3));
  const std::vector<std::string> texts = {"good film", "bad plot", "the end was", "no"};
  const std::vector<Records> single = at.pipe()(texts), together = at.pipe({.batch_size = 4})(texts);
  for (size_t i = 0; i < texts.size(); ++i) CHECK(single[i][0].generated_text == together[i][0].generated_text);
  CHECK_THROWS_WITH_AS(at.pipe({.return_full_text = false}), "--return_full_text: text2text-generation does not take it; it is for text-generation.", ArgumentError);
}

}  // namespace rote::testing

// tests/nn/config_test.cpp — config.json read and written, and what cannot be built refused by name.
#include "nn/config.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "nn/auto.h"
#include "nn/models/bert.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::TempFolder;

namespace {

nn::BertConfig read(const std::string& json) {
  const TempFolder folder;
  folder.file("config.json", json);
  nn::BertConfig config;
  nn::read_config(folder.path(), config);
  return config;
}

std::string refusal(const std::string& json) {
  try {
    read(json);
  } catch (const ArgumentError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("config: absent fields keep the reference's defaults, null means none") {
  const nn::BertConfig c = read(R"({"model_type":"bert","pad_token_id":null,"classifier_dropout":0.25,"problem_type":null})");
  CHECK(c.hidden_size == 768);
  CHECK(c.vocab_size == 30522);
  CHECK(c.layer_norm_eps == 1e-12);
  CHECK_FALSE(c.pad_token_id.has_value());
  CHECK(c.head_dropout() == 0.25);
  CHECK(c.num_labels() == 2);
  CHECK(c.label(1) == "LABEL_1");
  CHECK_FALSE(c.problem_type.has_value());
}

TEST_CASE("config: unknown keys are kept and written back; keys are sorted") {
  nn::BertConfig c = read(R"({"zeta":{"a":[1,2.5,null]},"hidden_act":"relu","transformers_version":"5.24.0","torch_dtype":"float16","num_labels":3,"is_decoder":false})");
  CHECK(c.dtype == "float16");
  CHECK(c.num_labels() == 3);
  c.labels[0] = "b\xC3\xA4r";
  c.output_attentions = true;
  const std::string text = nn::config_text(c);
  CHECK(has(text, "\n  \"attention_probs_dropout_prob\": 0.1,\n  \"chunk_size_feed_forward\": 0,\n  \"classifier_dropout\": null,\n  \"dtype\": \"float16\","));
  CHECK(has(text, "\"0\": \"b\\u00e4r\""));
  CHECK(has(text, "\"LABEL_2\": 2"));
  CHECK(has(text, "\"output_attentions\": true"));
  CHECK_FALSE(has(text, "output_hidden_states"));
  CHECK_FALSE(has(text, "torch_dtype"));
  CHECK_FALSE(has(text, "num_labels"));
  CHECK(has(text, "\"layer_norm_eps\": 1e-12"));
  CHECK(has(text, "\"transformers_version\": \"5.24.0\""));
  nn::BertConfig again = read(text);
  CHECK(again.others == c.others);
  CHECK(again.labels == c.labels);
  CHECK(nn::config_text(again) == text);
}

TEST_CASE("config: id2label goes before num_labels and must number from 0") {
  CHECK(read(R"({"num_labels":7,"id2label":{"1":"no","0":"yes"}})").labels == std::vector<std::string>{"yes", "no"});
  CHECK(has(refusal(R"({"id2label":{"1":"a","2":"b"}})"), "id2label has 2 names but none for 0; the ids must be 0 … 1."));
  CHECK(has(refusal(R"({"id2label":[]})"), "id2label is []; it must be a map"));
  CHECK(has(refusal(R"({"num_labels":0})"), "num_labels is 0; it must be a whole number in 1…100000."));
}

TEST_CASE("config: values of the wrong kind and models that are not built are named") {
  CHECK(has(refusal(R"({"hidden_size":"wide"})"), "hidden_size is \"wide\"; it must be a whole number."));
  CHECK(has(refusal(R"({"hidden_size":1.5})"), "hidden_size is 1.5; it must be a whole number."));
  CHECK(has(refusal(R"({"tie_word_embeddings":1})"), "tie_word_embeddings is 1; it must be true or false."));
  CHECK(has(refusal(R"({"pad_token_id":"0"})"), "pad_token_id is \"0\"; it must be a whole number."));
  CHECK(has(refusal(R"({"architectures":[1]})"), "architectures is [1]; it must be a list of texts."));
  CHECK(refusal(R"({"hidden_size":10,"num_attention_heads":3})") ==
        "config: hidden_size 10 is no multiple of num_attention_heads 3; each head takes an equal share.");
  CHECK(refusal(R"({"num_hidden_layers":0})") == "config: num_hidden_layers is 0; it must be at least 1 and fit into 32 bits.");
  CHECK(refusal(R"({"pad_token_id":30522})") == "config: pad_token_id is 30522 but vocab_size 30522; it must lie in 0…30521.");
  CHECK(refusal(R"({"position_embedding_type":"relative_key"})") == "config: position_embedding_type is \"relative_key\"; of bert only \"absolute\" is built.");
  CHECK(refusal(R"({"position_embedding_type":"absolute"})") == "");
  CHECK(refusal(R"({"is_decoder":true})") == "config: is_decoder is true; of bert only false is built.");
  CHECK(refusal(R"({"hidden_dropout_prob":1.5})") == "config: hidden_dropout_prob is 1.5; a probability lies in [0,1].");
  CHECK(refusal(R"({"problem_type":"ranking"})") ==
        "config: problem_type is \"ranking\"; it must be regression, single_label_classification or multi_label_classification.");
  CHECK(refusal(R"({"model_type":"gpt2"})") == "config: model_type is \"gpt2\"; this is the config of a bert.");
}

TEST_CASE("config: a folder without a usable config.json is refused with what was looked for") {
  const TempFolder folder;
  const auto text_of = [&] {
    try {
      nn::load_config(folder.path());
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(text_of() == "read " + folder.path() + ": it holds no config.json; name a model folder.");
  folder.file("config.json", "{");
  CHECK(text_of() == "read " + folder.path() + "/config.json: it is no JSON object; the file is damaged.");
  folder.file("config.json", "{}");
  CHECK(text_of() == "read " + folder.path() + "/config.json: it has no model_type, which names the architecture.");
  folder.file("config.json", R"({"model_type":"mamba"})");
  CHECK(text_of().find("model: " + folder.path() + " has the model_type \"mamba\"; built are bert, ") == 0);
}

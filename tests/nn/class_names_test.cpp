// tests/nn/class_names_test.cpp — parts that one family takes from another are called as the reference's are, in frames and reports.
#include <doctest/doctest.h>

#include "tests/nn/small_families.h"

namespace rote::testing {

namespace {

struct Expected {
  const char *family, *part, *class_name;
};

// Of named_modules() of transformers 5.24.
constexpr Expected kExpected[] = {
    {"roberta", "roberta", "RobertaModel"},
    {"roberta", "roberta.embeddings", "RobertaEmbeddings"},
    {"roberta", "roberta.encoder.layer.0", "RobertaLayer"},
    {"roberta", "roberta.encoder.layer.1.attention.self", "RobertaSelfAttention"},
    {"roberta", "lm_head", "RobertaLMHead"},
    {"bert", "bert.encoder.layer.0", "BertLayer"},
    {"distilbert", "distilbert.embeddings", "Embeddings"},
    {"distilbert", "distilbert.transformer", "Transformer"},
    {"distilbert", "distilbert.transformer.layer.0", "TransformerBlock"},
    {"distilbert", "distilbert.transformer.layer.0.ffn", "FFN"},
    {"distilbert", "distilbert.transformer.layer.0.attention", "DistilBertSelfAttention"},
    {"llama", "model", "LlamaModel"},
    {"llama", "model.norm", "LlamaRMSNorm"},
    {"mistral", "", "MistralForCausalLM"},
    {"mistral", "model", "MistralModel"},
    {"mistral", "model.layers.0", "MistralDecoderLayer"},
    {"mistral", "model.layers.0.input_layernorm", "MistralRMSNorm"},
    {"qwen3", "model.layers.1.self_attn", "Qwen3Attention"},
    {"qwen3", "model.layers.1.self_attn.q_norm", "Qwen3RMSNorm"},
    {"bart", "model.encoder", "BartEncoder"},
    {"bart", "model.decoder", "BartDecoder"},
};

}  // namespace

TEST_CASE("class names: parts are called as the reference's are, whatever family they come from") {
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.family);
    CAPTURE(expected.part);
    std::string found;
    for (const SmallFamily& family : small_families()) {
      if (family.name != expected.family) continue;
      const auto model = small_model(family, 3);
      for (const nn::NamedModule& one : model->named_modules())
        if (one.name == expected.part) found = one.module->class_name();
    }
    CHECK(found == expected.class_name);
  }
}

}  // namespace rote::testing

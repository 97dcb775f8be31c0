// tests/nn/small_families.h — a small config of every family, as a config.json says it, for tests over all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/auto.h"
#include "tensor/generator.h"
#include "tests/support/place.h"

namespace rote::testing {

struct SmallFamily {
  std::string name, class_name;
  std::string config;
};

// Weights are drawn wide, so that texts and logits differ from place to place.
inline const std::vector<SmallFamily>& small_families() {
  const auto llama = [](const std::string& type, const std::string& more) {
    return R"({"model_type":")" + type + R"(","vocab_size":47,"hidden_size":16,"intermediate_size":28,"num_hidden_layers":2,"num_attention_heads":4,)"
           R"("num_key_value_heads":2,"max_position_embeddings":64,"initializer_range":0.4,"pad_token_id":0)" + more + "}";
  };
  const auto bert = [](const std::string& type, const std::string& more) {
    return R"({"model_type":")" + type + R"(","vocab_size":47,"hidden_size":16,"intermediate_size":28,"num_hidden_layers":2,"num_attention_heads":2,)"
           R"("max_position_embeddings":40,"initializer_range":0.4)" + more + "}";
  };
  const std::string t5 = R"({"model_type":"t5","vocab_size":47,"d_model":16,"d_kv":6,"d_ff":28,"num_layers":2,"num_heads":2,"relative_attention_num_buckets":8,)"
                         R"("relative_attention_max_distance":16,"decoder_start_token_id":0,"pad_token_id":0)";
  static const std::vector<SmallFamily> all = {
      {"bert", "BertForMaskedLM", bert("bert", "")},
      {"roberta", "RobertaForMaskedLM", bert("roberta", R"(,"pad_token_id":1,"type_vocab_size":1)")},
      {"distilbert", "DistilBertForMaskedLM",
       R"({"model_type":"distilbert","vocab_size":47,"dim":16,"hidden_dim":28,"n_layers":2,"n_heads":2,"max_position_embeddings":40,"initializer_range":0.4})"},
      {"gpt2", "GPT2LMHeadModel", R"({"model_type":"gpt2","vocab_size":47,"n_embd":16,"n_inner":28,"n_layer":2,"n_head":2,"n_positions":64,"initializer_range":0.4})"},
      {"llama", "LlamaForCausalLM", llama("llama", "")},
      {"llama, bias and tied", "LlamaForCausalLM", llama("llama", R"(,"attention_bias":true,"mlp_bias":true,"tie_word_embeddings":true)")},
      {"llama, linear", "LlamaForCausalLM", llama("llama", R"(,"rope_parameters":{"rope_type":"linear","factor":2.0})")},
      {"llama, dynamic", "LlamaForCausalLM", llama("llama", R"(,"rope_parameters":{"rope_type":"dynamic","factor":2.0})")},
      {"llama, yarn", "LlamaForCausalLM", llama("llama", R"(,"rope_parameters":{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":16})")},
      {"llama, llama3", "LlamaForCausalLM",
       llama("llama", R"(,"rope_parameters":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":16})")},
      {"mistral", "MistralForCausalLM", llama("mistral", R"(,"sliding_window":5)")},
      {"qwen3", "Qwen3ForCausalLM", llama("qwen3", R"(,"head_dim":8)")},
      {"t5", "T5ForConditionalGeneration", t5 + "}"},
      {"t5, gated and untied", "T5ForConditionalGeneration", t5 + R"(,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false})"},
      {"bart", "BartForConditionalGeneration",
       R"({"model_type":"bart","vocab_size":47,"d_model":16,"encoder_layers":2,"decoder_layers":2,"encoder_attention_heads":2,"decoder_attention_heads":2,)"
       R"("encoder_ffn_dim":28,"decoder_ffn_dim":28,"max_position_embeddings":40,"init_std":0.4,"decoder_start_token_id":2})"},
      {"vit", "ViTForImageClassification",
       R"({"model_type":"vit","hidden_size":16,"intermediate_size":28,"num_hidden_layers":2,"num_attention_heads":2,"image_size":16,"patch_size":8})"},
      {"resnet", "ResNetForImageClassification", R"({"model_type":"resnet","embedding_size":8,"hidden_sizes":[8,16],"depths":[1,2],"layer_type":"basic"})"},
      {"efficientnet", "EfficientNetForImageClassification",
       R"({"model_type":"efficientnet","kernel_sizes":[3,5],"in_channels":[32,16],"out_channels":[16,24],"strides":[1,2],"num_block_repeats":[1,2],)"
       R"("expand_ratios":[1,6],"width_coefficient":1.0,"depth_coefficient":1.0,"hidden_dim":1280})"},
  };
  return all;
}

// Of the family, in eval mode, with weights of this seed; `more` are members that go before the config's own.
inline std::unique_ptr<nn::Model> small_model(const SmallFamily& family, uint64_t seed, const std::string& more = "") {
  const TempFolder folder;
  folder.file("config.json", "{" + more + family.config.substr(1));
  manual_seed(seed);
  auto model = nn::make_model(family.class_name, folder.path());
  model->eval();
  return model;
}

}  // namespace rote::testing

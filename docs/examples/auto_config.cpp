// docs/examples/auto_config.cpp — the configuration of a model, printed as its config.json: `auto_config MODEL_FOLDER`.
#include <iostream>
#include <type_traits>

#include "kernels/check.h"
#include "nn/auto.h"
#include "trainer/parser.h"

using namespace rote;

static_assert(!std::is_default_constructible_v<nn::AutoConfig> && !std::is_default_constructible_v<nn::AutoModel>);  // from_pretrained and from_config make them

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "auto_config: give a folder with a config.json, or a name of the hub's cache.");
    std::cout << nn::AutoConfig::from_pretrained(argv[1]);
    return 0;
  });
}

// prints, of bert-base-uncased:
//   {
//     "architectures": [
//       "BertForMaskedLM"
//     ],
//     "attention_probs_dropout_prob": 0.1,
//     "chunk_size_feed_forward": 0,
//     "classifier_dropout": null,
//     "gradient_checkpointing": false,
//     "hidden_act": "gelu",
//     "hidden_dropout_prob": 0.1,
//     "hidden_size": 768,
//     "initializer_range": 0.02,
//     "intermediate_size": 3072,
//     "layer_norm_eps": 1e-12,
//     "max_position_embeddings": 512,
//     "model_type": "bert",
//     "num_attention_heads": 12,
//     "num_hidden_layers": 12,
//     "pad_token_id": 0,
//     "position_embedding_type": "absolute",
//     "tie_word_embeddings": true,
//     "transformers_version": "4.41.2",
//     "type_vocab_size": 2,
//     "use_cache": true,
//     "vocab_size": 30522
//   }

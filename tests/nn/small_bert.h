// tests/nn/small_bert.h — the smallest BERT that still has several heads and layers, for tests.
#pragma once

#include <memory>

#include "nn/models/bert.h"

namespace rote::testing {

inline std::shared_ptr<nn::BertConfig> small_bert() {
  auto c = std::make_shared<nn::BertConfig>();
  c->vocab_size = 31;
  c->hidden_size = 12;
  c->num_hidden_layers = 2;
  c->num_attention_heads = 3;
  c->intermediate_size = 20;
  c->max_position_embeddings = 40;
  return c;
}

}  // namespace rote::testing

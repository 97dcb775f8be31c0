// tests/nn/small_writers.h — configs of models that write texts, small, with weights drawn wide so that what they write differs from place to place.
#pragma once

#include <memory>

#include "nn/models/gpt2.h"
#include "nn/models/t5.h"

namespace rote::testing {

inline std::shared_ptr<nn::GPT2Config> small_gpt2_config() {
  auto config = std::make_shared<nn::GPT2Config>();
  config->vocab_size = 31;
  config->n_positions = 40;
  config->n_embd = 12;
  config->n_layer = 2;
  config->n_head = 3;
  config->initializer_range = 0.4;
  return config;
}

inline std::shared_ptr<nn::T5Config> small_t5_config() {
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = 31;
  config->d_model = 12;
  config->d_kv = 4;
  config->d_ff = 20;
  config->num_layers = 2;
  config->num_heads = 3;
  config->initializer_factor = 2;
  return config;
}

}  // namespace rote::testing

// nn/generate.h — text from a model, one token after the other: greedy, with or without a cache of keys and values.
#pragma once

#include <optional>
#include <vector>

#include "nn/model.h"

namespace rote::nn {

struct GenerateOptions {
  int64_t max_new_tokens = 20;
  std::vector<int64_t> eos_token_id = {};   // any of them ends a row
  std::optional<int64_t> pad_token_id = {};  // fills rows that ended; none: the first eos id, or 0
  bool use_cache = true;                    // the same tokens without, more slowly
};

// Decoder-only models: prompt holds input_ids [B,T], left padded, and attention_mask [B,T] where some are padding; the result is [B,T+n] with the
// prompts in front. Encoder-decoder models: input_ids and attention_mask of the encoder; the result is [B,1+n] behind decoder_start_token_id. The most likely token at each step, the lowest id among equals. Ends when each row has ended.
Tensor generate(Model& model, const Batch& prompt, const GenerateOptions& options = {});

}  // namespace rote::nn

// nn/generate.h — text from a model, one token after the other: the most likely one each time, or the best of several beams. With a cache of keys and
// values or without; the settings: generation_config.h.
#pragma once

#include "nn/generation_config.h"
#include "nn/model.h"

namespace rote::nn {

struct Generated {
  Tensor sequences;         // i64 [B·num_return_sequences, T], those of a prompt together, the best first; padded behind their end
  Tensor sequences_scores;  // f32 [B·num_return_sequences] of beams: mean log probability, with length_penalty; none where num_beams is 1
};

// What can be said of settings before a token is written, for prompts of that length (encoder-decoder models: 1), throws; gives the longest length of
// a sequence.
int64_t check_generation(Model& model, const GenerationConfig& config, int64_t prompt_length);

// Decoder-only models: prompt holds input_ids [B,T], left padded, and attention_mask [B,T] where some are padding; sequences have the prompts in front.
// Encoder-decoder models: input_ids and attention_mask of the encoder; sequences begin with decoder_start_token_id.
// One beam: the token of the highest score each time, the lowest id among equals. Several: beam_search.h. The tokens of a row depend on no other row.
// Rows that ended are filled with pad_token_id, and as the reference does it behind beams with the first end id where that is 0 or none.
// Throws ArgumentError for settings that cannot be, and NonFiniteError where a score is NaN.
Generated generate(Model& model, const Batch& prompt, const GenerationConfig& config = {});

}  // namespace rote::nn

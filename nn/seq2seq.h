// nn/seq2seq.h — what encoder-decoder models share: decoder inputs built from labels, and what one decoder step sees.
#pragma once

#include "nn/attention.h"
#include "nn/model.h"

namespace rote::nn {

// labels [B,T] one place to the right behind decoder_start_token_id; -100 becomes pad_token_id.
Tensor shift_right(const Tensor& labels, int64_t decoder_start_token_id, int64_t pad_token_id);
// decoder_input_ids of the batch, else from its labels; ArgumentError where it has neither.
Tensor decoder_inputs(const Batch& in, int64_t decoder_start_token_id, int64_t pad_token_id);

// What the layers of a decoder need beside their input.
struct DecoderSurroundings {
  CausalMask mask = {};        // among the stack's own positions
  Tensor encoded = {};         // [B,S,C]
  Tensor encoded_mask = {};    // bool [B,1,1,S] or none
  bool with_probabilities = false;
  KeyValueCache* cache = nullptr;
};

}  // namespace rote::nn

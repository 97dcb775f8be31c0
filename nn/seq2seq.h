// nn/seq2seq.h — what encoder-decoder models share: decoder inputs built from labels, the pass through both stacks, and what a decoder step sees.
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

// The encoder, where the batch brings no encoder_outputs, and the decoder of `ids` [B,T]: stacks of one kind. Fills all but logits and loss;
// last_hidden_state [B,T,C] is the decoder's.
template <class Stack>
ModelOutput encode_and_decode(Stack& encoder, Stack& decoder, const Batch& in, const Tensor& ids, bool with_states, bool with_probabilities) {
  ModelOutput out;
  DecoderSurroundings around{.encoded = in.find("encoder_outputs"), .encoded_mask = key_mask(in.find("attention_mask")), .with_probabilities = with_probabilities};
  if (!around.encoded.defined()) {
    const ModelOutput encoded = encoder(in["input_ids"], DecoderSurroundings{.mask = {.mask = around.encoded_mask}, .with_probabilities = with_probabilities}, with_states);
    around.encoded = encoded.last_hidden_state;
    out.encoder_hidden_states = encoded.hidden_states;
    out.encoder_attentions = encoded.attentions;
  }
  const int64_t T = ids.size(1), past = in.cache != nullptr ? in.cache->length() : 0;
  around.mask = causal_mask(in.find("decoder_attention_mask"), T, past + T);
  around.cache = in.cache;
  const ModelOutput decoded = decoder(ids, around, with_states);
  out.last_hidden_state = decoded.last_hidden_state;
  out.decoder_hidden_states = decoded.hidden_states;
  out.decoder_attentions = decoded.attentions;
  out.cross_attentions = decoded.cross_attentions;
  out.encoder_last_hidden_state = around.encoded;
  return out;
}

}  // namespace rote::nn

// nn/models/bart.h — BART: encoder and decoder with learned positions. Names of modules and parameters are the reference's.
// Lewis et al. 2019, arXiv:1910.13461
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/norm.h"
#include "nn/seq2seq.h"

namespace rote::nn {

struct BartConfig : Config {
  int64_t vocab_size = 50265;
  int64_t max_position_embeddings = 1024;
  int64_t d_model = 1024;
  int64_t encoder_layers = 12, encoder_attention_heads = 16, encoder_ffn_dim = 4096;
  int64_t decoder_layers = 12, decoder_attention_heads = 16, decoder_ffn_dim = 4096;
  std::string activation_function = "gelu";
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool scale_embedding = false;  // embeddings times √d_model
  std::optional<int64_t> pad_token_id = 1, bos_token_id = 0, decoder_start_token_id = 2, forced_eos_token_id = 2;
  std::vector<int64_t> eos_token_id = {2};

  BartConfig();
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "model"; }
  std::optional<int64_t> decoder_start() const override { return decoder_start_token_id.value_or(pad_token_id.value_or(0)); }
  InputLimits limits() const override { return {max_position_embeddings, vocab_size}; }
};

struct BartAttention : Layer<BartAttention> {
  const int64_t heads;
  const double dropout;
  Linear k_proj, v_proj, q_proj, out_proj;

  BartAttention(const BartConfig& c, int64_t heads);
  KeyValueCache::Pair keys_of(const Tensor& x) { return {split_heads(k_proj(x), heads), split_heads(v_proj(x), heads)}; }
  AttentionResult forward(const Tensor& x, const KeyValueCache::Pair& seen, AttendOptions options);
};

// Of the encoder, or with encoder_attn of the decoder.
struct BartLayer : Layer<BartLayer> {
  BartAttention self_attn;
  LayerNorm self_attn_layer_norm;
  std::optional<BartAttention> encoder_attn;
  std::optional<LayerNorm> encoder_attn_layer_norm;
  Linear fc1, fc2;
  LayerNorm final_layer_norm;
  Activation activation_fn;
  Dropout dropout, activation_dropout;

  struct Result {
    Tensor context, self_probabilities, cross_probabilities;
  };
  BartLayer(const BartConfig& c, bool decoder);
  std::string class_name() const override { return encoder_attn ? "BartDecoderLayer" : "BartEncoderLayer"; }
  Result forward(const Tensor& x, size_t layer, const DecoderSurroundings& in);
};

struct BartStack : Layer<BartStack> {
  const double scale;
  Embedding embed_tokens, embed_positions;  // positions start at row 2
  ModuleList<BartLayer> layers;
  LayerNorm layernorm_embedding;
  Dropout dropout;

  BartStack(const BartConfig& c, bool decoder);
  ModelOutput forward(const Tensor& ids, const DecoderSurroundings& in, bool with_states);
};

struct BartModel : Model {
  using ConfigType = BartConfig;
  Embedding shared;
  BartStack encoder, decoder;

  explicit BartModel(std::shared_ptr<BartConfig> config);
  Signature signature() const override;
  // last_hidden_state is the decoder's.
  ModelOutput forward(const Batch& in) override;
};

// logits [B,T,V], labels [B,T] scored place by place; decoder inputs are the labels shifted right unless given.
struct BartForConditionalGeneration : Model {
  using ConfigType = BartConfig;
  BartModel model;
  Linear lm_head;
  Tensor final_logits_bias;  // [1,V], saved but not trained

  explicit BartForConditionalGeneration(std::shared_ptr<BartConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

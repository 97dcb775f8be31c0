// nn/models/llama.h — Llama, and what differs from it by a few options: Mistral (a sliding window), Qwen3 (normalised queries and keys).
// Names of modules and parameters are the reference's. Touvron et al. 2023, arXiv:2302.13971; Jiang et al. 2023, arXiv:2310.06825
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/ops/pointwise.h"
#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/norm.h"
#include "nn/rope.h"

namespace rote::nn {

struct LlamaConfig : Config {
  int64_t vocab_size = 32000;
  int64_t hidden_size = 4096;
  int64_t intermediate_size = 11008;
  int64_t num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  std::optional<int64_t> num_key_value_heads;  // none: num_attention_heads
  std::optional<int64_t> head_dim;             // none: hidden_size / num_attention_heads
  std::string hidden_act = "silu";
  int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6;
  bool tie_word_embeddings = false;
  bool attention_bias = false, mlp_bias = false;
  double attention_dropout = 0;
  std::optional<int64_t> bos_token_id = 1, pad_token_id;
  std::vector<int64_t> eos_token_id = {2};
  RopeParameters rope_parameters;

  LlamaConfig() { model_type = "llama"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "model"; }
  InputLimits limits() const override { return {std::nullopt, vocab_size}; }
  int64_t key_heads() const { return num_key_value_heads.value_or(num_attention_heads); }
  int64_t head_width() const { return head_dim.value_or(hidden_size / num_attention_heads); }
  // How many keys a query of this layer sees; 0: all before it.
  virtual int64_t window(size_t) const { return 0; }
  // Whether queries and keys are normalised by head.
  virtual bool normalises_heads() const { return false; }
};

struct MistralConfig : LlamaConfig {
  std::optional<int64_t> sliding_window = 4096;

  MistralConfig();
  void visit(ConfigFields& fields) override;
  void check() const override;
  int64_t window(size_t) const override { return sliding_window.value_or(0); }
};

struct Qwen3Config : LlamaConfig {
  bool use_sliding_window = false;
  std::optional<int64_t> sliding_window = 4096;
  int64_t max_window_layers = 28;
  std::vector<std::string> layer_types;  // full_attention or sliding_attention; empty: sliding from max_window_layers on

  Qwen3Config();
  void visit(ConfigFields& fields) override;
  void check() const override;
  int64_t window(size_t layer) const override;
  bool normalises_heads() const override { return true; }
};

// What a layer needs beside its input.
struct DecoderContext {
  Rotation rotation;
  std::vector<CausalMask> masks;  // by layer
  bool with_probabilities = false;
  KeyValueCache* cache = nullptr;
};

struct LlamaAttention : Layer<LlamaAttention> {
  const int64_t heads, key_heads;
  const size_t layer;
  const double dropout;
  Linear q_proj, k_proj, v_proj, o_proj;
  std::optional<RMSNorm> q_norm, k_norm;  // over the channels of a head

  LlamaAttention(const LlamaConfig& c, size_t layer);
  AttentionResult forward(const Tensor& x, const DecoderContext& in);  // [B,T,C] -> [B,T,C]
};

struct LlamaMLP : Layer<LlamaMLP> {  // Shazeer 2020, arXiv:2002.05202
  Linear gate_proj, up_proj, down_proj;
  Activation act_fn;

  explicit LlamaMLP(const LlamaConfig& c);
  Tensor forward(const Tensor& x) { return down_proj(act_fn(gate_proj(x)) * up_proj(x)); }
};

struct LlamaDecoderLayer : Layer<LlamaDecoderLayer> {
  LlamaAttention self_attn;
  LlamaMLP mlp;
  RMSNorm input_layernorm, post_attention_layernorm;

  LlamaDecoderLayer(const LlamaConfig& c, size_t layer);
  AttentionResult forward(const Tensor& x, const DecoderContext& in);
};

struct LlamaModel : Model {
  using ConfigType = LlamaConfig;
  Embedding embed_tokens;
  ModuleList<LlamaDecoderLayer> layers;
  RMSNorm norm;
  RotaryEmbedding rotary;

  explicit LlamaModel(std::shared_ptr<LlamaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,T,V], labels [B,T]: each place is scored by the logits before it.
struct LlamaForCausalLM : Model {
  using ConfigType = LlamaConfig;
  LlamaModel model;
  Linear lm_head;

  explicit LlamaForCausalLM(std::shared_ptr<LlamaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,L] at the last token of each row that is not padding.
struct LlamaForSequenceClassification : Model {
  using ConfigType = LlamaConfig;
  LlamaModel model;
  Linear score;

  explicit LlamaForSequenceClassification(std::shared_ptr<LlamaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct MistralModel : LlamaModel {
  using ConfigType = MistralConfig;
  using LlamaModel::LlamaModel;
};
struct MistralForCausalLM : LlamaForCausalLM {
  using ConfigType = MistralConfig;
  using LlamaForCausalLM::LlamaForCausalLM;
};
struct MistralForSequenceClassification : LlamaForSequenceClassification {
  using ConfigType = MistralConfig;
  using LlamaForSequenceClassification::LlamaForSequenceClassification;
};
struct Qwen3Model : LlamaModel {
  using ConfigType = Qwen3Config;
  using LlamaModel::LlamaModel;
};
struct Qwen3ForCausalLM : LlamaForCausalLM {
  using ConfigType = Qwen3Config;
  using LlamaForCausalLM::LlamaForCausalLM;
};
struct Qwen3ForSequenceClassification : LlamaForSequenceClassification {
  using ConfigType = Qwen3Config;
  using LlamaForSequenceClassification::LlamaForSequenceClassification;
};

}  // namespace rote::nn

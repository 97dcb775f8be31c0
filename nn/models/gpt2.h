// nn/models/gpt2.h — GPT-2. Names of modules and parameters are the reference's. Radford et al. 2019
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/conv1d.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/norm.h"

namespace rote::nn {

struct GPT2Config : Config {
  int64_t vocab_size = 50257;
  int64_t n_positions = 1024;
  int64_t n_embd = 768;
  int64_t n_layer = 12;
  int64_t n_head = 12;
  std::optional<int64_t> n_inner;  // none: 4·n_embd
  std::string activation_function = "gelu_new";
  double resid_pdrop = 0.1, embd_pdrop = 0.1, attn_pdrop = 0.1;
  double layer_norm_epsilon = 1e-5;
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;
  bool tie_word_embeddings = true;
  std::optional<int64_t> bos_token_id = 50256, pad_token_id;
  std::vector<int64_t> eos_token_id = {50256};

  GPT2Config() { model_type = "gpt2"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "transformer"; }
  InputLimits limits() const override { return {n_positions, vocab_size}; }
};

struct GPT2Attention : Layer<GPT2Attention> {
  const int64_t heads;
  const size_t layer;
  const double scale;
  Conv1D c_attn, c_proj;
  Dropout attn_dropout, resid_dropout;

  GPT2Attention(const GPT2Config& c, size_t layer);
  // x [B,T,C] -> [B,T,C]; with a cache the keys of earlier positions are seen too.
  AttentionResult forward(const Tensor& x, const CausalMask& mask, bool with_probabilities, KeyValueCache* cache);
};

struct GPT2MLP : Layer<GPT2MLP> {
  Conv1D c_fc, c_proj;
  Activation act;
  Dropout dropout;

  explicit GPT2MLP(const GPT2Config& c);
  Tensor forward(const Tensor& x) { return dropout(c_proj(act(c_fc(x)))); }
};

struct GPT2Block : Layer<GPT2Block> {
  LayerNorm ln_1, ln_2;
  GPT2Attention attn;
  GPT2MLP mlp;

  GPT2Block(const GPT2Config& c, size_t layer);
  AttentionResult forward(const Tensor& x, const CausalMask& mask, bool with_probabilities, KeyValueCache* cache);
};

struct GPT2Model : Model {
  using ConfigType = GPT2Config;
  Embedding wte, wpe;
  Dropout drop;
  ModuleList<GPT2Block> h;
  LayerNorm ln_f;

  explicit GPT2Model(std::shared_ptr<GPT2Config> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,T,V], labels [B,T]: each place is scored by the logits before it.
struct GPT2LMHeadModel : Model {
  using ConfigType = GPT2Config;
  GPT2Model transformer;
  Linear lm_head;

  explicit GPT2LMHeadModel(std::shared_ptr<GPT2Config> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,L] at the last token of each row that is not padding.
struct GPT2ForSequenceClassification : Model {
  using ConfigType = GPT2Config;
  GPT2Model transformer;
  Linear score;

  explicit GPT2ForSequenceClassification(std::shared_ptr<GPT2Config> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

// nn/models/t5.h — T5: encoder and decoder with relative position biases, gated variants. Names of modules and parameters are the reference's.
// Raffel et al. 2019, arXiv:1910.10683
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/ops/pointwise.h"
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

struct T5Config : Config {
  int64_t vocab_size = 32128;
  int64_t d_model = 512, d_kv = 64, d_ff = 2048;
  int64_t num_layers = 6, num_heads = 8;
  std::optional<int64_t> num_decoder_layers;  // none: num_layers
  int64_t relative_attention_num_buckets = 32, relative_attention_max_distance = 128;
  double dropout_rate = 0.1, layer_norm_epsilon = 1e-6, initializer_factor = 1;
  std::string feed_forward_proj = "relu";  // an activation, or gated-<activation>
  bool scale_decoder_outputs = true;       // false in files of version 1.1, which say so by tie_word_embeddings false; weights are tied always
  std::optional<int64_t> pad_token_id = 0, decoder_start_token_id = 0;
  std::vector<int64_t> eos_token_id = {1};

  T5Config() { model_type = "t5"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  InputLimits limits() const override { return {std::nullopt, vocab_size}; }
  bool is_gated() const { return feed_forward_proj.rfind("gated-", 0) == 0; }
  std::string activation() const;
  std::optional<int64_t> decoder_start() const override { return decoder_start_token_id.value_or(pad_token_id.value_or(0)); }
};

struct T5LayerNorm : RMSNorm {
  using RMSNorm::RMSNorm;
};

struct T5Attention : Layer<T5Attention> {
  const int64_t heads;
  const bool bidirectional;
  const int64_t buckets, max_distance;
  Linear q, k, v, o;
  std::optional<Embedding> relative_attention_bias;
  Dropout dropout;

  T5Attention(const T5Config& c, bool with_bias, bool bidirectional);
  AttentionResult forward(const Tensor& x, const KeyValueCache::Pair& seen, const AttendOptions& options);
  KeyValueCache::Pair keys_of(const Tensor& x) {
    const CallGuard guard(*this);
    return {split_heads(k(x), heads), split_heads(v(x), heads)};
  }
  // [samples,H,T,S], the same for each, for queries at the last T of S positions, or of keys elsewhere.
  Tensor position_bias(int64_t samples, int64_t T, int64_t S);
};

struct T5FeedForward : Layer<T5FeedForward> {  // wi and wo, or wi_0, wi_1 and wo where gated
  std::optional<Linear> wi, wi_0, wi_1;
  Linear wo;
  Dropout dropout;
  Activation act;

  explicit T5FeedForward(const T5Config& c);
  std::string class_name() const override { return wi ? "T5DenseActDense" : "T5DenseGatedActDense"; }
  Tensor forward(const Tensor& x);
};

struct T5LayerSelfAttention : Layer<T5LayerSelfAttention> {
  T5Attention SelfAttention;
  T5LayerNorm layer_norm;
  Dropout dropout;

  T5LayerSelfAttention(const T5Config& c, bool with_bias, bool bidirectional);
  AttentionResult forward(const Tensor& x, size_t layer, const AttendOptions& options, KeyValueCache* cache);
};

struct T5LayerCrossAttention : Layer<T5LayerCrossAttention> {
  T5Attention EncDecAttention;
  T5LayerNorm layer_norm;
  Dropout dropout;

  explicit T5LayerCrossAttention(const T5Config& c);
  AttentionResult forward(const Tensor& x, size_t layer, const DecoderSurroundings& in);
};

struct T5LayerFF : Layer<T5LayerFF> {
  T5FeedForward DenseReluDense;
  T5LayerNorm layer_norm;
  Dropout dropout;

  explicit T5LayerFF(const T5Config& c);
  Tensor forward(const Tensor& x) { return x + dropout(DenseReluDense(layer_norm(x))); }
};

struct T5Parts : Module {  // the members of a block under the names 0, 1, 2
  T5LayerSelfAttention self;
  std::optional<T5LayerCrossAttention> cross;
  T5LayerFF feed_forward;

  T5Parts(const T5Config& c, bool first, bool decoder);

 protected:
  bool is_called() const override { return false; }
};

struct T5Block : Layer<T5Block> {
  T5Parts layer;

  struct Result {
    Tensor context, self_probabilities, cross_probabilities;

    auto parts() const { return std::tie(context, self_probabilities, cross_probabilities); }
  };
  T5Block(const T5Config& c, bool first, bool decoder);
  Result forward(const Tensor& x, size_t i, const AttendOptions& options, const DecoderSurroundings& in);
};

// Encoder or decoder.
struct T5Stack : Layer<T5Stack> {
  const bool decoder;
  Embedding embed_tokens;
  ModuleList<T5Block> block;
  T5LayerNorm final_layer_norm;
  Dropout dropout;

  T5Stack(const T5Config& c, bool decoder);
  // ids [B,T] -> last_hidden_state [B,T,C], hidden_states, attentions; of a decoder cross_attentions too.
  ModelOutput forward(const Tensor& ids, DecoderSurroundings in, bool with_states);
};

// logits [B,T,V], labels [B,T] scored place by place; decoder inputs are the labels shifted right unless given.
struct T5ForConditionalGeneration : Model {
  using ConfigType = T5Config;
  Embedding shared;
  T5Stack encoder, decoder;
  Linear lm_head;

  explicit T5ForConditionalGeneration(std::shared_ptr<T5Config> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
  void init_weights(const std::function<bool(const std::string&)>& wanted) override;
};

}  // namespace rote::nn

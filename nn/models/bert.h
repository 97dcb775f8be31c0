// nn/models/bert.h — BERT's encoder. Names of modules and parameters are the reference's. Heads: bert_heads.h.
// Devlin et al. 2018, arXiv:1810.04805
#pragma once

#include <memory>
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

namespace rote::nn {

struct BertConfig : Config {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 2;
  double layer_norm_eps = 1e-12;
  std::optional<int64_t> pad_token_id = 0;
  std::optional<double> classifier_dropout;  // none: hidden_dropout_prob
  bool tie_word_embeddings = true;
  int64_t chunk_size_feed_forward = 0;       // positions at a time; 0: all at once

  BertConfig() { model_type = "bert"; }
  virtual const char* family() const { return "bert"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "bert"; }
  InputLimits limits() const override { return {max_position_embeddings, vocab_size}; }
  virtual int64_t position_padding() const { return -1; }  // the row of position_embeddings that padding takes; -1: none
  double head_dropout() const { return classifier_dropout.value_or(hidden_dropout_prob); }
};

struct BertEmbeddings : Layer<BertEmbeddings> {
  Embedding word_embeddings, position_embeddings, token_type_embeddings;
  LayerNorm norm;
  Dropout dropout;
  // Names that files hold, for 0, 1, … and zeros: made for each call, so nothing is kept under them.
  Tensor position_ids = empty({0}, {.dtype = DType::i64}), token_type_ids = empty({0}, {.dtype = DType::i64});

  explicit BertEmbeddings(const BertConfig& c);
  // input_ids [B,T]; token_type_ids, position_ids [B,T], [1,T] or none -> [B,T,C]
  Tensor forward(const Tensor& input_ids, const Tensor& token_types, const Tensor& positions);
};

struct BertSelfAttention : Layer<BertSelfAttention> {
  const int64_t heads;
  Linear query, key, value;
  Dropout dropout;

  explicit BertSelfAttention(const BertConfig& c);
  // x [B,T,C]; mask bool [B,1,1,T] or none: true keeps the key. Without probabilities nothing of size T·T is made.
  AttentionResult forward(const Tensor& x, const Tensor& mask, bool with_probabilities);
};

struct BertSelfOutput : Layer<BertSelfOutput> {
  Linear dense;
  LayerNorm norm;
  Dropout dropout;

  explicit BertSelfOutput(const BertConfig& c);
  Tensor forward(const Tensor& context, const Tensor& x) { return norm(dropout(dense(context)) + x); }
};

struct BertAttention : Layer<BertAttention> {
  BertSelfAttention self;
  BertSelfOutput output;

  explicit BertAttention(const BertConfig& c);
  AttentionResult forward(const Tensor& x, const Tensor& mask, bool with_probabilities);
};

struct BertIntermediate : Layer<BertIntermediate> {
  Linear dense;
  Activation intermediate_act_fn;

  explicit BertIntermediate(const BertConfig& c);
  Tensor forward(const Tensor& x) { return intermediate_act_fn(dense(x)); }
};

struct BertOutput : Layer<BertOutput> {
  Linear dense;
  LayerNorm norm;
  Dropout dropout;

  explicit BertOutput(const BertConfig& c);
  Tensor forward(const Tensor& wide, const Tensor& x) { return norm(dropout(dense(wide)) + x); }
};

struct BertLayer : Layer<BertLayer> {
  BertAttention attention;
  BertIntermediate intermediate;
  BertOutput output;
  const int64_t chunk;  // positions that pass the feed-forward part at a time; 0: all

  explicit BertLayer(const BertConfig& c);
  AttentionResult forward(const Tensor& x, const Tensor& mask, bool with_probabilities);
};

struct BertEncoder : Layer<BertEncoder> {
  ModuleList<BertLayer> layer;

  explicit BertEncoder(const BertConfig& c);
  // Fills last_hidden_state, and hidden_states and attentions where asked for.
  ModelOutput forward(const Tensor& x, const Tensor& mask, bool with_states, bool with_probabilities);
};

struct BertPooler : Layer<BertPooler> {
  Linear dense;
  Activation activation;

  explicit BertPooler(const BertConfig& c);
  // x [B,T,C] -> [B,C], from the first position.
  Tensor forward(const Tensor& x);
};

struct BertModelOptions {
  bool pooler = true;
};

struct BertModel : Model {
  using ConfigType = BertConfig;
  BertEmbeddings embeddings;
  BertEncoder encoder;
  std::optional<BertPooler> pooler;

  explicit BertModel(std::shared_ptr<BertConfig> config, BertModelOptions options = {});
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

// nn/models/distilbert.h — DistilBERT: a BERT of half the layers, without token types and pooler. Names are the reference's.
// Sanh et al. 2019, arXiv:1910.01108
#pragma once

#include <memory>
#include <string>

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/norm.h"

namespace rote::nn {

struct DistilBertConfig : Config {
  int64_t vocab_size = 30522;
  int64_t max_position_embeddings = 512;
  bool sinusoidal_pos_embds = false;  // positions start as sines
  int64_t n_layers = 6, n_heads = 12;
  int64_t dim = 768, hidden_dim = 3072;
  double dropout = 0.1, attention_dropout = 0.1;
  std::string activation = "gelu";
  double qa_dropout = 0.1, seq_classif_dropout = 0.2;
  std::optional<int64_t> pad_token_id = 0;
  bool tie_word_embeddings = true;
  int64_t chunk_size_feed_forward = 0;  // positions at a time; 0: all at once

  DistilBertConfig() { model_type = "distilbert"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "distilbert"; }
  InputLimits limits() const override { return {max_position_embeddings, vocab_size}; }
};

struct DistilBertEmbeddings : Layer<DistilBertEmbeddings> {
  Embedding word_embeddings, position_embeddings;
  LayerNorm norm;
  Dropout dropout;

  explicit DistilBertEmbeddings(const DistilBertConfig& c);
  std::string class_name() const override { return "Embeddings"; }
  const bool sinusoidal;
  Tensor forward(const Tensor& input_ids);  // [B,T] -> [B,T,C]
  void init_own(const std::function<bool(const char*)>& takes, const std::string& name, double std) override;
};

struct DistilBertSelfAttention : Layer<DistilBertSelfAttention> {
  const int64_t heads;
  Linear q_lin, k_lin, v_lin, out_lin;
  Dropout dropout;

  explicit DistilBertSelfAttention(const DistilBertConfig& c);
  AttentionResult forward(const Tensor& x, const Tensor& mask, bool with_probabilities);
};

struct DistilBertFFN : Layer<DistilBertFFN> {
  Linear lin1, lin2;
  Activation activation;
  Dropout dropout;
  const int64_t chunk;

  explicit DistilBertFFN(const DistilBertConfig& c);
  std::string class_name() const override { return "FFN"; }
  Tensor forward(const Tensor& x);
};

struct DistilBertBlock : Layer<DistilBertBlock> {
  DistilBertSelfAttention attention;
  LayerNorm sa_layer_norm, output_layer_norm;
  DistilBertFFN ffn;

  explicit DistilBertBlock(const DistilBertConfig& c);
  std::string class_name() const override { return "TransformerBlock"; }
  AttentionResult forward(const Tensor& x, const Tensor& mask, bool with_probabilities);
};

struct DistilBertTransformer : Layer<DistilBertTransformer> {
  ModuleList<DistilBertBlock> layer;

  explicit DistilBertTransformer(const DistilBertConfig& c);
  std::string class_name() const override { return "Transformer"; }
  ModelOutput forward(const Tensor& x, const Tensor& mask, bool with_states, bool with_probabilities);
};

struct DistilBertModel : Model {
  using ConfigType = DistilBertConfig;
  DistilBertEmbeddings embeddings;
  DistilBertTransformer transformer;

  explicit DistilBertModel(std::shared_ptr<DistilBertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct DistilBertForSequenceClassification : Model {
  using ConfigType = DistilBertConfig;
  DistilBertModel distilbert;
  Linear pre_classifier, classifier;
  Dropout dropout;

  explicit DistilBertForSequenceClassification(std::shared_ptr<DistilBertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct DistilBertForQuestionAnswering : Model {
  using ConfigType = DistilBertConfig;
  DistilBertModel distilbert;
  Linear qa_outputs;
  Dropout dropout;

  explicit DistilBertForQuestionAnswering(std::shared_ptr<DistilBertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct DistilBertForTokenClassification : Model {
  using ConfigType = DistilBertConfig;
  DistilBertModel distilbert;
  Dropout dropout;
  Linear classifier;

  explicit DistilBertForTokenClassification(std::shared_ptr<DistilBertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct DistilBertForMaskedLM : Model {
  using ConfigType = DistilBertConfig;
  DistilBertModel distilbert;
  Activation activation;
  Linear vocab_transform, vocab_projector;
  LayerNorm vocab_layer_norm;

  explicit DistilBertForMaskedLM(std::shared_ptr<DistilBertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

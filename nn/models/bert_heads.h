// nn/models/bert_heads.h — BERT's encoder with the heads of the reference: each a Model of its own, with its loss.
//
// `labels` (spans: start_positions, end_positions) may be absent; then there is no loss. All return hidden_states and attentions on request.
#pragma once

#include "nn/models/bert.h"

namespace rote::nn {

// logits [B,L], labels by problem_type (sequence_loss).
struct BertForSequenceClassification : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  Dropout dropout;
  Linear classifier;

  explicit BertForSequenceClassification(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,T,L], labels [B,T].
struct BertForTokenClassification : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  Dropout dropout;
  Linear classifier;

  explicit BertForTokenClassification(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct BertPredictionHeadTransform : Layer<BertPredictionHeadTransform> {
  Linear dense;
  Activation transform_act_fn;
  LayerNorm norm;

  explicit BertPredictionHeadTransform(const BertConfig& c);
  Tensor forward(const Tensor& x) { return norm(transform_act_fn(dense(x))); }
};

struct BertLMPredictionHead : Layer<BertLMPredictionHead> {
  Tensor bias;  // [V]: the decoder's own where they are tied
  BertPredictionHeadTransform transform;
  Linear decoder;

  explicit BertLMPredictionHead(const BertConfig& c);
  Tensor forward(const Tensor& x) { return decoder(transform(x)); }
};

struct BertOnlyMLMHead : Layer<BertOnlyMLMHead> {
  BertLMPredictionHead predictions;

  explicit BertOnlyMLMHead(const BertConfig& c);
  Tensor forward(const Tensor& x) { return predictions(x); }
};

// logits [B,T,V], labels [B,T]. With tie_word_embeddings the decoder's matrix is that of the word embeddings.
struct BertForMaskedLM : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  BertOnlyMLMHead cls;

  explicit BertForMaskedLM(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// start_logits, end_logits [B,T]; start_positions, end_positions [B], those outside of the row not scored. The loss is the mean of the two
// cross-entropies, each divided by its own count.
struct BertForQuestionAnswering : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  Linear qa_outputs;

  explicit BertForQuestionAnswering(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct BertOnlyNSPHead : Layer<BertOnlyNSPHead> {
  Linear seq_relationship;

  explicit BertOnlyNSPHead(const BertConfig& c);
  Tensor forward(const Tensor& x) { return seq_relationship(x); }
};

// logits [B,2], labels [B]: 0 where the second text follows the first, 1 where it is a random one.
struct BertForNextSentencePrediction : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  BertOnlyNSPHead cls;

  explicit BertForNextSentencePrediction(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// Inputs [B,N,T] with N choices a row; logits [B,N], labels [B]. hidden_states and attentions are those of B·N rows.
struct BertForMultipleChoice : Model {
  using ConfigType = BertConfig;
  BertModel bert;
  Dropout dropout;
  Linear classifier;

  explicit BertForMultipleChoice(std::shared_ptr<BertConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

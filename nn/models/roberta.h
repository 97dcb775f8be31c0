// nn/models/roberta.h — RoBERTa: BERT's encoder with positions counted from the padding id on, and heads of its own. Names are the
// reference's. Liu et al. 2019, arXiv:1907.11692
#pragma once

#include "nn/models/bert.h"

namespace rote::nn {

struct RobertaConfig : BertConfig {
  std::optional<int64_t> bos_token_id = 0;
  std::vector<int64_t> eos_token_id = {2};

  RobertaConfig();
  const char* family() const override { return "roberta"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "roberta"; }
  int64_t position_padding() const override { return pad_token_id.value_or(1); }
  // Positions start behind the padding id.
  InputLimits limits() const override { return {max_position_embeddings - position_padding() - 1, vocab_size}; }
};

// position_ids by default: pad_token_id + 1, + 2, … over the tokens that are not padding, pad_token_id for those that are.
struct RobertaModel : BertModel {
  using ConfigType = RobertaConfig;
  explicit RobertaModel(std::shared_ptr<RobertaConfig> config, BertModelOptions options = {}) : BertModel(std::move(config), options) { rename_classes("Bert", "Roberta"); }
  ModelOutput forward(const Batch& in) override;
};

struct RobertaClassificationHead : Layer<RobertaClassificationHead> {
  Linear dense, out_proj;
  Dropout dropout;

  explicit RobertaClassificationHead(const RobertaConfig& c);
  Tensor forward(const Tensor& x);  // [B,T,C] -> [B,L], from the first position
};

struct RobertaForSequenceClassification : Model {
  using ConfigType = RobertaConfig;
  RobertaModel roberta;
  RobertaClassificationHead classifier;

  explicit RobertaForSequenceClassification(std::shared_ptr<RobertaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct RobertaLMHead : Layer<RobertaLMHead> {
  Tensor bias;  // [V]: the decoder's own where they are tied
  Linear dense, decoder;
  LayerNorm layer_norm;

  explicit RobertaLMHead(const RobertaConfig& c);
  Tensor forward(const Tensor& x);
};

struct RobertaForMaskedLM : Model {
  using ConfigType = RobertaConfig;
  RobertaModel roberta;
  RobertaLMHead lm_head;

  explicit RobertaForMaskedLM(std::shared_ptr<RobertaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct RobertaForTokenClassification : Model {
  using ConfigType = RobertaConfig;
  RobertaModel roberta;
  Dropout dropout;
  Linear classifier;

  explicit RobertaForTokenClassification(std::shared_ptr<RobertaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

struct RobertaForQuestionAnswering : Model {
  using ConfigType = RobertaConfig;
  RobertaModel roberta;
  Linear qa_outputs;

  explicit RobertaForQuestionAnswering(std::shared_ptr<RobertaConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

#include "nn/models/bert_heads.h"

#include <algorithm>

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

namespace {

constexpr const char* kOutputs = "loss, logits, hidden_states, attentions";

}  // namespace

BertForSequenceClassification::BertForSequenceClassification(std::shared_ptr<BertConfig> config)
    : Model(config), bert(config), dropout(config->head_dropout()), classifier(config->hidden_size, config->num_labels()) {
  add_modules({{"bert", bert}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

Signature BertForSequenceClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[...]?",
          .outputs = kOutputs,
          .scored = sequence_scored(*config())};
}

ModelOutput BertForSequenceClassification::forward(const Batch& in) {
  const ModelOutput encoded = bert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(encoded.pooler_output));
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

BertForTokenClassification::BertForTokenClassification(std::shared_ptr<BertConfig> config)
    : Model(config), bert(config, {.pooler = false}), dropout(config->head_dropout()), classifier(config->hidden_size, config->num_labels()) {
  add_modules({{"bert", bert}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

Signature BertForTokenClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[B,T]?",
          .outputs = kOutputs,
          .scored = Scored::not_ignored};
}

ModelOutput BertForTokenClassification::forward(const Batch& in) {
  const ModelOutput encoded = bert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(encoded.last_hidden_state));
  if (const Tensor labels = in.find("labels"); labels.defined()) out.loss = class_loss(out.logits, labels, divisor(signature(), in));
  return out;
}

BertPredictionHeadTransform::BertPredictionHeadTransform(const BertConfig& c)
    : dense(c.hidden_size, c.hidden_size), transform_act_fn(c.hidden_act), norm(c.hidden_size, {.eps = c.layer_norm_eps}) {
  add_modules({{"dense", dense}, {"transform_act_fn", transform_act_fn}, {"LayerNorm", norm}});
}

BertLMPredictionHead::BertLMPredictionHead(const BertConfig& c) : bias(empty({c.vocab_size})), transform(c), decoder(c.hidden_size, c.vocab_size) {
  if (c.tie_word_embeddings) decoder.bias = bias;
  add_parameters({{"bias", bias}});
  add_modules({{"transform", transform}, {"decoder", decoder}});
}

BertOnlyMLMHead::BertOnlyMLMHead(const BertConfig& c) : predictions(c) { add_modules({{"predictions", predictions}}); }

BertForMaskedLM::BertForMaskedLM(std::shared_ptr<BertConfig> config) : Model(config), bert(config, {.pooler = false}), cls(*config) {
  if (config->tie_word_embeddings) cls.predictions.decoder.weight = bert.embeddings.word_embeddings.weight;
  add_modules({{"bert", bert}, {"cls", cls}});
  initialise();
}

Signature BertForMaskedLM::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[B,T]?",
          .outputs = kOutputs,
          .scored = Scored::not_ignored};
}

ModelOutput BertForMaskedLM::forward(const Batch& in) {
  const ModelOutput encoded = bert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = cls(encoded.last_hidden_state);
  if (const Tensor labels = in.find("labels"); labels.defined()) out.loss = class_loss(out.logits, labels, divisor(signature(), in));
  return out;
}

BertForQuestionAnswering::BertForQuestionAnswering(std::shared_ptr<BertConfig> config)
    : Model(config), bert(config, {.pooler = false}), qa_outputs(config->hidden_size, 2) {
  ROTE_CHECK(config->num_labels() == 2, ArgumentError, "BertForQuestionAnswering: the config has ", config->num_labels(),
             " labels; a start and an end are 2.");
  add_modules({{"bert", bert}, {"qa_outputs", qa_outputs}});
  initialise();
}

Signature BertForQuestionAnswering::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, start_positions[...]?, end_positions[...]?",
          .outputs = "loss, start_logits, end_logits, hidden_states, attentions",
          .labels = "start_positions, end_positions",
          .scored = Scored::spans};
}

ModelOutput BertForQuestionAnswering::forward(const Batch& in) {
  const ModelOutput encoded = bert(in);
  ModelOutput out = with_states_of(encoded);
  answer_spans(out, qa_outputs(encoded.last_hidden_state), in, signature());
  return out;
}

BertOnlyNSPHead::BertOnlyNSPHead(const BertConfig& c) : seq_relationship(c.hidden_size, 2) { add_modules({{"seq_relationship", seq_relationship}}); }

BertForNextSentencePrediction::BertForNextSentencePrediction(std::shared_ptr<BertConfig> config) : Model(config), bert(config), cls(*config) {
  add_modules({{"bert", bert}, {"cls", cls}});
  initialise();
}

Signature BertForNextSentencePrediction::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[...]?",
          .outputs = kOutputs,
          .scored = Scored::rows};
}

ModelOutput BertForNextSentencePrediction::forward(const Batch& in) {
  const ModelOutput encoded = bert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = cls(encoded.pooler_output);
  if (const Tensor labels = in.find("labels"); labels.defined()) out.loss = class_loss(out.logits, labels, divisor(signature(), in));
  return out;
}

BertForMultipleChoice::BertForMultipleChoice(std::shared_ptr<BertConfig> config)
    : Model(config), bert(config), dropout(config->head_dropout()), classifier(config->hidden_size, 1) {
  add_modules({{"bert", bert}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

Signature BertForMultipleChoice::signature() const {
  return {.inputs = "input_ids[B,N,T] i64, attention_mask[B,N,T]?, token_type_ids[B,N,T]? i64, position_ids[B,N,T]? i64, labels[B]?",
          .outputs = kOutputs,
          .scored = Scored::rows};
}

ModelOutput BertForMultipleChoice::forward(const Batch& in) {
  const int64_t B = in["input_ids"].size(0), N = in["input_ids"].size(1), T = in["input_ids"].size(2);
  Batch rows = in;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids", "position_ids"})
    if (const Tensor x = in.find(name); x.defined()) rows.set(name, reshape(x, {B * N, T}));
  const ModelOutput encoded = bert(rows);
  ModelOutput out = with_states_of(encoded);
  out.logits = reshape(classifier(dropout(encoded.pooler_output)), {B, N});
  if (const Tensor labels = in.find("labels"); labels.defined()) out.loss = class_loss(out.logits, labels, divisor(signature(), in));
  return out;
}

std::vector<ModelEntry> bert_family() {
  return {
      model_entry<BertModel>("bert", "BertModel", "feature-extraction"),
      model_entry<BertForSequenceClassification>("bert", "BertForSequenceClassification", "text-classification"),
      model_entry<BertForTokenClassification>("bert", "BertForTokenClassification", "token-classification"),
      model_entry<BertForMaskedLM>("bert", "BertForMaskedLM", "fill-mask"),
      model_entry<BertForQuestionAnswering>("bert", "BertForQuestionAnswering", "question-answering"),
      model_entry<BertForNextSentencePrediction>("bert", "BertForNextSentencePrediction", "next-sentence-prediction"),
      model_entry<BertForMultipleChoice>("bert", "BertForMultipleChoice", "multiple-choice"),
  };
}

}  // namespace rote::nn

#include "nn/models/roberta.h"

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

namespace {

constexpr const char* kOutputs = "loss, logits, hidden_states, attentions";

Tensor positions_behind(const Tensor& input_ids, int64_t padding) {
  const Tensor ids = contiguous(input_ids), places = empty(ids.shape(), {.dtype = DType::i64});
  const int64_t B = ids.size(0), T = ids.size(1);
  for (int64_t b = 0; b < B; ++b) {
    int64_t next = padding + 1;
    for (int64_t i = b * T; i < (b + 1) * T; ++i) places.data<int64_t>()[i] = ids.data<int64_t>()[i] == padding ? padding : next++;
  }
  return places;
}

}  // namespace

RobertaConfig::RobertaConfig() {
  model_type = "roberta";
  vocab_size = 50265;
  pad_token_id = 1;
}

void RobertaConfig::visit(ConfigFields& fields) {
  BertConfig::visit(fields);
  fields.field("bos_token_id", bos_token_id);
  fields.field("eos_token_id", eos_token_id);
}

void RobertaConfig::check() const {
  BertConfig::check();
  ROTE_CHECK(max_position_embeddings > position_padding() + 1, ArgumentError, "config: max_position_embeddings is ", max_position_embeddings,
             " but positions start behind pad_token_id ", position_padding(), "; give it more than ", position_padding() + 1, ".");
}

ModelOutput RobertaModel::forward(const Batch& in) {
  if (in.contains("position_ids")) return BertModel::forward(in);
  Batch placed = in;
  const InputLimits limit = config()->limits();
  ROTE_CHECK(in["input_ids"].size(1) <= *limit.length, ShapeError, "RobertaModel: input_ids is ", describe(in["input_ids"]), " but the model has ", *limit.length,
             " positions; shorten the rows to ", *limit.length, ".");
  placed.set("position_ids", positions_behind(in["input_ids"], static_cast<const RobertaConfig&>(*config()).position_padding()));
  return BertModel::forward(placed);
}

RobertaClassificationHead::RobertaClassificationHead(const RobertaConfig& c)
    : dense(c.hidden_size, c.hidden_size), out_proj(c.hidden_size, c.num_labels()), dropout(c.head_dropout()) {
  add_modules({{"dense", dense}, {"dropout", dropout}, {"out_proj", out_proj}});
}

Tensor RobertaClassificationHead::forward(const Tensor& x) { return out_proj(dropout(rote::tanh(dense(dropout(select(x, 1, 0)))))); }

RobertaForSequenceClassification::RobertaForSequenceClassification(std::shared_ptr<RobertaConfig> config)
    : Model(config), roberta(config, {.pooler = false}), classifier(*config) {
  add_modules({{"roberta", roberta}, {"classifier", classifier}});
  initialise();
}

Signature RobertaForSequenceClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[...]?",
          .outputs = kOutputs,
          .scored = sequence_scored(*config())};
}

ModelOutput RobertaForSequenceClassification::forward(const Batch& in) {
  const ModelOutput encoded = roberta(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(encoded.last_hidden_state);
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

RobertaLMHead::RobertaLMHead(const RobertaConfig& c)
    : bias(started({c.vocab_size}, 0)), dense(c.hidden_size, c.hidden_size), decoder(c.hidden_size, c.vocab_size), layer_norm(c.hidden_size, {.eps = c.layer_norm_eps}) {
  if (c.tie_word_embeddings) decoder.bias = bias;
  add_parameters({{"bias", bias}});
  add_modules({{"dense", dense}, {"layer_norm", layer_norm}, {"decoder", decoder}});
}

Tensor RobertaLMHead::forward(const Tensor& x) { return decoder(layer_norm(gelu(dense(x)))); }

RobertaForMaskedLM::RobertaForMaskedLM(std::shared_ptr<RobertaConfig> config) : Model(config), roberta(config, {.pooler = false}), lm_head(*config) {
  if (config->tie_word_embeddings) lm_head.decoder.weight = roberta.embeddings.word_embeddings.weight;
  add_modules({{"roberta", roberta}, {"lm_head", lm_head}});
  initialise();
}

Signature RobertaForMaskedLM::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[B,T]?",
          .outputs = kOutputs,
          .scored = Scored::not_ignored};
}

ModelOutput RobertaForMaskedLM::forward(const Batch& in) {
  const ModelOutput encoded = roberta(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = lm_head(encoded.last_hidden_state);
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  return out;
}

RobertaForTokenClassification::RobertaForTokenClassification(std::shared_ptr<RobertaConfig> config)
    : Model(config), roberta(config, {.pooler = false}), dropout(config->head_dropout()), classifier(config->hidden_size, config->num_labels()) {
  add_modules({{"roberta", roberta}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

Signature RobertaForTokenClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, labels[B,T]?",
          .outputs = kOutputs,
          .scored = Scored::not_ignored};
}

ModelOutput RobertaForTokenClassification::forward(const Batch& in) {
  const ModelOutput encoded = roberta(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(encoded.last_hidden_state));
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  return out;
}

RobertaForQuestionAnswering::RobertaForQuestionAnswering(std::shared_ptr<RobertaConfig> config)
    : Model(config), roberta(config, {.pooler = false}), qa_outputs(config->hidden_size, 2) {
  ROTE_CHECK(config->num_labels() == 2, ArgumentError, "RobertaForQuestionAnswering: the config has ", config->num_labels(), " labels; a start and an end are 2.");
  add_modules({{"roberta", roberta}, {"qa_outputs", qa_outputs}});
  initialise();
}

Signature RobertaForQuestionAnswering::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64, start_positions[...]?, end_positions[...]?",
          .outputs = "loss, start_logits, end_logits, hidden_states, attentions",
          .labels = "start_positions, end_positions",
          .scored = Scored::spans};
}

ModelOutput RobertaForQuestionAnswering::forward(const Batch& in) {
  const ModelOutput encoded = roberta(in);
  ModelOutput out = with_states_of(encoded);
  answer_spans(out, qa_outputs(encoded.last_hidden_state), in, signature());
  return out;
}

std::vector<ModelEntry> roberta_family() {
  return {
      model_entry<RobertaModel>("roberta", "RobertaModel", "feature-extraction"),
      model_entry<RobertaForSequenceClassification>("roberta", "RobertaForSequenceClassification", "text-classification"),
      model_entry<RobertaForTokenClassification>("roberta", "RobertaForTokenClassification", "token-classification"),
      model_entry<RobertaForMaskedLM>("roberta", "RobertaForMaskedLM", "fill-mask"),
      model_entry<RobertaForQuestionAnswering>("roberta", "RobertaForQuestionAnswering", "question-answering"),
  };
}

}  // namespace rote::nn

#include "nn/models/distilbert.h"

#include "autograd/ops.h"
#include "kernels/math64.h"
#include "nn/encoder.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

namespace {

constexpr const char* kOutputs = "loss, logits, hidden_states, attentions";

}  // namespace

void DistilBertConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("max_position_embeddings", max_position_embeddings);
  fields.field("sinusoidal_pos_embds", sinusoidal_pos_embds);
  fields.field("n_layers", n_layers);
  fields.field("n_heads", n_heads);
  fields.field("dim", dim);
  fields.field("hidden_dim", hidden_dim);
  fields.field("dropout", dropout);
  fields.field("attention_dropout", attention_dropout);
  fields.field("activation", activation);
  fields.field("qa_dropout", qa_dropout);
  fields.field("seq_classif_dropout", seq_classif_dropout);
  fields.field("pad_token_id", pad_token_id);
  fields.field("tie_word_embeddings", tie_word_embeddings);
  fields.field("chunk_size_feed_forward", chunk_size_feed_forward);
}

void DistilBertConfig::check() const {
  Config::check();
  ROTE_CHECK(model_type == "distilbert", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a distilbert.");
  check_size("vocab_size", vocab_size);
  check_size("max_position_embeddings", max_position_embeddings);
  check_size("n_layers", n_layers);
  check_size("n_heads", n_heads);
  check_size("dim", dim);
  check_size("hidden_dim", hidden_dim);
  ROTE_CHECK(n_layers <= 1000, ArgumentError, "config: n_layers is ", n_layers, "; it must be at most 1000.");
  ROTE_CHECK(dim % n_heads == 0, ArgumentError, "config: dim ", dim, " is no multiple of n_heads ", n_heads, "; each head takes an equal share.");
  check_not_negative("chunk_size_feed_forward", static_cast<double>(chunk_size_feed_forward));
  check_share("dropout", dropout);
  check_share("attention_dropout", attention_dropout);
  check_share("qa_dropout", qa_dropout);
  check_share("seq_classif_dropout", seq_classif_dropout);
  check_token("pad_token_id", pad_token_id, vocab_size);
}

DistilBertEmbeddings::DistilBertEmbeddings(const DistilBertConfig& c)
    : word_embeddings(c.vocab_size, c.dim, {.padding_idx = c.pad_token_id.value_or(-1)}),
      position_embeddings(c.max_position_embeddings, c.dim),
      norm(c.dim, {.eps = 1e-12}),
      dropout(c.dropout),
      sinusoidal(c.sinusoidal_pos_embds) {
  add_modules({{"word_embeddings", word_embeddings}, {"position_embeddings", position_embeddings}, {"LayerNorm", norm}, {"dropout", dropout}});
}

// Sines and cosines in turn, Vaswani et al. 2017, section 3.5; they train all the same.
void DistilBertEmbeddings::init_own(const std::function<bool(const char*)>& takes, const std::string&, double) {
  if (!sinusoidal || !takes("position_embeddings.weight")) return;
  const Tensor& table = position_embeddings.weight;
  const int64_t C = table.size(1);
  for (int64_t p = 0; p < table.size(0); ++p)
    for (int64_t c = 0; c < C; ++c) {
      const double angle = static_cast<double>(p) / math64::pow(10000, 2 * static_cast<double>(c / 2) / static_cast<double>(C));
      table.data<float>()[p * C + c] = static_cast<float>(c % 2 == 0 ? math64::sin(angle) : math64::cos(angle));
    }
}

Tensor DistilBertEmbeddings::forward(const Tensor& input_ids) {
  const int64_t T = input_ids.size(1), longest = position_embeddings.weight.size(0);
  ROTE_CHECK(T <= longest, ShapeError, "DistilBertEmbeddings: input_ids is ", describe(input_ids), " but max_position_embeddings is ", longest,
             "; shorten the rows to ", longest, ".");
  return dropout(norm(word_embeddings(input_ids) + position_embeddings(unsqueeze(arange(T), 0))));
}

DistilBertSelfAttention::DistilBertSelfAttention(const DistilBertConfig& c)
    : heads(c.n_heads), q_lin(c.dim, c.dim), k_lin(c.dim, c.dim), v_lin(c.dim, c.dim), out_lin(c.dim, c.dim), dropout(c.attention_dropout) {
  add_modules({{"dropout", dropout}, {"q_lin", q_lin}, {"k_lin", k_lin}, {"v_lin", v_lin}, {"out_lin", out_lin}});
}

AttentionResult DistilBertSelfAttention::forward(const Tensor& x, const Tensor& mask, bool with_probabilities) {
  const Tensor q = split_heads(q_lin(x), heads), k = split_heads(k_lin(x), heads), v = split_heads(v_lin(x), heads);
  AttentionResult result = attend(q, k, v, {.mask = mask, .dropout = training() ? dropout.p : 0, .with_probabilities = with_probabilities});
  result.context = out_lin(result.context);
  return result;
}

DistilBertFFN::DistilBertFFN(const DistilBertConfig& c)
    : lin1(c.dim, c.hidden_dim), lin2(c.hidden_dim, c.dim), activation(c.activation), dropout(c.dropout), chunk(c.chunk_size_feed_forward) {
  add_modules({{"dropout", dropout}, {"lin1", lin1}, {"lin2", lin2}, {"activation", activation}});
}

Tensor DistilBertFFN::forward(const Tensor& x) {
  return in_chunks(*this, x, chunk, [this](const Tensor& part) { return dropout(lin2(activation(lin1(part)))); });
}

DistilBertBlock::DistilBertBlock(const DistilBertConfig& c) : attention(c), sa_layer_norm(c.dim, {.eps = 1e-12}), output_layer_norm(c.dim, {.eps = 1e-12}), ffn(c) {
  add_modules({{"attention", attention}, {"sa_layer_norm", sa_layer_norm}, {"ffn", ffn}, {"output_layer_norm", output_layer_norm}});
}

AttentionResult DistilBertBlock::forward(const Tensor& x, const Tensor& mask, bool with_probabilities) {
  AttentionResult result = attention(x, mask, with_probabilities);
  const Tensor hidden = sa_layer_norm(result.context + x);
  result.context = output_layer_norm(ffn(hidden) + hidden);
  return result;
}

DistilBertTransformer::DistilBertTransformer(const DistilBertConfig& c) {
  for (int64_t i = 0; i < c.n_layers; ++i) layer.add(c);
  add_modules({{"layer", layer}});
}

ModelOutput DistilBertTransformer::forward(const Tensor& x, const Tensor& mask, bool with_states, bool with_probabilities) {
  return encode(layer, x, with_states, with_probabilities, mask);
}

DistilBertModel::DistilBertModel(std::shared_ptr<DistilBertConfig> config) : Model(config), embeddings(*config), transformer(*config) {
  add_modules({{"embeddings", embeddings}, {"transformer", transformer}});
  initialise();
}

Signature DistilBertModel::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?",
          .outputs = "last_hidden_state, hidden_states, attentions",
          .labels = "",
          .scored = Scored::none};
}

ModelOutput DistilBertModel::forward(const Batch& in) {
  return transformer(embeddings(in["input_ids"]), key_mask(in.find("attention_mask")), wants_hidden_states(in), wants_attentions(in));
}

DistilBertForSequenceClassification::DistilBertForSequenceClassification(std::shared_ptr<DistilBertConfig> config)
    : Model(config), distilbert(config), pre_classifier(config->dim, config->dim), classifier(config->dim, config->num_labels()), dropout(config->seq_classif_dropout) {
  add_modules({{"distilbert", distilbert}, {"pre_classifier", pre_classifier}, {"classifier", classifier}, {"dropout", dropout}});
  initialise();
}

Signature DistilBertForSequenceClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, labels[...]?", .outputs = kOutputs, .scored = sequence_scored(*config())};
}

ModelOutput DistilBertForSequenceClassification::forward(const Batch& in) {
  const ModelOutput encoded = distilbert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(relu(pre_classifier(select(encoded.last_hidden_state, 1, 0)))));
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

DistilBertForQuestionAnswering::DistilBertForQuestionAnswering(std::shared_ptr<DistilBertConfig> config)
    : Model(config), distilbert(config), qa_outputs(config->dim, 2), dropout(config->qa_dropout) {
  ROTE_CHECK(config->num_labels() == 2, ArgumentError, "DistilBertForQuestionAnswering: the config has ", config->num_labels(), " labels; a start and an end are 2.");
  add_modules({{"distilbert", distilbert}, {"qa_outputs", qa_outputs}, {"dropout", dropout}});
  initialise();
}

Signature DistilBertForQuestionAnswering::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, start_positions[...]?, end_positions[...]?",
          .outputs = "loss, start_logits, end_logits, hidden_states, attentions",
          .labels = "start_positions, end_positions",
          .scored = Scored::spans};
}

ModelOutput DistilBertForQuestionAnswering::forward(const Batch& in) {
  const ModelOutput encoded = distilbert(in);
  ModelOutput out = with_states_of(encoded);
  answer_spans(out, qa_outputs(dropout(encoded.last_hidden_state)), in, signature());
  return out;
}

DistilBertForTokenClassification::DistilBertForTokenClassification(std::shared_ptr<DistilBertConfig> config)
    : Model(config), distilbert(config), dropout(config->dropout), classifier(config->dim, config->num_labels()) {
  add_modules({{"distilbert", distilbert}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

Signature DistilBertForTokenClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, labels[B,T]?", .outputs = kOutputs, .scored = Scored::not_ignored};
}

ModelOutput DistilBertForTokenClassification::forward(const Batch& in) {
  const ModelOutput encoded = distilbert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(encoded.last_hidden_state));
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  return out;
}

DistilBertForMaskedLM::DistilBertForMaskedLM(std::shared_ptr<DistilBertConfig> config)
    : Model(config),
      distilbert(config),
      activation(config->activation),
      vocab_transform(config->dim, config->dim),
      vocab_projector(config->dim, config->vocab_size),
      vocab_layer_norm(config->dim, {.eps = 1e-12}) {
  if (config->tie_word_embeddings) vocab_projector.weight = distilbert.embeddings.word_embeddings.weight;
  add_modules({{"activation", activation},
               {"distilbert", distilbert},
               {"vocab_transform", vocab_transform},
               {"vocab_layer_norm", vocab_layer_norm},
               {"vocab_projector", vocab_projector}});
  initialise();
}

Signature DistilBertForMaskedLM::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, labels[B,T]?", .outputs = kOutputs, .scored = Scored::not_ignored};
}

ModelOutput DistilBertForMaskedLM::forward(const Batch& in) {
  const ModelOutput encoded = distilbert(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = vocab_projector(vocab_layer_norm(activation(vocab_transform(encoded.last_hidden_state))));
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  return out;
}

std::vector<ModelEntry> distilbert_family() {
  return {
      model_entry<DistilBertModel>("distilbert", "DistilBertModel", "feature-extraction"),
      model_entry<DistilBertForSequenceClassification>("distilbert", "DistilBertForSequenceClassification", "text-classification"),
      model_entry<DistilBertForTokenClassification>("distilbert", "DistilBertForTokenClassification", "token-classification"),
      model_entry<DistilBertForMaskedLM>("distilbert", "DistilBertForMaskedLM", "fill-mask"),
      model_entry<DistilBertForQuestionAnswering>("distilbert", "DistilBertForQuestionAnswering", "question-answering"),
  };
}

}  // namespace rote::nn

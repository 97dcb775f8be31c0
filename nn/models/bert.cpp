#include "nn/models/bert.h"

#include <cmath>

#include "autograd/ops.h"
#include "nn/encoder.h"

namespace rote::nn {

void BertConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("hidden_size", hidden_size);
  fields.field("num_hidden_layers", num_hidden_layers);
  fields.field("num_attention_heads", num_attention_heads);
  fields.field("intermediate_size", intermediate_size);
  fields.field("hidden_act", hidden_act);
  fields.field("hidden_dropout_prob", hidden_dropout_prob);
  fields.field("attention_probs_dropout_prob", attention_probs_dropout_prob);
  fields.field("max_position_embeddings", max_position_embeddings);
  fields.field("type_vocab_size", type_vocab_size);
  fields.field("layer_norm_eps", layer_norm_eps);
  fields.field("pad_token_id", pad_token_id);
  fields.field("classifier_dropout", classifier_dropout);
  fields.field("tie_word_embeddings", tie_word_embeddings);
  fields.field("chunk_size_feed_forward", chunk_size_feed_forward);
}

void BertConfig::check() const {
  Config::check();
  ROTE_CHECK(model_type == family(), ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a ", family(), ".");
  check_size("vocab_size", vocab_size);
  check_size("hidden_size", hidden_size);
  check_size("num_hidden_layers", num_hidden_layers);
  check_size("num_attention_heads", num_attention_heads);
  check_size("intermediate_size", intermediate_size);
  check_size("max_position_embeddings", max_position_embeddings);
  check_size("type_vocab_size", type_vocab_size);
  ROTE_CHECK(num_hidden_layers <= 1000, ArgumentError, "config: num_hidden_layers is ", num_hidden_layers, "; it must be at most 1000.");
  ROTE_CHECK(hidden_size % num_attention_heads == 0, ArgumentError, "config: hidden_size ", hidden_size, " is no multiple of num_attention_heads ",
             num_attention_heads, "; each head takes an equal share.");
  check_not_negative("chunk_size_feed_forward", static_cast<double>(chunk_size_feed_forward));
  check_token("pad_token_id", pad_token_id, vocab_size);
  check_share("hidden_dropout_prob", hidden_dropout_prob);
  check_share("attention_probs_dropout_prob", attention_probs_dropout_prob);
  check_share("classifier_dropout", head_dropout());
  check_not_negative("layer_norm_eps", layer_norm_eps);
  check_only("position_embedding_type", "\"absolute\"");
  check_only("is_decoder", "false");
  check_only("add_cross_attention", "false");
}

BertEmbeddings::BertEmbeddings(const BertConfig& c)
    : word_embeddings(c.vocab_size, c.hidden_size, {.padding_idx = c.pad_token_id.value_or(-1)}),
      position_embeddings(c.max_position_embeddings, c.hidden_size, {.padding_idx = c.position_padding()}),
      token_type_embeddings(c.type_vocab_size, c.hidden_size),
      norm(c.hidden_size, {.eps = c.layer_norm_eps}),
      dropout(c.hidden_dropout_prob) {
  add_buffers({{"position_ids", position_ids}, {"token_type_ids", token_type_ids}});
  add_modules({{"word_embeddings", word_embeddings},
               {"position_embeddings", position_embeddings},
               {"token_type_embeddings", token_type_embeddings},
               {"LayerNorm", norm},
               {"dropout", dropout}});
}

Tensor BertEmbeddings::forward(const Tensor& input_ids, const Tensor& token_types, const Tensor& positions) {
  const int64_t T = input_ids.size(1), longest = position_embeddings.weight.size(0);
  ROTE_CHECK(positions.defined() || T <= longest, ShapeError, "BertEmbeddings: input_ids is ", describe(input_ids), " but max_position_embeddings is ", longest,
             "; shorten the rows to ", longest, ".");
  const Tensor types = token_types.defined() ? token_types : zeros(input_ids.shape(), {.dtype = DType::i64});
  const Tensor places = positions.defined() ? positions : unsqueeze(arange(T), 0);
  return dropout(norm(word_embeddings(input_ids) + token_type_embeddings(types) + position_embeddings(places)));
}

BertSelfAttention::BertSelfAttention(const BertConfig& c)
    : heads(c.num_attention_heads),
      query(c.hidden_size, c.hidden_size),
      key(c.hidden_size, c.hidden_size),
      value(c.hidden_size, c.hidden_size),
      dropout(c.attention_probs_dropout_prob) {
  add_modules({{"query", query}, {"key", key}, {"value", value}, {"dropout", dropout}});
}

AttentionResult BertSelfAttention::forward(const Tensor& x, const Tensor& mask, bool with_probabilities) {
  const Tensor q = split_heads(query(x), heads), k = split_heads(key(x), heads), v = split_heads(value(x), heads);
  return attend(q, k, v, {.mask = mask, .dropout = training() ? dropout.p : 0, .with_probabilities = with_probabilities});
}

BertSelfOutput::BertSelfOutput(const BertConfig& c)
    : dense(c.hidden_size, c.hidden_size), norm(c.hidden_size, {.eps = c.layer_norm_eps}), dropout(c.hidden_dropout_prob) {
  add_modules({{"dense", dense}, {"LayerNorm", norm}, {"dropout", dropout}});
}

BertAttention::BertAttention(const BertConfig& c) : self(c), output(c) { add_modules({{"self", self}, {"output", output}}); }

AttentionResult BertAttention::forward(const Tensor& x, const Tensor& mask, bool with_probabilities) {
  AttentionResult result = self(x, mask, with_probabilities);
  result.context = output(result.context, x);
  return result;
}

BertIntermediate::BertIntermediate(const BertConfig& c) : dense(c.hidden_size, c.intermediate_size), intermediate_act_fn(c.hidden_act) {
  add_modules({{"dense", dense}, {"intermediate_act_fn", intermediate_act_fn}});
}

BertOutput::BertOutput(const BertConfig& c)
    : dense(c.intermediate_size, c.hidden_size), norm(c.hidden_size, {.eps = c.layer_norm_eps}), dropout(c.hidden_dropout_prob) {
  add_modules({{"dense", dense}, {"LayerNorm", norm}, {"dropout", dropout}});
}

BertLayer::BertLayer(const BertConfig& c) : attention(c), intermediate(c), output(c), chunk(c.chunk_size_feed_forward) {
  add_modules({{"attention", attention}, {"intermediate", intermediate}, {"output", output}});
}

AttentionResult BertLayer::forward(const Tensor& x, const Tensor& mask, bool with_probabilities) {
  AttentionResult result = attention(x, mask, with_probabilities);
  result.context = in_chunks(*this, result.context, chunk, [this](const Tensor& part) {
    const Tensor wide = intermediate(part);
    return output(wide, part);
  });
  return result;
}

BertEncoder::BertEncoder(const BertConfig& c) {
  for (int64_t i = 0; i < c.num_hidden_layers; ++i) layer.add(c);
  add_modules({{"layer", layer}});
}

ModelOutput BertEncoder::forward(const Tensor& x, const Tensor& mask, bool with_states, bool with_probabilities) {
  return encode(layer, x, with_states, with_probabilities, mask);
}

BertPooler::BertPooler(const BertConfig& c) : dense(c.hidden_size, c.hidden_size), activation("tanh") {
  add_modules({{"dense", dense}, {"activation", activation}});
}

Tensor BertPooler::forward(const Tensor& x) { return activation(dense(select(x, 1, 0))); }

BertModel::BertModel(std::shared_ptr<BertConfig> config, BertModelOptions options) : Model(config), embeddings(*config), encoder(*config) {
  add_modules({{"embeddings", embeddings}, {"encoder", encoder}});
  if (options.pooler) add_module("pooler", pooler.emplace(*config));
  initialise();
}

Signature BertModel::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,T]?, token_type_ids[B,T]? i64, position_ids[...]? i64",
          .outputs = pooler ? "last_hidden_state, pooler_output, hidden_states, attentions" : "last_hidden_state, hidden_states, attentions",
          .labels = "",
          .scored = Scored::none};
}

ModelOutput BertModel::forward(const Batch& in) {
  const Tensor x = embeddings(in["input_ids"], in.find("token_type_ids"), in.find("position_ids"));
  ModelOutput out = encoder(x, key_mask(in.find("attention_mask")), wants_hidden_states(in), wants_attentions(in));
  if (pooler) out.pooler_output = (*pooler)(out.last_hidden_state);
  return out;
}

}  // namespace rote::nn

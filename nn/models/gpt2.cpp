#include "nn/models/gpt2.h"

#include <cmath>

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"
#include "nn/recompute.h"

namespace rote::nn {

void GPT2Config::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("n_positions", n_positions);
  fields.field("n_embd", n_embd);
  fields.field("n_layer", n_layer);
  fields.field("n_head", n_head);
  fields.field("n_inner", n_inner);
  fields.field("activation_function", activation_function);
  fields.field("resid_pdrop", resid_pdrop);
  fields.field("embd_pdrop", embd_pdrop);
  fields.field("attn_pdrop", attn_pdrop);
  fields.field("layer_norm_epsilon", layer_norm_epsilon);
  fields.field("scale_attn_weights", scale_attn_weights);
  fields.field("scale_attn_by_inverse_layer_idx", scale_attn_by_inverse_layer_idx);
  fields.field("tie_word_embeddings", tie_word_embeddings);
  fields.field("bos_token_id", bos_token_id);
  fields.field("eos_token_id", eos_token_id);
  fields.field("pad_token_id", pad_token_id);
}

void GPT2Config::check() const {
  Config::check();
  ROTE_CHECK(model_type == "gpt2", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a gpt2.");
  check_size("vocab_size", vocab_size);
  check_size("n_positions", n_positions);
  check_size("n_embd", n_embd);
  check_size("n_layer", n_layer);
  check_size("n_head", n_head);
  check_size("n_inner", n_inner.value_or(4 * n_embd));
  ROTE_CHECK(n_layer <= 1000, ArgumentError, "config: n_layer is ", n_layer, "; it must be at most 1000.");
  ROTE_CHECK(n_embd % n_head == 0, ArgumentError, "config: n_embd ", n_embd, " is no multiple of n_head ", n_head, "; each head takes an equal share.");
  check_share("resid_pdrop", resid_pdrop);
  check_share("embd_pdrop", embd_pdrop);
  check_share("attn_pdrop", attn_pdrop);
  check_not_negative("layer_norm_epsilon", layer_norm_epsilon);
  check_token("pad_token_id", pad_token_id, vocab_size);
  check_only("add_cross_attention", "false");
}

namespace {

// What enters the residual stream starts smaller, by 1/√(2·n_layer).
Conv1DOptions into_residual(const GPT2Config& c) { return {.init_scale = 1 / std::sqrt(2.0 * static_cast<double>(c.n_layer))}; }

}  // namespace

GPT2Attention::GPT2Attention(const GPT2Config& c, size_t at)
    : heads(c.n_head),
      layer(at),
      scale((c.scale_attn_weights ? 1 / std::sqrt(static_cast<double>(c.n_embd / c.n_head)) : 1) / (c.scale_attn_by_inverse_layer_idx ? static_cast<double>(at + 1) : 1)),
      c_attn(c.n_embd, 3 * c.n_embd),
      c_proj(c.n_embd, c.n_embd, into_residual(c)),
      attn_dropout(c.attn_pdrop),
      resid_dropout(c.resid_pdrop) {
  add_modules({{"c_attn", c_attn}, {"c_proj", c_proj}, {"attn_dropout", attn_dropout}, {"resid_dropout", resid_dropout}});
}

AttentionResult GPT2Attention::forward(const Tensor& x, const CausalMask& mask, bool with_probabilities, KeyValueCache* cache) {
  const int64_t C = x.size(2);
  const Tensor all = c_attn(x);  // [B,T,3C]
  const Tensor q = split_heads(slice(all, 2, 0, C), heads);
  KeyValueCache::Pair seen{split_heads(slice(all, 2, C, 2 * C), heads), split_heads(slice(all, 2, 2 * C, 3 * C), heads)};
  if (cache != nullptr) seen = cache->append(layer, seen.key, seen.value);
  AttendOptions options = seeing(mask);
  options.scale = scale;
  options.dropout = training() ? attn_dropout.p : 0;
  options.with_probabilities = with_probabilities;
  AttentionResult result = attend(q, seen.key, seen.value, options);
  result.context = resid_dropout(c_proj(result.context));
  return result;
}

GPT2MLP::GPT2MLP(const GPT2Config& c)
    : c_fc(c.n_embd, c.n_inner.value_or(4 * c.n_embd)), c_proj(c.n_inner.value_or(4 * c.n_embd), c.n_embd, into_residual(c)), act(c.activation_function), dropout(c.resid_pdrop) {
  add_modules({{"c_fc", c_fc}, {"c_proj", c_proj}, {"act", act}, {"dropout", dropout}});
}

GPT2Block::GPT2Block(const GPT2Config& c, size_t layer)
    : ln_1(c.n_embd, {.eps = c.layer_norm_epsilon}), ln_2(c.n_embd, {.eps = c.layer_norm_epsilon}), attn(c, layer), mlp(c) {
  add_modules({{"ln_1", ln_1}, {"attn", attn}, {"ln_2", ln_2}, {"mlp", mlp}});
}

AttentionResult GPT2Block::forward(const Tensor& x, const CausalMask& mask, bool with_probabilities, KeyValueCache* cache) {
  AttentionResult result = attn(ln_1(x), mask, with_probabilities, cache);
  const Tensor hidden = result.context + x;
  result.context = hidden + mlp(ln_2(hidden));
  return result;
}

GPT2Model::GPT2Model(std::shared_ptr<GPT2Config> config)
    : Model(config), wte(config->vocab_size, config->n_embd), wpe(config->n_positions, config->n_embd), drop(config->embd_pdrop),
      ln_f(config->n_embd, {.eps = config->layer_norm_epsilon}) {
  for (int64_t i = 0; i < config->n_layer; ++i) h.add(*config, static_cast<size_t>(i));
  add_modules({{"wte", wte}, {"wpe", wpe}, {"drop", drop}, {"h", h}, {"ln_f", ln_f}});
  initialise();
}

Signature GPT2Model::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64", .outputs = "last_hidden_state, hidden_states, attentions", .labels = "", .scored = Scored::none};
}

ModelOutput GPT2Model::forward(const Batch& in) {
  const Tensor& ids = in["input_ids"];
  const int64_t T = ids.size(1), past = in.cache != nullptr ? in.cache->length() : 0;
  Tensor places = in.find("position_ids");
  ROTE_CHECK(places.defined() || past + T <= wpe.weight.size(0), ShapeError, "GPT2Model: ", past + T, " positions but n_positions is ", wpe.weight.size(0),
             "; shorten the rows to ", wpe.weight.size(0), ".");
  if (!places.defined()) places = unsqueeze(slice(arange(past + T), 0, past, past + T), 0);
  Tensor x = drop(wte(ids) + wpe(places));  // [B,T,C]
  const CausalMask mask = causal_mask(in.find("attention_mask"), T, past + T);
  const bool with_states = wants_hidden_states(in), with_probabilities = wants_attentions(in);
  ModelOutput out;
  for (size_t i = 0; i < h.size(); ++i) {
    if (with_states) out.hidden_states.push_back(x);
    const auto call = [&block = h[i], mask, with_probabilities, cache = in.cache](const Tensor& y) { return block(y, mask, with_probabilities, cache); };
    const AttentionResult result = run_layer(i, with_probabilities, x, call);
    x = result.context;
    if (with_probabilities) out.attentions.push_back(result.probabilities);
  }
  out.last_hidden_state = ln_f(x);
  if (with_states) out.hidden_states.push_back(out.last_hidden_state);
  return out;
}

GPT2LMHeadModel::GPT2LMHeadModel(std::shared_ptr<GPT2Config> config)
    : Model(config), transformer(config), lm_head(config->n_embd, config->vocab_size, {.bias = false}) {
  if (config->tie_word_embeddings) lm_head.weight = transformer.wte.weight;
  add_modules({{"transformer", transformer}, {"lm_head", lm_head}});
  initialise();
}

Signature GPT2LMHeadModel::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64, labels[B,T]?", .outputs = "loss, logits, hidden_states, attentions", .scored = Scored::next_token};
}

ModelOutput GPT2LMHeadModel::forward(const Batch& in) {
  ModelOutput out = transformer(in);
  out.logits = lm_head(out.last_hidden_state);
  out.loss = next_token_loss(out.logits, in);
  out.last_hidden_state = Tensor();
  return out;
}

GPT2ForSequenceClassification::GPT2ForSequenceClassification(std::shared_ptr<GPT2Config> config)
    : Model(config), transformer(config), score(config->n_embd, config->num_labels(), {.bias = false}) {
  add_modules({{"transformer", transformer}, {"score", score}});
  initialise();
}

Signature GPT2ForSequenceClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64, labels[...]?",
          .outputs = "loss, logits, hidden_states, attentions",
          .scored = sequence_scored(*config())};
}

ModelOutput GPT2ForSequenceClassification::forward(const Batch& in) {
  ModelOutput out = transformer(in);
  out.logits = at_last_token(score(out.last_hidden_state), in["input_ids"], static_cast<const GPT2Config&>(*config()).pad_token_id);
  out.loss = sequence_loss(out.logits, in, *config());
  out.last_hidden_state = Tensor();
  return out;
}

std::vector<ModelEntry> gpt2_family() {
  return {
      model_entry<GPT2LMHeadModel>("gpt2", "GPT2LMHeadModel", "text-generation"),
      model_entry<GPT2Model>("gpt2", "GPT2Model", "feature-extraction"),
      model_entry<GPT2ForSequenceClassification>("gpt2", "GPT2ForSequenceClassification", "text-classification"),
  };
}

}  // namespace rote::nn

#include "nn/models/bart.h"

#include <cmath>

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"
#include "nn/recompute.h"

namespace rote::nn {

namespace {

constexpr int64_t kFirstPosition = 2;  // of embed_positions

}  // namespace

BartConfig::BartConfig() {
  model_type = "bart";
  labels = {"LABEL_0", "LABEL_1", "LABEL_2"};
}

void BartConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("max_position_embeddings", max_position_embeddings);
  fields.field("d_model", d_model);
  fields.field("encoder_layers", encoder_layers);
  fields.field("encoder_attention_heads", encoder_attention_heads);
  fields.field("encoder_ffn_dim", encoder_ffn_dim);
  fields.field("decoder_layers", decoder_layers);
  fields.field("decoder_attention_heads", decoder_attention_heads);
  fields.field("decoder_ffn_dim", decoder_ffn_dim);
  fields.field("activation_function", activation_function);
  fields.field("dropout", dropout);
  fields.field("attention_dropout", attention_dropout);
  fields.field("activation_dropout", activation_dropout);
  fields.field("scale_embedding", scale_embedding);
  fields.field("init_std", initializer_range);
  fields.field("pad_token_id", pad_token_id);
  fields.field("bos_token_id", bos_token_id);
  fields.field("decoder_start_token_id", decoder_start_token_id);
  fields.field("forced_eos_token_id", forced_eos_token_id);
  fields.field("eos_token_id", eos_token_id);
}

void BartConfig::check() const {
  Config::check();
  ROTE_CHECK(model_type == "bart", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a bart.");
  check_size("vocab_size", vocab_size);
  check_size("max_position_embeddings", max_position_embeddings);
  check_size("d_model", d_model);
  check_size("encoder_layers", encoder_layers);
  check_size("encoder_attention_heads", encoder_attention_heads);
  check_size("encoder_ffn_dim", encoder_ffn_dim);
  check_size("decoder_layers", decoder_layers);
  check_size("decoder_attention_heads", decoder_attention_heads);
  check_size("decoder_ffn_dim", decoder_ffn_dim);
  ROTE_CHECK(std::max(encoder_layers, decoder_layers) <= 1000, ArgumentError, "config: ", std::max(encoder_layers, decoder_layers), " layers; there may be at most 1000.");
  for (const int64_t heads : {encoder_attention_heads, decoder_attention_heads})
    ROTE_CHECK(d_model % heads == 0, ArgumentError, "config: d_model ", d_model, " is no multiple of the ", heads, " heads; each takes an equal share.");
  check_share("dropout", dropout);
  check_share("attention_dropout", attention_dropout);
  check_share("activation_dropout", activation_dropout);
  check_token("pad_token_id", pad_token_id, vocab_size);
  check_token("decoder_start_token_id", decoder_start_token_id, vocab_size);
  check_only("encoder_layerdrop", "0.0");
  check_only("decoder_layerdrop", "0.0");
}

BartAttention::BartAttention(const BartConfig& c, int64_t count)
    : heads(count), dropout(c.attention_dropout), k_proj(c.d_model, c.d_model), v_proj(c.d_model, c.d_model), q_proj(c.d_model, c.d_model), out_proj(c.d_model, c.d_model) {
  add_modules({{"k_proj", k_proj}, {"v_proj", v_proj}, {"q_proj", q_proj}, {"out_proj", out_proj}});
}

AttentionResult BartAttention::forward(const Tensor& x, const KeyValueCache::Pair& seen, AttendOptions options) {
  options.dropout = training() ? dropout : 0;
  AttentionResult result = attend(split_heads(q_proj(x), heads), seen.key, seen.value, options);
  result.context = out_proj(result.context);
  return result;
}

BartLayer::BartLayer(const BartConfig& c, bool decoder)
    : self_attn(c, decoder ? c.decoder_attention_heads : c.encoder_attention_heads),
      self_attn_layer_norm(c.d_model),
      fc1(c.d_model, decoder ? c.decoder_ffn_dim : c.encoder_ffn_dim),
      fc2(decoder ? c.decoder_ffn_dim : c.encoder_ffn_dim, c.d_model),
      final_layer_norm(c.d_model),
      activation_fn(c.activation_function),
      dropout(c.dropout),
      activation_dropout(c.activation_dropout) {
  add_modules({{"self_attn", self_attn}, {"self_attn_layer_norm", self_attn_layer_norm}});
  if (decoder) {
    add_module("encoder_attn", encoder_attn.emplace(c, c.decoder_attention_heads));
    add_module("encoder_attn_layer_norm", encoder_attn_layer_norm.emplace(c.d_model));
  }
  add_modules({{"fc1", fc1}, {"fc2", fc2}, {"final_layer_norm", final_layer_norm}, {"activation_fn", activation_fn}, {"dropout", dropout}, {"activation_dropout", activation_dropout}});
}

BartLayer::Result BartLayer::forward(const Tensor& x, size_t layer, const DecoderSurroundings& in) {
  KeyValueCache::Pair seen = self_attn.keys_of(x);
  if (in.cache != nullptr) seen = in.cache->append(layer, seen.key, seen.value);
  AttendOptions options = seeing(in.mask);
  options.with_probabilities = in.with_probabilities;
  const AttentionResult self = self_attn(x, seen, options);
  Result result{self_attn_layer_norm(x + dropout(self.context)), self.probabilities, {}};
  if (encoder_attn) {
    const auto keys = [&] { return encoder_attn->keys_of(in.encoded); };
    const AttentionResult cross = (*encoder_attn)(result.context, in.cache != nullptr ? in.cache->once(layer, keys) : keys(),
                                                  AttendOptions{.mask = in.encoded_mask, .with_probabilities = in.with_probabilities});
    result.context = (*encoder_attn_layer_norm)(result.context + dropout(cross.context));
    result.cross_probabilities = cross.probabilities;
  }
  const Tensor wide = activation_dropout(activation_fn(fc1(result.context)));
  result.context = final_layer_norm(result.context + dropout(fc2(wide)));
  return result;
}

BartStack::BartStack(const BartConfig& c, bool decoder)
    : scale(c.scale_embedding ? std::sqrt(static_cast<double>(c.d_model)) : 1),
      embed_tokens(c.vocab_size, c.d_model, {.padding_idx = c.pad_token_id.value_or(-1)}),
      embed_positions(c.max_position_embeddings + kFirstPosition, c.d_model),
      layernorm_embedding(c.d_model),
      dropout(c.dropout) {
  for (int64_t i = 0; i < (decoder ? c.decoder_layers : c.encoder_layers); ++i) layers.add(c, decoder);
  add_modules({{"embed_tokens", embed_tokens}, {"embed_positions", embed_positions}, {"layers", layers}, {"layernorm_embedding", layernorm_embedding}, {"dropout", dropout}});
  rename_classes("BartStack", decoder ? "BartDecoder" : "BartEncoder");
}

ModelOutput BartStack::forward(const Tensor& ids, const DecoderSurroundings& in, bool with_states) {
  const int64_t T = ids.size(1), past = in.cache != nullptr ? in.cache->length() : 0, longest = embed_positions.weight.size(0) - kFirstPosition;
  ROTE_CHECK(past + T <= longest, ShapeError, "BartStack: ", past + T, " positions but max_position_embeddings is ", longest, "; shorten the rows to ", longest, ".");
  const Tensor places = unsqueeze(slice(arange(past + T + kFirstPosition), 0, past + kFirstPosition, past + T + kFirstPosition), 0);
  Tensor x = embed_tokens(ids);
  if (scale != 1) x = x * scale;
  x = dropout(layernorm_embedding(x + embed_positions(places)));
  ModelOutput out;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (with_states) out.hidden_states.push_back(x);
    const auto call = [&layer = layers[i], i, in](const Tensor& y) { return layer(y, i, in); };
    const BartLayer::Result result = run_layer(i, in.with_probabilities, x, call);
    x = result.context;
    if (!in.with_probabilities) continue;
    out.attentions.push_back(result.self_probabilities);
    if (result.cross_probabilities.defined()) out.cross_attentions.push_back(result.cross_probabilities);
  }
  if (with_states) out.hidden_states.push_back(x);
  out.last_hidden_state = x;
  return out;
}

BartModel::BartModel(std::shared_ptr<BartConfig> config)
    : Model(config), shared(config->vocab_size, config->d_model, {.padding_idx = config->pad_token_id.value_or(-1)}), encoder(*config, false), decoder(*config, true) {
  encoder.embed_tokens.weight = decoder.embed_tokens.weight = shared.weight;
  add_modules({{"shared", shared}, {"encoder", encoder}, {"decoder", decoder}});
  initialise();
}

Signature BartModel::signature() const {
  return {.inputs = "input_ids[B,S]? i64, attention_mask[B,S]?, decoder_input_ids[B,T]? i64, decoder_attention_mask[B,U]?, encoder_outputs[B,S,C]?, labels[B,L]?",
          .outputs = "last_hidden_state, decoder_hidden_states, decoder_attentions, cross_attentions, encoder_last_hidden_state, encoder_hidden_states, encoder_attentions",
          .labels = "",
          .scored = Scored::none};
}

ModelOutput BartModel::forward(const Batch& in) {
  const auto& c = static_cast<const BartConfig&>(*config());
  const int64_t pad = c.pad_token_id.value_or(0), start = *c.decoder_start();
  // Without decoder inputs or labels the inputs themselves are shifted, as the reference does.
  const bool given = in.contains("decoder_input_ids") || in.contains("labels");
  const Tensor ids = given ? decoder_inputs(in, start, pad) : shift_right(in["input_ids"], start, pad);
  return encode_and_decode(encoder, decoder, in, ids, wants_hidden_states(in), wants_attentions(in));
}

BartForConditionalGeneration::BartForConditionalGeneration(std::shared_ptr<BartConfig> config)
    : Model(config), model(config), lm_head(config->d_model, config->vocab_size, {.bias = false}), final_logits_bias(started({1, config->vocab_size}, 0)) {
  lm_head.weight = model.shared.weight;
  add_saved_buffers({{"final_logits_bias", final_logits_bias}});
  add_modules({{"model", model}, {"lm_head", lm_head}});
  initialise();
}

Signature BartForConditionalGeneration::signature() const {
  return {.inputs = "input_ids[B,S]? i64, attention_mask[B,S]?, decoder_input_ids[B,T]? i64, decoder_attention_mask[B,U]?, encoder_outputs[B,S,C]?, labels[B,L]?",
          .outputs = "loss, logits, decoder_hidden_states, decoder_attentions, cross_attentions, encoder_last_hidden_state, encoder_hidden_states, encoder_attentions",
          .scored = Scored::not_ignored};
}

ModelOutput BartForConditionalGeneration::forward(const Batch& in) {
  ModelOutput out = model(in);
  out.logits = lm_head(out.last_hidden_state) + final_logits_bias;
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  out.last_hidden_state = Tensor();
  return out;
}

std::vector<ModelEntry> bart_family() {
  return {
      model_entry<BartForConditionalGeneration>("bart", "BartForConditionalGeneration", "text2text-generation"),
      model_entry<BartModel>("bart", "BartModel", "feature-extraction"),
  };
}

}  // namespace rote::nn

#include "nn/models/llama.h"

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"
#include "nn/recompute.h"

namespace rote::nn {

void LlamaConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("hidden_size", hidden_size);
  fields.field("intermediate_size", intermediate_size);
  fields.field("num_hidden_layers", num_hidden_layers);
  fields.field("num_attention_heads", num_attention_heads);
  fields.field("num_key_value_heads", num_key_value_heads);
  fields.field("head_dim", head_dim);
  fields.field("hidden_act", hidden_act);
  fields.field("max_position_embeddings", max_position_embeddings);
  fields.field("rms_norm_eps", rms_norm_eps);
  fields.field("tie_word_embeddings", tie_word_embeddings);
  fields.field("attention_bias", attention_bias);
  fields.field("mlp_bias", mlp_bias);
  fields.field("attention_dropout", attention_dropout);
  fields.field("bos_token_id", bos_token_id);
  fields.field("pad_token_id", pad_token_id);
  fields.field("eos_token_id", eos_token_id);
  rope_parameters.visit(fields);
}

void LlamaConfig::check() const {
  Config::check();
  check_size("vocab_size", vocab_size);
  check_size("hidden_size", hidden_size);
  check_size("intermediate_size", intermediate_size);
  check_size("num_hidden_layers", num_hidden_layers);
  check_size("num_attention_heads", num_attention_heads);
  check_size("num_key_value_heads", key_heads());
  check_size("head_dim", head_width());
  check_size("max_position_embeddings", max_position_embeddings);
  ROTE_CHECK(num_hidden_layers <= 1000, ArgumentError, "config: num_hidden_layers is ", num_hidden_layers, "; it must be at most 1000.");
  ROTE_CHECK(head_dim || hidden_size % num_attention_heads == 0, ArgumentError, "config: hidden_size ", hidden_size, " is no multiple of num_attention_heads ",
             num_attention_heads, "; give head_dim.");
  ROTE_CHECK(num_attention_heads % key_heads() == 0, ArgumentError, "config: num_attention_heads ", num_attention_heads, " is no multiple of num_key_value_heads ",
             key_heads(), "; each key head serves as many query heads.");
  ROTE_CHECK(head_width() % 2 == 0, ArgumentError, "config: head_dim is ", head_width(), "; it must be even, for channels turn in pairs.");
  check_share("attention_dropout", attention_dropout);
  check_not_negative("rms_norm_eps", rms_norm_eps);
  check_token("pad_token_id", pad_token_id, vocab_size);
  rope_parameters.check(max_position_embeddings);
}

MistralConfig::MistralConfig() {
  model_type = "mistral";
  intermediate_size = 14336;
  num_key_value_heads = 8;
  max_position_embeddings = 131072;
}

void MistralConfig::visit(ConfigFields& fields) {
  LlamaConfig::visit(fields);
  fields.field("sliding_window", sliding_window);
}

void MistralConfig::check() const {
  LlamaConfig::check();
  check_not_negative("sliding_window", static_cast<double>(window(0)));
}

Qwen3Config::Qwen3Config() {
  model_type = "qwen3";
  vocab_size = 151936;
  intermediate_size = 22016;
  num_key_value_heads = 32;
  head_dim = 128;
  max_position_embeddings = 32768;
  bos_token_id.reset();
  eos_token_id.clear();
}

void Qwen3Config::visit(ConfigFields& fields) {
  LlamaConfig::visit(fields);
  fields.field("use_sliding_window", use_sliding_window);
  fields.field("sliding_window", sliding_window);
  fields.field("max_window_layers", max_window_layers);
  fields.field("layer_types", layer_types);
}

void Qwen3Config::check() const {
  LlamaConfig::check();
  check_not_negative("sliding_window", static_cast<double>(sliding_window.value_or(0)));
  ROTE_CHECK(layer_types.empty() || static_cast<int64_t>(layer_types.size()) == num_hidden_layers, ArgumentError, "config: layer_types has ", layer_types.size(),
             " entries but num_hidden_layers is ", num_hidden_layers, "; each layer needs one.");
  for (const std::string& one : layer_types)
    ROTE_CHECK(one == "full_attention" || one == "sliding_attention", ArgumentError, "config: layer_types has \"", one, "\"; it knows full_attention and sliding_attention.");
}

int64_t Qwen3Config::window(size_t layer) const {
  if (!layer_types.empty()) return layer_types[layer] == "sliding_attention" ? sliding_window.value_or(0) : 0;
  return use_sliding_window && static_cast<int64_t>(layer) >= max_window_layers ? sliding_window.value_or(0) : 0;
}

LlamaAttention::LlamaAttention(const LlamaConfig& c, size_t at)
    : heads(c.num_attention_heads),
      key_heads(c.key_heads()),
      layer(at),
      dropout(c.attention_dropout),
      q_proj(c.hidden_size, heads * c.head_width(), {.bias = c.attention_bias}),
      k_proj(c.hidden_size, key_heads * c.head_width(), {.bias = c.attention_bias}),
      v_proj(c.hidden_size, key_heads * c.head_width(), {.bias = c.attention_bias}),
      o_proj(heads * c.head_width(), c.hidden_size, {.bias = c.attention_bias}) {
  add_modules({{"q_proj", q_proj}, {"k_proj", k_proj}, {"v_proj", v_proj}, {"o_proj", o_proj}});
  if (!c.normalises_heads()) return;
  add_module("q_norm", q_norm.emplace(c.head_width(), LayerNormOptions{.eps = c.rms_norm_eps}));
  add_module("k_norm", k_norm.emplace(c.head_width(), LayerNormOptions{.eps = c.rms_norm_eps}));
}

AttentionResult LlamaAttention::forward(const Tensor& x, const DecoderContext& in) {
  Tensor q = split_heads(q_proj(x), heads), k = split_heads(k_proj(x), key_heads);
  if (q_norm) q = (*q_norm)(q), k = (*k_norm)(k);
  KeyValueCache::Pair seen{rotate(k, in.rotation), split_heads(v_proj(x), key_heads)};
  if (in.cache != nullptr) seen = in.cache->append(layer, seen.key, seen.value);
  AttendOptions options = seeing(in.masks[layer]);
  options.dropout = training() ? dropout : 0;
  options.with_probabilities = in.with_probabilities;
  AttentionResult result = attend(rotate(q, in.rotation), seen.key, seen.value, options);
  result.context = o_proj(result.context);
  return result;
}

LlamaMLP::LlamaMLP(const LlamaConfig& c)
    : gate_proj(c.hidden_size, c.intermediate_size, {.bias = c.mlp_bias}),
      up_proj(c.hidden_size, c.intermediate_size, {.bias = c.mlp_bias}),
      down_proj(c.intermediate_size, c.hidden_size, {.bias = c.mlp_bias}),
      act_fn(c.hidden_act) {
  add_modules({{"gate_proj", gate_proj}, {"up_proj", up_proj}, {"down_proj", down_proj}, {"act_fn", act_fn}});
}

LlamaDecoderLayer::LlamaDecoderLayer(const LlamaConfig& c, size_t layer)
    : self_attn(c, layer), mlp(c), input_layernorm(c.hidden_size, {.eps = c.rms_norm_eps}), post_attention_layernorm(c.hidden_size, {.eps = c.rms_norm_eps}) {
  add_modules({{"self_attn", self_attn}, {"mlp", mlp}, {"input_layernorm", input_layernorm}, {"post_attention_layernorm", post_attention_layernorm}});
}

AttentionResult LlamaDecoderLayer::forward(const Tensor& x, const DecoderContext& in) {
  AttentionResult result = self_attn(input_layernorm(x), in);
  const Tensor hidden = x + result.context;
  result.context = hidden + mlp(post_attention_layernorm(hidden));
  return result;
}

LlamaModel::LlamaModel(std::shared_ptr<LlamaConfig> config)
    : Model(config),
      embed_tokens(config->vocab_size, config->hidden_size, {.padding_idx = config->pad_token_id.value_or(-1)}),
      norm(config->hidden_size, {.eps = config->rms_norm_eps}),
      rotary(config->rope_parameters, config->head_width(), config->max_position_embeddings) {
  for (int64_t i = 0; i < config->num_hidden_layers; ++i) layers.add(*config, static_cast<size_t>(i));
  add_modules({{"embed_tokens", embed_tokens}, {"layers", layers}, {"norm", norm}});
  std::string family = config->model_type;  // llama, mistral or qwen3
  family[0] = static_cast<char>(family[0] - 'a' + 'A');
  rename_classes("RMSNorm", family + "RMSNorm");
  rename_classes("Llama", family);
  initialise();
}

Signature LlamaModel::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64",
          .outputs = "last_hidden_state, hidden_states, attentions",
          .labels = "",
          .scored = Scored::none};
}

ModelOutput LlamaModel::forward(const Batch& in) {
  const auto& c = static_cast<const LlamaConfig&>(*config());
  const Tensor& ids = in["input_ids"];
  const int64_t T = ids.size(1), past = in.cache != nullptr ? in.cache->length() : 0;
  Tensor places = in.find("position_ids");
  if (!places.defined()) places = unsqueeze(slice(arange(past + T), 0, past, past + T), 0);
  Tensor x = embed_tokens(ids);  // [B,T,C]
  DecoderContext context{rotary(places, x.dtype()), {}, wants_attentions(in), in.cache};
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool same = i > 0 && c.window(i) == c.window(i - 1);
    context.masks.push_back(same ? context.masks.back() : causal_mask(in.find("attention_mask"), T, past + T, c.window(i)));
  }
  ModelOutput out;
  const bool with_states = wants_hidden_states(in);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (with_states) out.hidden_states.push_back(x);
    const auto call = [&layer = layers[i], context](const Tensor& in) { return layer(in, context); };
    const AttentionResult result = run_layer(i, context.with_probabilities, x, call);
    x = result.context;
    if (context.with_probabilities) out.attentions.push_back(result.probabilities);
  }
  out.last_hidden_state = norm(x);
  if (with_states) out.hidden_states.push_back(out.last_hidden_state);
  return out;
}

LlamaForCausalLM::LlamaForCausalLM(std::shared_ptr<LlamaConfig> config)
    : Model(config), model(config), lm_head(config->hidden_size, config->vocab_size, {.bias = false}) {
  if (config->tie_word_embeddings) lm_head.weight = model.embed_tokens.weight;
  add_modules({{"model", model}, {"lm_head", lm_head}});
  initialise();
}

Signature LlamaForCausalLM::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64, labels[B,T]?",
          .outputs = "loss, logits, hidden_states, attentions",
          .scored = Scored::next_token};
}

ModelOutput LlamaForCausalLM::forward(const Batch& in) {
  ModelOutput out = model(in);
  out.logits = lm_head(out.last_hidden_state);
  out.loss = next_token_loss(out.logits, in);
  out.last_hidden_state = Tensor();
  return out;
}

LlamaForSequenceClassification::LlamaForSequenceClassification(std::shared_ptr<LlamaConfig> config)
    : Model(config), model(config), score(config->hidden_size, config->num_labels(), {.bias = false}) {
  add_modules({{"model", model}, {"score", score}});
  initialise();
}

Signature LlamaForSequenceClassification::signature() const {
  return {.inputs = "input_ids[B,T] i64, attention_mask[B,S]?, position_ids[...]? i64, labels[...]?",
          .outputs = "loss, logits, hidden_states, attentions",
          .scored = sequence_scored(*config())};
}

ModelOutput LlamaForSequenceClassification::forward(const Batch& in) {
  ModelOutput out = model(in);
  out.logits = at_last_token(score(out.last_hidden_state), in["input_ids"], static_cast<const LlamaConfig&>(*config()).pad_token_id);
  out.loss = sequence_loss(out.logits, in, *config());
  out.last_hidden_state = Tensor();
  return out;
}

std::vector<ModelEntry> llama_family() {
  return {
      model_entry<LlamaForCausalLM>("llama", "LlamaForCausalLM", "text-generation"),
      model_entry<LlamaModel>("llama", "LlamaModel", "feature-extraction"),
      model_entry<LlamaForSequenceClassification>("llama", "LlamaForSequenceClassification", "text-classification"),
      model_entry<MistralForCausalLM>("mistral", "MistralForCausalLM", "text-generation"),
      model_entry<MistralModel>("mistral", "MistralModel", "feature-extraction"),
      model_entry<MistralForSequenceClassification>("mistral", "MistralForSequenceClassification", "text-classification"),
      model_entry<Qwen3ForCausalLM>("qwen3", "Qwen3ForCausalLM", "text-generation"),
      model_entry<Qwen3Model>("qwen3", "Qwen3Model", "feature-extraction"),
      model_entry<Qwen3ForSequenceClassification>("qwen3", "Qwen3ForSequenceClassification", "text-classification"),
  };
}

}  // namespace rote::nn

#include "nn/models/vit.h"

#include "autograd/ops.h"
#include "nn/encoder.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

void ViTConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("hidden_size", hidden_size);
  fields.field("num_hidden_layers", num_hidden_layers);
  fields.field("num_attention_heads", num_attention_heads);
  fields.field("intermediate_size", intermediate_size);
  fields.field("hidden_act", hidden_act);
  fields.field("hidden_dropout_prob", hidden_dropout_prob);
  fields.field("attention_probs_dropout_prob", attention_probs_dropout_prob);
  fields.field("layer_norm_eps", layer_norm_eps);
  fields.field("image_size", image_size);
  fields.field("patch_size", patch_size);
  fields.field("num_channels", num_channels);
  fields.field("qkv_bias", qkv_bias);
  fields.field("pooler_output_size", pooler_output_size);
  fields.field("pooler_act", pooler_act);
}

void ViTConfig::check() const {
  Config::check();
  ROTE_CHECK(model_type == "vit", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a vit.");
  check_size("hidden_size", hidden_size);
  check_size("num_hidden_layers", num_hidden_layers);
  check_size("num_attention_heads", num_attention_heads);
  check_size("intermediate_size", intermediate_size);
  check_size("image_size", image_size);
  check_size("patch_size", patch_size);
  check_size("num_channels", num_channels);
  check_size("pooler_output_size", pooler_output_size.value_or(hidden_size));
  ROTE_CHECK(num_hidden_layers <= 1000, ArgumentError, "config: num_hidden_layers is ", num_hidden_layers, "; it must be at most 1000.");
  ROTE_CHECK(hidden_size % num_attention_heads == 0, ArgumentError, "config: hidden_size ", hidden_size, " is no multiple of num_attention_heads ",
             num_attention_heads, "; each head takes an equal share.");
  ROTE_CHECK(patch_size <= image_size, ArgumentError, "config: patch_size ", patch_size, " is larger than image_size ", image_size, ".");
  check_share("hidden_dropout_prob", hidden_dropout_prob);
  check_share("attention_probs_dropout_prob", attention_probs_dropout_prob);
  check_not_negative("layer_norm_eps", layer_norm_eps);
}

std::string ViTConfig::stored_name(const std::string& name) const {
  static constexpr std::pair<const char*, const char*> kNames[] = {{"vit.layers.", "vit.encoder.layer."},
                                                                   {".attention.q_proj.", ".attention.attention.query."},
                                                                   {".attention.k_proj.", ".attention.attention.key."},
                                                                   {".attention.v_proj.", ".attention.attention.value."},
                                                                   {".attention.o_proj.", ".attention.output.dense."},
                                                                   {".mlp.fc1.", ".intermediate.dense."},
                                                                   {".mlp.fc2.", ".output.dense."}};
  std::string stored = name;
  for (const auto& [newer, older] : kNames)
    if (const size_t at = stored.find(newer); at != std::string::npos) stored.replace(at, std::string(newer).size(), older);
  return stored;
}

ViTPatchEmbeddings::ViTPatchEmbeddings(const ViTConfig& c) : projection(c.num_channels, c.hidden_size, c.patch_size, {.stride = c.patch_size}) {
  add_modules({{"projection", projection}});
}

Tensor ViTPatchEmbeddings::forward(const Tensor& pixel_values) { return transpose(flatten(projection(pixel_values), 2, 3), 1, 2); }

ViTEmbeddings::ViTEmbeddings(const ViTConfig& c)
    : cls_token(empty({1, 1, c.hidden_size})), position_embeddings(empty({1, c.patches() + 1, c.hidden_size})), patch_embeddings(c), dropout(c.hidden_dropout_prob) {
  add_parameters({{"cls_token", cls_token}, {"position_embeddings", position_embeddings}});
  add_modules({{"patch_embeddings", patch_embeddings}, {"dropout", dropout}});
}

void ViTEmbeddings::init_own(const std::function<bool(const char*)>& takes, const std::string& name, double std) {
  if (takes("cls_token")) fill_normal(cls_token, std, init_draw(name + ".cls_token"));
  if (takes("position_embeddings")) fill_normal(position_embeddings, std, init_draw(name + ".position_embeddings"));
}

Tensor ViTEmbeddings::forward(const Tensor& pixel_values) {
  const Tensor patches = patch_embeddings(pixel_values);
  const Tensor first = expand(cls_token, {patches.size(0), 1, patches.size(2)});
  return dropout(cat({first, patches}, 1) + position_embeddings);
}

ViTSelfAttention::ViTSelfAttention(const ViTConfig& c)
    : heads(c.num_attention_heads),
      dropout(c.attention_probs_dropout_prob),
      query(c.hidden_size, c.hidden_size, {.bias = c.qkv_bias}),
      key(c.hidden_size, c.hidden_size, {.bias = c.qkv_bias}),
      value(c.hidden_size, c.hidden_size, {.bias = c.qkv_bias}) {
  add_modules({{"query", query}, {"key", key}, {"value", value}});
}

AttentionResult ViTSelfAttention::forward(const Tensor& x, bool with_probabilities) {
  const Tensor q = split_heads(query(x), heads), k = split_heads(key(x), heads), v = split_heads(value(x), heads);
  return attend(q, k, v, {.dropout = training() ? dropout : 0, .with_probabilities = with_probabilities});
}

ViTDense::ViTDense(int64_t I, int64_t O, double p) : dense(I, O), dropout(p) { add_modules({{"dense", dense}, {"dropout", dropout}}); }

ViTAttention::ViTAttention(const ViTConfig& c) : attention(c), output(c.hidden_size, c.hidden_size, c.hidden_dropout_prob) {
  add_modules({{"attention", attention}, {"output", output}});
}

AttentionResult ViTAttention::forward(const Tensor& x, bool with_probabilities) {
  AttentionResult result = attention(x, with_probabilities);
  result.context = output(result.context);
  return result;
}

ViTIntermediate::ViTIntermediate(const ViTConfig& c) : dense(c.hidden_size, c.intermediate_size), intermediate_act_fn(c.hidden_act) {
  add_modules({{"dense", dense}, {"intermediate_act_fn", intermediate_act_fn}});
}

ViTLayer::ViTLayer(const ViTConfig& c)
    : attention(c),
      intermediate(c),
      output(c.intermediate_size, c.hidden_size, c.hidden_dropout_prob),
      layernorm_before(c.hidden_size, {.eps = c.layer_norm_eps}),
      layernorm_after(c.hidden_size, {.eps = c.layer_norm_eps}) {
  add_modules({{"attention", attention}, {"intermediate", intermediate}, {"output", output}, {"layernorm_before", layernorm_before}, {"layernorm_after", layernorm_after}});
}

AttentionResult ViTLayer::forward(const Tensor& x, bool with_probabilities) {
  AttentionResult result = attention(layernorm_before(x), with_probabilities);
  const Tensor hidden = result.context + x;
  result.context = output(intermediate(layernorm_after(hidden))) + hidden;
  return result;
}

ViTEncoder::ViTEncoder(const ViTConfig& c) {
  for (int64_t i = 0; i < c.num_hidden_layers; ++i) layer.add(c);
  add_modules({{"layer", layer}});
}

ModelOutput ViTEncoder::forward(const Tensor& x, bool with_states, bool with_probabilities) {
  return encode(layer, x, with_states, with_probabilities);
}

ViTPooler::ViTPooler(const ViTConfig& c) : dense(c.hidden_size, c.pooler_output_size.value_or(c.hidden_size)), activation(c.pooler_act) {
  add_modules({{"dense", dense}, {"activation", activation}});
}

Tensor ViTPooler::forward(const Tensor& x) { return activation(dense(select(x, 1, 0))); }

ViTModel::ViTModel(std::shared_ptr<ViTConfig> config, ViTModelOptions options)
    : Model(config), embeddings(*config), encoder(*config), layernorm(config->hidden_size, {.eps = config->layer_norm_eps}) {
  add_modules({{"embeddings", embeddings}, {"encoder", encoder}, {"layernorm", layernorm}});
  if (options.pooler) add_module("pooler", pooler.emplace(*config));
  initialise();
}

Signature ViTModel::signature() const {
  return {.inputs = "pixel_values[B,D,H,W]",
          .outputs = pooler ? "last_hidden_state, pooler_output, hidden_states, attentions" : "last_hidden_state, hidden_states, attentions",
          .main = "pixel_values",
          .labels = "",
          .scored = Scored::none};
}

ModelOutput ViTModel::forward(const Batch& in) {
  const auto& c = static_cast<const ViTConfig&>(*config());
  const Tensor& pixels = in["pixel_values"];
  ROTE_CHECK(pixels.size(1) == c.num_channels && pixels.size(2) == c.image_size && pixels.size(3) == c.image_size, ShapeError, "ViTModel: pixel_values is ",
             describe(pixels), "; it must be [B,", c.num_channels, ",", c.image_size, ",", c.image_size, "].");
  ModelOutput out = encoder(embeddings(pixels), wants_hidden_states(in), wants_attentions(in));
  out.last_hidden_state = layernorm(out.last_hidden_state);
  if (pooler) out.pooler_output = (*pooler)(out.last_hidden_state);
  return out;
}

ViTForImageClassification::ViTForImageClassification(std::shared_ptr<ViTConfig> config)
    : Model(config), vit(config, {.pooler = false}), classifier(config->hidden_size, config->num_labels()) {
  add_modules({{"vit", vit}, {"classifier", classifier}});
  initialise();
}

Signature ViTForImageClassification::signature() const {
  return {.inputs = "pixel_values[B,D,H,W], labels[...]?", .outputs = "loss, logits, hidden_states, attentions", .main = "pixel_values", .scored = sequence_scored(*config())};
}

ModelOutput ViTForImageClassification::forward(const Batch& in) {
  const ModelOutput encoded = vit(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(select(encoded.last_hidden_state, 1, 0));
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

std::vector<ModelEntry> vit_family() {
  return {
      model_entry<ViTForImageClassification>("vit", "ViTForImageClassification", "image-classification"),
      model_entry<ViTModel>("vit", "ViTModel", "image-feature-extraction"),
  };
}

}  // namespace rote::nn

#include "nn/models/t5.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "kernels/math64.h"
#include "nn/family.h"
#include "nn/loss.h"
#include "nn/recompute.h"

namespace rote::nn {

void T5Config::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("vocab_size", vocab_size);
  fields.field("d_model", d_model);
  fields.field("d_kv", d_kv);
  fields.field("d_ff", d_ff);
  fields.field("num_layers", num_layers);
  fields.field("num_decoder_layers", num_decoder_layers);
  fields.field("num_heads", num_heads);
  fields.field("relative_attention_num_buckets", relative_attention_num_buckets);
  fields.field("relative_attention_max_distance", relative_attention_max_distance);
  fields.field("dropout_rate", dropout_rate);
  fields.field("layer_norm_epsilon", layer_norm_epsilon);
  fields.field("initializer_factor", initializer_factor);
  fields.field("feed_forward_proj", feed_forward_proj);
  bool tied = true;
  fields.field("tie_word_embeddings", tied);
  if (!tied) scale_decoder_outputs = false;
  fields.field("scale_decoder_outputs", scale_decoder_outputs);
  fields.field("pad_token_id", pad_token_id);
  fields.field("decoder_start_token_id", decoder_start_token_id);
  fields.field("eos_token_id", eos_token_id);
}

std::string T5Config::activation() const {
  const std::string name = is_gated() ? feed_forward_proj.substr(6) : feed_forward_proj;
  return is_gated() && name == "gelu" ? "gelu_new" : name;  // as the released checkpoints were trained
}

void T5Config::check() const {
  Config::check();
  ROTE_CHECK(model_type == "t5", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a t5.");
  check_size("vocab_size", vocab_size);
  check_size("d_model", d_model);
  check_size("d_kv", d_kv);
  check_size("d_ff", d_ff);
  check_size("num_layers", num_layers);
  check_size("num_decoder_layers", num_decoder_layers.value_or(num_layers));
  check_size("num_heads", num_heads);
  check_size("relative_attention_num_buckets", relative_attention_num_buckets);
  check_size("relative_attention_max_distance", relative_attention_max_distance);
  ROTE_CHECK(std::max(num_layers, num_decoder_layers.value_or(num_layers)) <= 1000, ArgumentError, "config: num_layers is ", num_layers, "; it must be at most 1000.");
  ROTE_CHECK(relative_attention_num_buckets >= 4 && relative_attention_max_distance > relative_attention_num_buckets / 2, ArgumentError,
             "config: relative_attention_num_buckets is ", relative_attention_num_buckets, " and relative_attention_max_distance ", relative_attention_max_distance,
             "; there must be at least 4 buckets and a distance beyond half of them.");
  check_share("dropout_rate", dropout_rate);
  check_not_negative("layer_norm_epsilon", layer_norm_epsilon);
  check_token("pad_token_id", pad_token_id, vocab_size);
  check_token("decoder_start_token_id", decoder_start_token_id, vocab_size);
}

T5Attention::T5Attention(const T5Config& c, bool with_bias, bool both_ways)
    : heads(c.num_heads),
      bidirectional(both_ways),
      buckets(c.relative_attention_num_buckets),
      max_distance(c.relative_attention_max_distance),
      q(c.d_model, heads * c.d_kv, {.bias = false}),
      k(c.d_model, heads * c.d_kv, {.bias = false}),
      v(c.d_model, heads * c.d_kv, {.bias = false}),
      o(heads * c.d_kv, c.d_model, {.bias = false}),
      dropout(c.dropout_rate) {
  add_modules({{"q", q}, {"k", k}, {"v", v}, {"o", o}});
  if (with_bias) add_module("relative_attention_bias", relative_attention_bias.emplace(buckets, heads));
}

AttentionResult T5Attention::forward(const Tensor& x, const KeyValueCache::Pair& seen, const AttendOptions& given) {
  AttendOptions options = given;
  options.scale = 1;
  options.dropout = training() ? dropout.p : 0;
  AttentionResult result = attend(split_heads(q(x), heads), seen.key, seen.value, options);
  result.context = o(result.context);
  return result;
}

namespace {

// Half of the buckets are for single distances, the others for ranges that grow as their logarithm does; in f32 as in the reference, for
// a distance may lie on a border.
int64_t bucket_of(int64_t distance, bool bidirectional, int64_t buckets, int64_t max_distance) {
  int64_t first = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max<int64_t>(-distance, 0);
  }
  const int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  const float share = static_cast<float>(math64::log(static_cast<double>(static_cast<float>(distance) / static_cast<float>(exact)))) /
                      static_cast<float>(math64::log(static_cast<double>(max_distance) / static_cast<double>(exact))) * static_cast<float>(buckets - exact);
  return first + std::min(exact + static_cast<int64_t>(share), buckets - 1);
}

}  // namespace

Tensor T5Attention::position_bias(int64_t samples, int64_t T, int64_t S) {
  const Tensor ids = empty({samples, T, S}, {.dtype = DType::i64});
  int64_t* const first = ids.data<int64_t>();
  for (int64_t t = 0; t < T; ++t)
    for (int64_t s = 0; s < S; ++s) first[t * S + s] = bucket_of(s - (t + S - T), bidirectional, buckets, max_distance);
  for (int64_t sample = 1; sample < samples; ++sample) std::copy(first, first + T * S, first + sample * T * S);
  return permute((*relative_attention_bias)(ids), {0, 3, 1, 2});
}

T5FeedForward::T5FeedForward(const T5Config& c) : wo(c.d_ff, c.d_model, {.bias = false}), dropout(c.dropout_rate), act(c.activation()) {
  const LinearOptions bare{.bias = false};
  if (c.is_gated()) {
    add_module("wi_0", wi_0.emplace(c.d_model, c.d_ff, bare));
    add_module("wi_1", wi_1.emplace(c.d_model, c.d_ff, bare));
  } else {
    add_module("wi", wi.emplace(c.d_model, c.d_ff, bare));
  }
  add_modules({{"wo", wo}, {"dropout", dropout}, {"act", act}});
}

Tensor T5FeedForward::forward(const Tensor& x) {
  Tensor y = act(wi ? (*wi)(x) : (*wi_0)(x));
  if (wi_1) y = y * (*wi_1)(x);
  return wo(dropout(y));
}

T5LayerSelfAttention::T5LayerSelfAttention(const T5Config& c, bool with_bias, bool bidirectional)
    : SelfAttention(c, with_bias, bidirectional), layer_norm(c.d_model, {.eps = c.layer_norm_epsilon}), dropout(c.dropout_rate) {
  add_modules({{"SelfAttention", SelfAttention}, {"layer_norm", layer_norm}, {"dropout", dropout}});
}

AttentionResult T5LayerSelfAttention::forward(const Tensor& x, size_t layer, const AttendOptions& options, KeyValueCache* cache) {
  const Tensor normed = layer_norm(x);
  KeyValueCache::Pair seen = SelfAttention.keys_of(normed);
  if (cache != nullptr) seen = cache->append(layer, seen.key, seen.value);
  AttentionResult result = SelfAttention(normed, seen, options);
  result.context = x + dropout(result.context);
  return result;
}

T5LayerCrossAttention::T5LayerCrossAttention(const T5Config& c)
    : EncDecAttention(c, false, true), layer_norm(c.d_model, {.eps = c.layer_norm_epsilon}), dropout(c.dropout_rate) {
  add_modules({{"EncDecAttention", EncDecAttention}, {"layer_norm", layer_norm}, {"dropout", dropout}});
}

AttentionResult T5LayerCrossAttention::forward(const Tensor& x, size_t layer, const DecoderSurroundings& in) {
  const auto keys = [&] { return EncDecAttention.keys_of(in.encoded); };
  const KeyValueCache::Pair seen = in.cache != nullptr ? in.cache->once(layer, keys) : keys();
  AttentionResult result = EncDecAttention(layer_norm(x), seen, AttendOptions{.mask = in.encoded_mask, .with_probabilities = in.with_probabilities});
  result.context = x + dropout(result.context);
  return result;
}

T5LayerFF::T5LayerFF(const T5Config& c) : DenseReluDense(c), layer_norm(c.d_model, {.eps = c.layer_norm_epsilon}), dropout(c.dropout_rate) {
  add_modules({{"DenseReluDense", DenseReluDense}, {"layer_norm", layer_norm}, {"dropout", dropout}});
}

T5Parts::T5Parts(const T5Config& c, bool first, bool decoder) : self(c, first, !decoder), feed_forward(c) {
  add_module("0", self);
  if (decoder) add_module("1", cross.emplace(c));
  add_module(decoder ? "2" : "1", feed_forward);
}

T5Block::T5Block(const T5Config& c, bool first, bool decoder) : layer(c, first, decoder) { add_modules({{"layer", layer}}); }

T5Block::Result T5Block::forward(const Tensor& x, size_t i, const AttendOptions& options, const DecoderSurroundings& in) {
  const AttentionResult self = layer.self(x, i, options, in.cache);
  Result result{self.context, self.probabilities, {}};
  if (layer.cross) {
    const AttentionResult cross = (*layer.cross)(result.context, i, in);
    result.context = cross.context;
    result.cross_probabilities = cross.probabilities;
  }
  result.context = layer.feed_forward(result.context);
  return result;
}

T5Stack::T5Stack(const T5Config& c, bool is_decoder)
    : decoder(is_decoder), embed_tokens(c.vocab_size, c.d_model), final_layer_norm(c.d_model, {.eps = c.layer_norm_epsilon}), dropout(c.dropout_rate) {
  const int64_t layers = is_decoder ? c.num_decoder_layers.value_or(c.num_layers) : c.num_layers;
  for (int64_t i = 0; i < layers; ++i) block.add(c, i == 0, is_decoder);
  add_modules({{"embed_tokens", embed_tokens}, {"block", block}, {"final_layer_norm", final_layer_norm}, {"dropout", dropout}});
}

ModelOutput T5Stack::forward(const Tensor& ids, DecoderSurroundings in, bool with_states) {
  const int64_t T = ids.size(1), past = in.cache != nullptr ? in.cache->length() : 0;
  Tensor x = dropout(embed_tokens(ids));
  AttendOptions options = seeing(in.mask);
  // While it trains each sample has a bias of its own: the table's gradient is then a tree over samples, as every parameter's.
  const RunScope* scope = current_scope();
  const bool by_sample = grad_enabled() && scope != nullptr && scope->by_sample(ids.shape());
  options.bias = block[0].layer.self.SelfAttention.position_bias(by_sample ? ids.size(0) : 1, T, past + T);
  options.with_probabilities = in.with_probabilities;
  ModelOutput out;
  for (size_t i = 0; i < block.size(); ++i) {
    if (with_states) out.hidden_states.push_back(x);
    const auto call = [&layer = block[i], i, options, in](const Tensor& y) { return layer(y, i, options, in); };
    const T5Block::Result result = run_layer(i, in.with_probabilities, x, call);
    x = result.context;
    if (!in.with_probabilities) continue;
    out.attentions.push_back(result.self_probabilities);
    if (result.cross_probabilities.defined()) out.cross_attentions.push_back(result.cross_probabilities);
  }
  out.last_hidden_state = dropout(final_layer_norm(x));
  if (with_states) out.hidden_states.push_back(out.last_hidden_state);
  return out;
}

T5ForConditionalGeneration::T5ForConditionalGeneration(std::shared_ptr<T5Config> config)
    : Model(config),
      shared(config->vocab_size, config->d_model),
      encoder(*config, false),
      decoder(*config, true),
      lm_head(config->d_model, config->vocab_size, {.bias = false}) {
  encoder.embed_tokens.weight = decoder.embed_tokens.weight = lm_head.weight = shared.weight;
  add_modules({{"shared", shared}, {"encoder", encoder}, {"decoder", decoder}, {"lm_head", lm_head}});
  initialise();
}

Signature T5ForConditionalGeneration::signature() const {
  return {.inputs = "input_ids[B,S]? i64, attention_mask[B,S]?, decoder_input_ids[B,T]? i64, decoder_attention_mask[B,U]?, encoder_outputs[B,S,C]?, labels[B,L]?",
          .outputs = "loss, logits, decoder_hidden_states, decoder_attentions, cross_attentions, encoder_last_hidden_state, encoder_hidden_states, encoder_attentions",
          .scored = Scored::not_ignored};
}

ModelOutput T5ForConditionalGeneration::forward(const Batch& in) {
  const auto& c = static_cast<const T5Config&>(*config());
  const Tensor ids = decoder_inputs(in, *c.decoder_start(), c.pad_token_id.value_or(0));
  ModelOutput out = encode_and_decode(encoder, decoder, in, ids, wants_hidden_states(in), wants_attentions(in));
  const Tensor x = std::exchange(out.last_hidden_state, {});
  out.logits = lm_head(c.scale_decoder_outputs ? x * (1 / std::sqrt(static_cast<double>(c.d_model))) : x);
  out.loss = class_loss(out.logits, in.find("labels"), divisor(signature(), in));
  return out;
}

void T5ForConditionalGeneration::init_weights(const std::function<bool(const std::string&)>& wanted) {
  Model::init_weights(wanted);
  const auto& c = static_cast<const T5Config&>(*config());
  const double model = static_cast<double>(c.d_model), inner = static_cast<double>(c.num_heads * c.d_kv);
  const std::pair<const char*, double> variances[] = {
      {".q.weight", 1 / (model * static_cast<double>(c.d_kv))}, {".k.weight", 1 / model}, {".v.weight", 1 / model}, {".o.weight", 1 / inner},
      {".relative_attention_bias.weight", 1 / model}, {".wi.weight", 1 / model}, {".wi_0.weight", 1 / model}, {".wi_1.weight", 1 / model},
      {".wo.weight", 1 / static_cast<double>(c.d_ff)}, {"shared.weight", 1}};
  each_parameter([&](const std::string& name, Tensor& x, bool first) {
    if (!first || !wanted(name)) return;
    for (const auto& [suffix, variance] : variances)
      if (name.ends_with(suffix)) fill_normal(x, c.initializer_factor * std::sqrt(variance), init_draw(name));
    if (name.ends_with("layer_norm.weight")) fill(x, c.initializer_factor);
  });
}

std::vector<ModelEntry> t5_family() { return {model_entry<T5ForConditionalGeneration>("t5", "T5ForConditionalGeneration", "text2text-generation")}; }

}  // namespace rote::nn

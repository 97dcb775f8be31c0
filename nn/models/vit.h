// nn/models/vit.h — ViT: an image as a row of patches before an encoder. Names of modules and parameters are the reference's.
// Dosovitskiy et al. 2020, arXiv:2010.11929
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/norm.h"

namespace rote::nn {

struct ViTConfig : Config {
  int64_t hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12, intermediate_size = 3072;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0, attention_probs_dropout_prob = 0, layer_norm_eps = 1e-12;
  int64_t image_size = 224, patch_size = 16, num_channels = 3;
  bool qkv_bias = true;
  std::optional<int64_t> pooler_output_size;  // none: hidden_size
  std::string pooler_act = "tanh";

  ViTConfig() { model_type = "vit"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "vit"; }
  InputLimits limits() const override { return {.length = {}, .vocabulary = {}, .channels = num_channels, .image_size = image_size}; }
  std::string stored_name(const std::string& name) const override;
  int64_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }
};

struct ViTPatchEmbeddings : Layer<ViTPatchEmbeddings> {
  Conv2d projection;

  explicit ViTPatchEmbeddings(const ViTConfig& c);
  Tensor forward(const Tensor& pixel_values);  // [B,channels,size,size] -> [B,P,C]
};

struct ViTEmbeddings : Layer<ViTEmbeddings> {
  Tensor cls_token;            // [1,1,C]
  Tensor position_embeddings;  // [1,P+1,C]
  ViTPatchEmbeddings patch_embeddings;
  Dropout dropout;

  explicit ViTEmbeddings(const ViTConfig& c);
  Tensor forward(const Tensor& pixel_values);  // -> [B,P+1,C]
  void init_own(const std::function<bool(const char*)>& takes, const std::string& name, double std) override;
};

struct ViTSelfAttention : Layer<ViTSelfAttention> {
  const int64_t heads;
  const double dropout;
  Linear query, key, value;

  explicit ViTSelfAttention(const ViTConfig& c);
  AttentionResult forward(const Tensor& x, bool with_probabilities);
};

struct ViTDense : Layer<ViTDense> {  // a linear layer and its dropout
  Linear dense;
  Dropout dropout;

  ViTDense(int64_t I, int64_t O, double p);
  Tensor forward(const Tensor& x) { return dropout(dense(x)); }
};

struct ViTAttention : Layer<ViTAttention> {
  ViTSelfAttention attention;
  ViTDense output;

  explicit ViTAttention(const ViTConfig& c);
  AttentionResult forward(const Tensor& x, bool with_probabilities);
};

struct ViTIntermediate : Layer<ViTIntermediate> {
  Linear dense;
  Activation intermediate_act_fn;

  explicit ViTIntermediate(const ViTConfig& c);
  Tensor forward(const Tensor& x) { return intermediate_act_fn(dense(x)); }
};

struct ViTLayer : Layer<ViTLayer> {
  ViTAttention attention;
  ViTIntermediate intermediate;
  ViTDense output;
  LayerNorm layernorm_before, layernorm_after;

  explicit ViTLayer(const ViTConfig& c);
  AttentionResult forward(const Tensor& x, bool with_probabilities);
};

struct ViTEncoder : Layer<ViTEncoder> {
  ModuleList<ViTLayer> layer;

  explicit ViTEncoder(const ViTConfig& c);
  ModelOutput forward(const Tensor& x, bool with_states, bool with_probabilities);
};

struct ViTPooler : Layer<ViTPooler> {
  Linear dense;
  Activation activation;

  explicit ViTPooler(const ViTConfig& c);
  Tensor forward(const Tensor& x);  // [B,P+1,C] -> [B,pooled], from the first place
};

struct ViTModelOptions {
  bool pooler = true;
};

struct ViTModel : Model {
  using ConfigType = ViTConfig;
  ViTEmbeddings embeddings;
  ViTEncoder encoder;
  LayerNorm layernorm;
  std::optional<ViTPooler> pooler;

  explicit ViTModel(std::shared_ptr<ViTConfig> config, ViTModelOptions options = {});
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

// logits [B,L], labels by problem_type (sequence_loss).
struct ViTForImageClassification : Model {
  using ConfigType = ViTConfig;
  ViTModel vit;
  Linear classifier;

  explicit ViTForImageClassification(std::shared_ptr<ViTConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
};

}  // namespace rote::nn

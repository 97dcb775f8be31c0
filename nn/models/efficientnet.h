// nn/models/efficientnet.h — EfficientNet (Tan & Le 2019, arXiv:1905.11946) with the reference's names, and its Lite variant: a model_type of
// our own, "efficientnet_lite", for which the reference has none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/activation.h"
#include "nn/container.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/model.h"

namespace rote::nn {

struct EfficientNetConfig : Config {
  int64_t num_channels = 3;
  double width_coefficient = 2.0, depth_coefficient = 3.1;
  int64_t depth_divisor = 8;  // of every width
  // One a stage.
  std::vector<int64_t> kernel_sizes = {3, 3, 5, 3, 5, 5, 3}, in_channels = {32, 16, 24, 40, 80, 112, 192}, out_channels = {16, 24, 40, 80, 112, 192, 320};
  std::vector<int64_t> strides = {1, 2, 2, 2, 1, 2, 1}, num_block_repeats = {1, 2, 2, 3, 3, 4, 1}, expand_ratios = {1, 6, 6, 6, 6, 6, 6};
  std::vector<int64_t> depthwise_padding;  // blocks that are padded alike on all sides before a stride of 2
  double squeeze_expansion_ratio = 0.25;
  std::string hidden_act = "swish";
  int64_t hidden_dim = 2560;           // channels after the last convolution
  std::string pooling_type = "mean";   // or max
  double batch_norm_eps = 0.001;
  double batch_norm_momentum = 0.99;   // the share of the new statistics
  double dropout_rate = 0.5, drop_connect_rate = 0.2;

  EfficientNetConfig() { model_type = "efficientnet"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "efficientnet"; }
  InputLimits limits() const override { return {.length = {}, .vocabulary = {}, .channels = num_channels}; }
  int64_t width(int64_t channels) const;  // scaled, a multiple of depth_divisor that lost no tenth
  // Where Lite differs: no squeeze and excitation; stem, head and the repeats of the outer stages are not scaled; a stride of 2 pads by the
  // size of its input, so that the output is half of it rounded up.
  virtual bool is_lite() const { return false; }
  int64_t stem_width() const { return is_lite() ? 32 : width(32); }
  int64_t repeats(size_t stage) const;
};

struct EfficientNetLiteConfig : EfficientNetConfig {
  EfficientNetLiteConfig();  // Lite0
  bool is_lite() const override { return true; }
};

// A block's place: its channels, and what its stage and its number say.
struct EfficientNetBlockOptions {
  int64_t I, O, stride, kernel, expand_ratio;
  bool first;    // of its stage: no way past it
  bool uneven;   // before a stride of 2 one less is padded in front than behind
  double drop;   // the chance that an element of its result is dropped before the way past it joins
};

struct EfficientNetEmbeddings : Layer<EfficientNetEmbeddings> {
  Conv2d convolution;
  BatchNorm2d batchnorm;
  Activation activation;
  const bool lite;

  explicit EfficientNetEmbeddings(const EfficientNetConfig& c);
  Tensor forward(const Tensor& pixel_values);  // [B,channels,H,W] -> [B,stem,H/2,W/2]
};

struct EfficientNetExpansion : Layer<EfficientNetExpansion> {
  Conv2d expand_conv;
  BatchNorm2d expand_bn;
  Activation expand_act;

  EfficientNetExpansion(const EfficientNetConfig& c, int64_t I, int64_t O);
  Tensor forward(const Tensor& x) { return expand_act(expand_bn(expand_conv(x))); }
};

struct EfficientNetDepthwise : Layer<EfficientNetDepthwise> {
  Conv2d depthwise_conv;  // one filter a channel
  BatchNorm2d depthwise_norm;
  Activation depthwise_act;
  const int64_t kernel, stride;
  const bool uneven, lite;

  EfficientNetDepthwise(const EfficientNetConfig& c, int64_t channels, const EfficientNetBlockOptions& o);
  Tensor forward(const Tensor& x);
};

// Each channel scaled by what the means of all say.  Hu et al. 2017, arXiv:1709.01507
struct EfficientNetSqueezeExcite : Layer<EfficientNetSqueezeExcite> {
  Conv2d reduce, expand;
  Activation act_reduce;

  EfficientNetSqueezeExcite(const EfficientNetConfig& c, int64_t channels, int64_t inner);
  Tensor forward(const Tensor& x);
};

struct EfficientNetProjection : Layer<EfficientNetProjection> {
  Conv2d project_conv;
  BatchNorm2d project_bn;
  Dropout dropout;
  const bool past;

  EfficientNetProjection(const EfficientNetConfig& c, int64_t I, const EfficientNetBlockOptions& o);
  Tensor forward(const Tensor& block_input, const Tensor& x);
};

struct EfficientNetBlock : Layer<EfficientNetBlock> {
  std::optional<EfficientNetExpansion> expansion;
  EfficientNetDepthwise depthwise_conv;
  std::optional<EfficientNetSqueezeExcite> squeeze_excite;
  EfficientNetProjection projection;

  EfficientNetBlock(const EfficientNetConfig& c, const EfficientNetBlockOptions& o);
  Tensor forward(const Tensor& x);
};

struct EfficientNetEncoder : Layer<EfficientNetEncoder> {
  ModuleList<EfficientNetBlock> blocks;
  Conv2d top_conv;
  BatchNorm2d top_bn;
  Activation top_activation;

  explicit EfficientNetEncoder(const EfficientNetConfig& c);
  ModelOutput forward(const Tensor& x, bool with_states);
};

// last_hidden_state [B,hidden_dim,H/32,W/32], pooler_output [B,hidden_dim]; hidden_states: of the stem and of each block.
struct EfficientNetModel : Model {
  using ConfigType = EfficientNetConfig;
  EfficientNetEmbeddings embeddings;
  EfficientNetEncoder encoder;

  explicit EfficientNetModel(std::shared_ptr<EfficientNetConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
  void init_weights(const std::function<bool(const std::string&)>& wanted) override;
};

// logits [B,L], labels by problem_type (sequence_loss).
struct EfficientNetForImageClassification : Model {
  using ConfigType = EfficientNetConfig;
  EfficientNetModel efficientnet;
  Dropout dropout;
  Linear classifier;

  explicit EfficientNetForImageClassification(std::shared_ptr<EfficientNetConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
  void init_weights(const std::function<bool(const std::string&)>& wanted) override;
};

struct EfficientNetLiteModel : EfficientNetModel {
  using ConfigType = EfficientNetLiteConfig;
  using EfficientNetModel::EfficientNetModel;
};
struct EfficientNetLiteForImageClassification : EfficientNetForImageClassification {
  using ConfigType = EfficientNetLiteConfig;
  using EfficientNetForImageClassification::EfficientNetForImageClassification;
};

}  // namespace rote::nn

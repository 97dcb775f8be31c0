// nn/models/resnet.h — ResNet: stages of convolutions with shortcuts. Names of modules and parameters are the reference's.
// He et al. 2015, arXiv:1512.03385
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/activation.h"
#include "nn/container.h"
#include "nn/conv.h"
#include "nn/linear.h"
#include "nn/model.h"

namespace rote::nn {

struct ResNetConfig : Config {
  int64_t num_channels = 3, embedding_size = 64;
  std::vector<int64_t> hidden_sizes = {256, 512, 1024, 2048}, depths = {3, 4, 6, 3};  // one a stage
  std::string layer_type = "bottleneck";                                              // or basic
  std::string hidden_act = "relu";
  bool downsample_in_first_stage = false;
  bool downsample_in_bottleneck = false;  // by the first convolution of a bottleneck, not by the second

  ResNetConfig() { model_type = "resnet"; }
  void visit(ConfigFields& fields) override;
  void check() const override;
  const char* base_prefix() const override { return "resnet"; }
  InputLimits limits() const override { return {.length = {}, .vocabulary = {}, .channels = num_channels}; }
  bool is_bottleneck() const { return layer_type == "bottleneck"; }
};

struct ResNetConvLayerOptions {
  int64_t stride = 1;
  std::string activation = "relu";  // empty: none
};

// Convolution, batch norm, activation: [B,I,H,W] -> [B,O,H/stride,W/stride], rounded up.
struct ResNetConvLayer : Layer<ResNetConvLayer> {
  Conv2d convolution;
  BatchNorm2d normalization;
  std::optional<Activation> activation;

  ResNetConvLayer(int64_t I, int64_t O, int64_t kernel, const ResNetConvLayerOptions& options);
  Tensor forward(const Tensor& x);
};

struct ResNetEmbeddings : Layer<ResNetEmbeddings> {
  ResNetConvLayer embedder;

  explicit ResNetEmbeddings(const ResNetConfig& c);
  Tensor forward(const Tensor& pixel_values);  // [B,channels,H,W] -> [B,embedding_size,H/4,W/4], rounded up
};

struct ResNetShortCut : Layer<ResNetShortCut> {
  Conv2d convolution;
  BatchNorm2d normalization;

  ResNetShortCut(int64_t I, int64_t O, int64_t stride);
  Tensor forward(const Tensor& x) { return normalization(convolution(x)); }
};

// Two 3x3 convolutions (basic), or 1x1, 3x3, 1x1 over a quarter of the channels (bottleneck), and the shortcut past them.
struct ResNetLayer : Layer<ResNetLayer> {
  std::optional<ResNetShortCut> shortcut;  // where size or channels change
  ModuleList<ResNetConvLayer> layer;
  Activation activation;

  ResNetLayer(const ResNetConfig& c, int64_t I, int64_t O, int64_t stride);
  Tensor forward(const Tensor& x);
};

struct ResNetStage : Layer<ResNetStage> {
  ModuleList<ResNetLayer> layers;

  ResNetStage(const ResNetConfig& c, size_t stage);
  Tensor forward(const Tensor& x);
};

struct ResNetEncoder : Layer<ResNetEncoder> {
  ModuleList<ResNetStage> stages;

  explicit ResNetEncoder(const ResNetConfig& c);
  ModelOutput forward(const Tensor& x, bool with_states);
};

// last_hidden_state [B,O,H/32,W/32], pooler_output [B,O,1,1]: its means; hidden_states: what each stage is given and what the last one gives.
struct ResNetModel : Model {
  using ConfigType = ResNetConfig;
  ResNetEmbeddings embedder;
  ResNetEncoder encoder;

  explicit ResNetModel(std::shared_ptr<ResNetConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
  void init_weights(const std::function<bool(const std::string&)>& wanted) override;
};

struct ResNetClassifier : Layer<ResNetClassifier> {
  Linear linear;  // "1": after a flattening that the reference counts

  ResNetClassifier(int64_t I, int64_t labels) : linear(I, labels) { add_modules({{"1", linear}}); }
  Tensor forward(const Tensor& x) { return linear(x); }
};

// logits [B,L], labels by problem_type (sequence_loss).
struct ResNetForImageClassification : Model {
  using ConfigType = ResNetConfig;
  ResNetModel resnet;
  ResNetClassifier classifier;

  explicit ResNetForImageClassification(std::shared_ptr<ResNetConfig> config);
  Signature signature() const override;
  ModelOutput forward(const Batch& in) override;
  void init_weights(const std::function<bool(const std::string&)>& wanted) override;
};

}  // namespace rote::nn

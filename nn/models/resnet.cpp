#include "nn/models/resnet.h"

#include <cmath>

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

void ResNetConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("num_channels", num_channels);
  fields.field("embedding_size", embedding_size);
  fields.list("hidden_sizes", hidden_sizes);
  fields.list("depths", depths);
  fields.field("layer_type", layer_type);
  fields.field("hidden_act", hidden_act);
  fields.field("downsample_in_first_stage", downsample_in_first_stage);
  fields.field("downsample_in_bottleneck", downsample_in_bottleneck);
}

void ResNetConfig::check() const {
  Config::check();
  ROTE_CHECK(model_type == "resnet", ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of a resnet.");
  check_size("num_channels", num_channels);
  check_size("embedding_size", embedding_size);
  ROTE_CHECK(!hidden_sizes.empty() && hidden_sizes.size() == depths.size(), ArgumentError, "config: there are ", hidden_sizes.size(), " hidden_sizes and ",
             depths.size(), " depths; each stage has one of both.");
  int64_t layers = 0;
  for (size_t i = 0; i < depths.size(); ++i) {
    check_size("hidden_sizes", hidden_sizes[i]);
    check_size("depths", depths[i]);
    layers += depths[i];
    ROTE_CHECK(!is_bottleneck() || hidden_sizes[i] >= 4, ArgumentError, "config: hidden_sizes has ", hidden_sizes[i], "; a bottleneck has a quarter of it, at least 1.");
  }
  ROTE_CHECK(layers <= 10000, ArgumentError, "config: depths add up to ", layers, " layers; there must be at most 10000.");
  ROTE_CHECK(layer_type == "basic" || layer_type == "bottleneck", ArgumentError, "config: layer_type is \"", layer_type, "\"; it must be basic or bottleneck.");
}

ResNetConvLayer::ResNetConvLayer(int64_t I, int64_t O, int64_t kernel, const ResNetConvLayerOptions& options)
    : convolution(I, O, kernel, {.stride = options.stride, .padding = kernel / 2, .bias = false}), normalization(O) {
  add_modules({{"convolution", convolution}, {"normalization", normalization}});
  if (!options.activation.empty()) add_module("activation", activation.emplace(options.activation));
}

Tensor ResNetConvLayer::forward(const Tensor& x) {
  const Tensor y = normalization(convolution(x));
  return activation ? (*activation)(y) : y;
}

ResNetEmbeddings::ResNetEmbeddings(const ResNetConfig& c) : embedder(c.num_channels, c.embedding_size, 7, {.stride = 2, .activation = c.hidden_act}) {
  add_modules({{"embedder", embedder}});
}

Tensor ResNetEmbeddings::forward(const Tensor& pixel_values) { return max_pool2d(embedder(pixel_values), {3}, {.stride = {2}, .padding = {1}}); }

ResNetShortCut::ResNetShortCut(int64_t I, int64_t O, int64_t stride) : convolution(I, O, 1, {.stride = stride, .bias = false}), normalization(O) {
  add_modules({{"convolution", convolution}, {"normalization", normalization}});
}

// The convolutions inside have relu whatever hidden_act says, as in the reference.
ResNetLayer::ResNetLayer(const ResNetConfig& c, int64_t I, int64_t O, int64_t stride) : activation(c.hidden_act) {
  if (I != O || stride != 1) add_module("shortcut", shortcut.emplace(I, O, stride));
  add_modules({{"layer", layer}, {"activation", activation}});
  if (c.is_bottleneck()) {
    const int64_t inner = O / 4;
    layer.add(I, inner, 1, ResNetConvLayerOptions{.stride = c.downsample_in_bottleneck ? stride : 1});
    layer.add(inner, inner, 3, ResNetConvLayerOptions{.stride = c.downsample_in_bottleneck ? 1 : stride});
    layer.add(inner, O, 1, ResNetConvLayerOptions{.activation = ""});
  } else {
    layer.add(I, O, 3, ResNetConvLayerOptions{.stride = stride});
    layer.add(O, O, 3, ResNetConvLayerOptions{.activation = ""});
  }
}

Tensor ResNetLayer::forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < layer.size(); ++i) y = layer[i](y);
  return activation(y + (shortcut ? (*shortcut)(x) : x));
}

ResNetStage::ResNetStage(const ResNetConfig& c, size_t stage) {
  add_modules({{"layers", layers}});
  const int64_t I = stage == 0 ? c.embedding_size : c.hidden_sizes[stage - 1], O = c.hidden_sizes[stage];
  layers.add(c, I, O, stage > 0 || c.downsample_in_first_stage ? 2 : 1);
  for (int64_t i = 1; i < c.depths[stage]; ++i) layers.add(c, O, O, 1);
}

Tensor ResNetStage::forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < layers.size(); ++i) y = layers[i](y);
  return y;
}

ResNetEncoder::ResNetEncoder(const ResNetConfig& c) {
  add_modules({{"stages", stages}});
  for (size_t i = 0; i < c.depths.size(); ++i) stages.add(c, i);
}

ModelOutput ResNetEncoder::forward(const Tensor& x, bool with_states) {
  ModelOutput out;
  out.last_hidden_state = x;
  if (with_states) out.hidden_states.push_back(x);
  for (size_t i = 0; i < stages.size(); ++i) {
    out.last_hidden_state = stages[i](out.last_hidden_state);
    if (with_states) out.hidden_states.push_back(out.last_hidden_state);
  }
  return out;
}

namespace {

// Convolutions normal with deviation √(2/fan_out) (He et al. 2015, arXiv:1502.01852), the classifier uniform as PyTorch's Linear.
void init_resnet(Model& model, const std::function<bool(const std::string&)>& wanted) {
  model.Model::init_weights(wanted);
  for (const NamedModule& one : model.named_modules()) {
    const std::string weight = one.name + ".weight", bias = one.name + ".bias";
    if (auto* conv = dynamic_cast<Conv2d*>(one.module); conv != nullptr && wanted(weight)) {
      const Shape& s = conv->weight.shape();
      fill_normal(conv->weight, std::sqrt(2.0 / static_cast<double>(s[0] * s[2] * s[3])), init_draw(weight));
    } else if (auto* linear = dynamic_cast<Linear*>(one.module)) {
      const double bound = 1 / std::sqrt(static_cast<double>(linear->weight.size(1)));
      if (wanted(weight)) fill_uniform(linear->weight, -bound, bound, init_draw(weight));
      if (wanted(bias)) fill_uniform(linear->bias, -bound, bound, init_draw(bias));
    }
  }
}

}  // namespace

ResNetModel::ResNetModel(std::shared_ptr<ResNetConfig> config) : Model(config), embedder(*config), encoder(*config) {
  add_modules({{"embedder", embedder}, {"encoder", encoder}});
  initialise();
}

void ResNetModel::init_weights(const std::function<bool(const std::string&)>& wanted) { init_resnet(*this, wanted); }

Signature ResNetModel::signature() const {
  return {.inputs = "pixel_values[B,D,H,W]", .outputs = "last_hidden_state, pooler_output, hidden_states", .main = "pixel_values", .labels = "", .scored = Scored::none};
}

ModelOutput ResNetModel::forward(const Batch& in) {
  const auto& c = static_cast<const ResNetConfig&>(*config());
  const Tensor& pixels = in["pixel_values"];
  ROTE_CHECK(pixels.size(1) == c.num_channels, ShapeError, "ResNetModel: pixel_values is ", describe(pixels), "; it must have ", c.num_channels, " channels.");
  ModelOutput out = encoder(embedder(pixels), wants_hidden_states(in));
  out.pooler_output = mean(out.last_hidden_state, {2, 3}, /*keepdim=*/true);
  return out;
}

ResNetForImageClassification::ResNetForImageClassification(std::shared_ptr<ResNetConfig> config)
    : Model(config), resnet(config), classifier(config->hidden_sizes.back(), config->num_labels()) {
  add_modules({{"resnet", resnet}, {"classifier", classifier}});
  initialise();
}

void ResNetForImageClassification::init_weights(const std::function<bool(const std::string&)>& wanted) { init_resnet(*this, wanted); }

Signature ResNetForImageClassification::signature() const {
  return {.inputs = "pixel_values[B,D,H,W], labels[...]?", .outputs = "loss, logits, hidden_states", .main = "pixel_values", .scored = sequence_scored(*config())};
}

ModelOutput ResNetForImageClassification::forward(const Batch& in) {
  const ModelOutput encoded = resnet(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(flatten(encoded.pooler_output, 1, 3));
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

std::vector<ModelEntry> resnet_family() {
  return {
      model_entry<ResNetForImageClassification>("resnet", "ResNetForImageClassification", "image-classification"),
      model_entry<ResNetModel>("resnet", "ResNetModel", "image-feature-extraction"),
  };
}

}  // namespace rote::nn

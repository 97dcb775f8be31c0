#include "nn/models/efficientnet.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "nn/family.h"
#include "nn/loss.h"

namespace rote::nn {

EfficientNetLiteConfig::EfficientNetLiteConfig() {
  model_type = "efficientnet_lite";
  width_coefficient = depth_coefficient = 1;
  hidden_act = "relu6";
  hidden_dim = 1280;
  batch_norm_momentum = 0.01;
  dropout_rate = 0.2;
}

void EfficientNetConfig::visit(ConfigFields& fields) {
  Config::visit(fields);
  fields.field("num_channels", num_channels);
  fields.field("width_coefficient", width_coefficient);
  fields.field("depth_coefficient", depth_coefficient);
  fields.field("depth_divisor", depth_divisor);
  fields.list("kernel_sizes", kernel_sizes);
  fields.list("in_channels", in_channels);
  fields.list("out_channels", out_channels);
  fields.list("strides", strides);
  fields.list("num_block_repeats", num_block_repeats);
  fields.list("expand_ratios", expand_ratios);
  fields.list("depthwise_padding", depthwise_padding);
  if (!is_lite()) fields.field("squeeze_expansion_ratio", squeeze_expansion_ratio);
  fields.field("hidden_act", hidden_act);
  fields.field("hidden_dim", hidden_dim);
  fields.field("pooling_type", pooling_type);
  fields.field("batch_norm_eps", batch_norm_eps);
  fields.field("batch_norm_momentum", batch_norm_momentum);
  fields.field("dropout_rate", dropout_rate);
  fields.field("drop_connect_rate", drop_connect_rate);
}

int64_t EfficientNetConfig::width(int64_t channels) const {
  const double wanted = static_cast<double>(channels) * width_coefficient;
  const int64_t rounded = std::max(depth_divisor, static_cast<int64_t>(wanted + static_cast<double>(depth_divisor) / 2) / depth_divisor * depth_divisor);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + depth_divisor : rounded;
}

int64_t EfficientNetConfig::repeats(size_t stage) const {
  const bool outer = stage == 0 || stage + 1 == num_block_repeats.size();
  if (is_lite() && outer) return num_block_repeats[stage];
  return static_cast<int64_t>(std::ceil(depth_coefficient * static_cast<double>(num_block_repeats[stage])));
}

void EfficientNetConfig::check() const {
  Config::check();
  const char* wanted = is_lite() ? "efficientnet_lite" : "efficientnet";
  ROTE_CHECK(model_type == wanted, ArgumentError, "config: model_type is \"", model_type, "\"; this is the config of an ", wanted, ".");
  check_size("num_channels", num_channels);
  check_size("depth_divisor", depth_divisor);
  check_size("hidden_dim", hidden_dim);
  for (const auto& [name, value] : {std::pair("width_coefficient", width_coefficient), std::pair("depth_coefficient", depth_coefficient)})
    ROTE_CHECK(value > 0 && value <= 1000, ArgumentError, "config: ", name, " is ", value, "; it must be positive, at most 1000.");
  struct Stages {
    const char* name;
    const std::vector<int64_t>& values;
  };
  for (const auto& [name, values] : {Stages{"kernel_sizes", kernel_sizes}, Stages{"in_channels", in_channels}, Stages{"out_channels", out_channels},
                                     Stages{"strides", strides}, Stages{"num_block_repeats", num_block_repeats}, Stages{"expand_ratios", expand_ratios}}) {
    ROTE_CHECK(!values.empty() && values.size() == out_channels.size(), ArgumentError, "config: ", name, " has ", values.size(), " entries but out_channels ",
               out_channels.size(), "; each stage has one of both.");
    for (const int64_t value : values)
      ROTE_CHECK(value > 0 && value <= 1'000'000, ArgumentError, "config: ", name, " has ", value, "; it must lie in 1…1000000.");
  }
  int64_t blocks = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    blocks += repeats(i);
    ROTE_CHECK(kernel_sizes[i] % 2 == 1, ArgumentError, "config: kernel_sizes has ", kernel_sizes[i], "; only odd ones keep the size of an image.");
    ROTE_CHECK(strides[i] <= 2, ArgumentError, "config: strides has ", strides[i], "; a stage keeps the size (1) or halves it (2).");
    const int64_t before = i == 0 ? 32 : out_channels[i - 1];
    ROTE_CHECK(width(in_channels[i]) == width(before), ArgumentError, "config: in_channels[", i, "] is ", in_channels[i], " but what comes before has ", before,
               "; they must be equal.");
  }
  ROTE_CHECK(blocks <= 10000, ArgumentError, "config: num_block_repeats and depth_coefficient give ", blocks, " blocks; there must be at most 10000.");
  ROTE_CHECK(is_lite() || hidden_dim == width(1280), ArgumentError, "config: hidden_dim is ", hidden_dim, " but width_coefficient gives ", width(1280),
             " channels; they must be equal.");
  ROTE_CHECK(pooling_type == "mean" || pooling_type == "max", ArgumentError, "config: pooling_type is \"", pooling_type, "\"; it must be mean or max.");
  check_share("batch_norm_momentum", batch_norm_momentum);
  check_share("dropout_rate", dropout_rate);
  check_share("drop_connect_rate", drop_connect_rate);
  check_share("squeeze_expansion_ratio", squeeze_expansion_ratio);
  check_not_negative("batch_norm_eps", batch_norm_eps);
}

namespace {

BatchNormLayerOptions norm_options(const EfficientNetConfig& c) { return {.eps = c.batch_norm_eps, .momentum = c.batch_norm_momentum}; }

// Padded before a convolution of stride 2: `uneven`, one less in front than behind; by_size, so that the output is half of the input rounded up.
Tensor padded(const Tensor& x, int64_t kernel, bool uneven, bool by_size) {
  const int64_t half = kernel / 2;
  const auto front = [&](int64_t size) { return (by_size ? size % 2 == 0 : uneven) ? half - 1 : half; };
  return constant_pad(x, {front(x.size(3)), half, front(x.size(2)), half});
}

void init_efficientnet(Model& model, const std::function<bool(const std::string&)>& wanted) {
  model.Model::init_weights(wanted);
  const auto& c = static_cast<const EfficientNetConfig&>(*model.config());
  for (const NamedModule& one : model.named_modules()) {
    const std::string weight = one.name + ".weight";
    if (!wanted(weight)) continue;
    if (auto* norm = dynamic_cast<BatchNorm2d*>(one.module); norm != nullptr && !c.is_lite()) {
      fill_normal(norm->weight, c.initializer_range, init_draw(weight));  // as the reference, which draws those of its norms too
    } else if (auto* conv = dynamic_cast<Conv2d*>(one.module); conv != nullptr && c.is_lite()) {
      const Shape& s = conv->weight.shape();  // He et al. 2015, arXiv:1502.01852, by what leaves a filter
      const int64_t fan_out = s[0] / conv->options.groups * s[2] * s[3];
      fill_normal(conv->weight, std::sqrt(2.0 / static_cast<double>(fan_out)), init_draw(weight));
    }
  }
}

}  // namespace

EfficientNetEmbeddings::EfficientNetEmbeddings(const EfficientNetConfig& c)
    : convolution(c.num_channels, c.stem_width(), 3, {.stride = 2, .bias = false}), batchnorm(c.stem_width(), norm_options(c)), activation(c.hidden_act), lite(c.is_lite()) {
  add_modules({{"convolution", convolution}, {"batchnorm", batchnorm}, {"activation", activation}});
}

Tensor EfficientNetEmbeddings::forward(const Tensor& pixel_values) {
  return activation(batchnorm(convolution(padded(pixel_values, 3, /*uneven=*/true, /*by_size=*/lite))));
}

// This norm alone keeps PyTorch's momentum, as in the reference.
EfficientNetExpansion::EfficientNetExpansion(const EfficientNetConfig& c, int64_t I, int64_t O)
    : expand_conv(I, O, 1, {.bias = false}),
      expand_bn(O, {.eps = c.batch_norm_eps, .momentum = c.is_lite() ? c.batch_norm_momentum : BatchNormLayerOptions().momentum}),
      expand_act(c.hidden_act) {
  add_modules({{"expand_conv", expand_conv}, {"expand_bn", expand_bn}, {"expand_act", expand_act}});
}

EfficientNetDepthwise::EfficientNetDepthwise(const EfficientNetConfig& c, int64_t channels, const EfficientNetBlockOptions& o)
    : depthwise_conv(channels, channels, o.kernel, {.stride = o.stride, .padding = o.stride == 2 ? 0 : o.kernel / 2, .groups = channels, .bias = false}),
      depthwise_norm(channels, norm_options(c)),
      depthwise_act(c.hidden_act),
      kernel(o.kernel),
      stride(o.stride),
      uneven(o.uneven),
      lite(c.is_lite()) {
  add_modules({{"depthwise_conv", depthwise_conv}, {"depthwise_norm", depthwise_norm}, {"depthwise_act", depthwise_act}});
}

Tensor EfficientNetDepthwise::forward(const Tensor& x) {
  return depthwise_act(depthwise_norm(depthwise_conv(stride == 2 ? padded(x, kernel, uneven, lite) : x)));
}

EfficientNetSqueezeExcite::EfficientNetSqueezeExcite(const EfficientNetConfig& c, int64_t channels, int64_t inner)
    : reduce(channels, inner, 1), expand(inner, channels, 1), act_reduce(c.hidden_act) {
  add_modules({{"reduce", reduce}, {"expand", expand}, {"act_reduce", act_reduce}});
}

Tensor EfficientNetSqueezeExcite::forward(const Tensor& x) { return x * sigmoid(expand(act_reduce(reduce(mean(x, {2, 3}, /*keepdim=*/true))))); }

EfficientNetProjection::EfficientNetProjection(const EfficientNetConfig& c, int64_t I, const EfficientNetBlockOptions& o)
    : project_conv(I, o.O, 1, {.bias = false}), project_bn(o.O, norm_options(c)), dropout(o.drop), past(o.stride == 1 && !o.first) {
  add_modules({{"project_conv", project_conv}, {"project_bn", project_bn}, {"dropout", dropout}});
}

Tensor EfficientNetProjection::forward(const Tensor& block_input, const Tensor& x) {
  const Tensor y = project_bn(project_conv(x));
  return past ? dropout(y) + block_input : y;
}

EfficientNetBlock::EfficientNetBlock(const EfficientNetConfig& c, const EfficientNetBlockOptions& o)
    : depthwise_conv(c, o.I * o.expand_ratio, o), projection(c, o.I * o.expand_ratio, o) {
  if (o.expand_ratio != 1) add_module("expansion", expansion.emplace(c, o.I, o.I * o.expand_ratio));
  add_module("depthwise_conv", depthwise_conv);
  const auto inner = static_cast<int64_t>(static_cast<double>(o.I) * c.squeeze_expansion_ratio);
  if (!c.is_lite()) add_module("squeeze_excite", squeeze_excite.emplace(c, o.I * o.expand_ratio, std::max<int64_t>(1, inner)));
  add_module("projection", projection);
}

Tensor EfficientNetBlock::forward(const Tensor& x) {
  Tensor y = expansion ? (*expansion)(x) : x;
  y = depthwise_conv(y);
  if (squeeze_excite) y = (*squeeze_excite)(y);
  return projection(x, y);
}

EfficientNetEncoder::EfficientNetEncoder(const EfficientNetConfig& c)
    : top_conv(c.width(c.out_channels.back()), c.hidden_dim, 1, {.bias = false}), top_bn(c.hidden_dim, norm_options(c)), top_activation(c.hidden_act) {
  int64_t number = 0, count = 0;
  for (size_t stage = 0; stage < c.strides.size(); ++stage) count += c.repeats(stage);
  for (size_t stage = 0; stage < c.strides.size(); ++stage) {
    const int64_t before = stage == 0 ? c.stem_width() : c.width(c.out_channels[stage - 1]), O = c.width(c.out_channels[stage]);
    for (int64_t i = 0; i < c.repeats(stage); ++i, ++number) {
      const bool even = std::find(c.depthwise_padding.begin(), c.depthwise_padding.end(), number) != c.depthwise_padding.end();
      blocks.add(c, EfficientNetBlockOptions{.I = i == 0 ? before : O,
                                             .O = O,
                                             .stride = i == 0 ? c.strides[stage] : 1,
                                             .kernel = c.kernel_sizes[stage],
                                             .expand_ratio = c.expand_ratios[stage],
                                             .first = i == 0,
                                             .uneven = !even,
                                             .drop = c.drop_connect_rate * static_cast<double>(number) / static_cast<double>(count)});
    }
  }
  add_modules({{"blocks", blocks}, {"top_conv", top_conv}, {"top_bn", top_bn}, {"top_activation", top_activation}});
}

ModelOutput EfficientNetEncoder::forward(const Tensor& x, bool with_states) {
  ModelOutput out;
  Tensor y = x;
  if (with_states) out.hidden_states.push_back(y);
  for (size_t i = 0; i < blocks.size(); ++i) {
    y = blocks[i](y);
    if (with_states) out.hidden_states.push_back(y);
  }
  out.last_hidden_state = top_activation(top_bn(top_conv(y)));
  return out;
}

EfficientNetModel::EfficientNetModel(std::shared_ptr<EfficientNetConfig> config) : Model(config), embeddings(*config), encoder(*config) {
  add_modules({{"embeddings", embeddings}, {"encoder", encoder}});
  initialise();
}

void EfficientNetModel::init_weights(const std::function<bool(const std::string&)>& wanted) { init_efficientnet(*this, wanted); }

Signature EfficientNetModel::signature() const {
  return {.inputs = "pixel_values[B,D,H,W]", .outputs = "last_hidden_state, pooler_output, hidden_states", .main = "pixel_values", .labels = "", .scored = Scored::none};
}

ModelOutput EfficientNetModel::forward(const Batch& in) {
  const auto& c = static_cast<const EfficientNetConfig&>(*config());
  const Tensor& pixels = in["pixel_values"];
  ROTE_CHECK(pixels.size(1) == c.num_channels, ShapeError, "EfficientNetModel: pixel_values is ", describe(pixels), "; it must have ", c.num_channels, " channels.");
  ModelOutput out = encoder(embeddings(pixels), wants_hidden_states(in));
  const Tensor& x = out.last_hidden_state;
  out.pooler_output = c.pooling_type == "mean" ? mean(x, {2, 3}) : flatten(adaptive_max_pool2d(x, {1, 1}), 1, 3);
  return out;
}

EfficientNetForImageClassification::EfficientNetForImageClassification(std::shared_ptr<EfficientNetConfig> config)
    : Model(config), efficientnet(config), dropout(config->dropout_rate), classifier(config->hidden_dim, config->num_labels()) {
  add_modules({{"efficientnet", efficientnet}, {"dropout", dropout}, {"classifier", classifier}});
  initialise();
}

void EfficientNetForImageClassification::init_weights(const std::function<bool(const std::string&)>& wanted) { init_efficientnet(*this, wanted); }

Signature EfficientNetForImageClassification::signature() const {
  return {.inputs = "pixel_values[B,D,H,W], labels[...]?", .outputs = "loss, logits, hidden_states", .main = "pixel_values", .scored = sequence_scored(*config())};
}

ModelOutput EfficientNetForImageClassification::forward(const Batch& in) {
  const ModelOutput encoded = efficientnet(in);
  ModelOutput out = with_states_of(encoded);
  out.logits = classifier(dropout(encoded.pooler_output));
  out.loss = sequence_loss(out.logits, in, *config());
  return out;
}

std::vector<ModelEntry> efficientnet_family() {
  return {
      model_entry<EfficientNetForImageClassification>("efficientnet", "EfficientNetForImageClassification", "image-classification"),
      model_entry<EfficientNetModel>("efficientnet", "EfficientNetModel", "image-feature-extraction"),
      model_entry<EfficientNetLiteForImageClassification>("efficientnet_lite", "EfficientNetLiteForImageClassification", "image-classification"),
      model_entry<EfficientNetLiteModel>("efficientnet_lite", "EfficientNetLiteModel", "image-feature-extraction"),
  };
}

}  // namespace rote::nn

// tests/nn/conv_models_test.cpp — ResNet and EfficientNet: shapes, running statistics that follow training and are saved, first values, refusals.
// Values against the reference: scripts/test-interop.
#include <doctest/doctest.h>

#include <cmath>

#include "nn/auto.h"
#include "nn/models/efficientnet.h"
#include "nn/models/resnet.h"
#include "tensor/generator.h"
#include "tests/support/compare.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::TempFolder;

namespace {

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

std::shared_ptr<nn::ResNetConfig> small_resnet() {
  auto c = std::make_shared<nn::ResNetConfig>();
  c->embedding_size = 8;
  c->hidden_sizes = {8, 16};
  c->depths = {1, 2};
  c->labels = {"a", "b", "c"};
  return c;
}

std::shared_ptr<nn::EfficientNetLiteConfig> small_lite() {
  auto c = std::make_shared<nn::EfficientNetLiteConfig>();
  c->kernel_sizes = {3, 5};
  c->in_channels = {32, 16};
  c->out_channels = {16, 24};
  c->strides = {1, 2};
  c->num_block_repeats = {1, 2};
  c->expand_ratios = {1, 6};
  c->hidden_dim = 40;
  c->drop_connect_rate = c->dropout_rate = 0;
  return c;
}

nn::Batch images(const Shape& shape, const std::vector<int64_t>& labels = {}) {
  nn::Batch batch;
  const Tensor x = zeros(shape);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i * i % 1009)));
  batch.set("pixel_values", x);
  if (!labels.empty()) batch.set("labels", from_values({static_cast<int64_t>(labels.size())}, labels));
  return batch;
}

bool same_bits(const Tensor& a, const Tensor& b) { return rote::testing::first_bit_difference(a.numel(), a.data<float>(), b.data<float>()) < 0; }

// A step of training moves the running statistics; saved and loaded, the model gives the same bits.
template <class M>
void check_statistics(M& model, const nn::Batch& batch) {
  model.train();
  backward(model(batch).loss);
  for (const auto& entry : model.saved_buffers()) {
    const std::string& name = entry.first;
    const Tensor& x = entry.second;
    CAPTURE(name);
    if (name.find("num_batches_tracked") != std::string::npos) CHECK(x.item() == 1);
    else CHECK_FALSE(same_bits(x, full(x.shape(), name.find("running_var") != std::string::npos ? 1 : 0)));
  }
  for (const auto& entry : model.named_parameters()) {
    const std::string& name = entry.first;
    const Tensor& x = entry.second;
    CAPTURE(name);
    CHECK(x.grad().defined());
  }
  model.eval();
  const TempFolder folder;
  nn::save_pretrained(model, folder.path());
  const nn::Loaded<nn::Model> loaded = nn::load_model("", folder.path());
  CHECK(loaded.report.text() == "");
  CHECK(same_bits((*loaded.model)(batch).logits, model(batch).logits));
}

}  // namespace

TEST_CASE("resnet: shapes, statistics, first values") {
  manual_seed(1);
  nn::ResNetForImageClassification model(small_resnet());
  const float* w = model.resnet.embedder.embedder.convolution.weight.data<float>();
  double square = 0;
  const int64_t n = model.resnet.embedder.embedder.convolution.weight.numel();
  for (int64_t i = 0; i < n; ++i) square += static_cast<double>(w[i]) * w[i];
  CHECK(square / static_cast<double>(n) == doctest::Approx(2.0 / (8 * 49)).epsilon(0.15));  // 1176 draws
  CHECK(model.resnet.embedder.embedder.normalization.weight.data<float>()[3] == 1);
  CHECK(std::fabs(model.classifier.linear.weight.data<float>()[0]) <= 0.25f);

  nn::Batch batch = images({2, 3, 33, 40}, {2, 0});
  batch.output_hidden_states = true;
  const nn::ModelOutput out = model(batch);
  REQUIRE(out.hidden_states.size() == 3);
  CHECK(out.hidden_states[0].shape() == Shape({2, 8, 9, 10}));
  CHECK(out.hidden_states[2].shape() == Shape({2, 16, 5, 5}));
  CHECK(out.logits.shape() == Shape({2, 3}));
  manual_seed(1);
  nn::ResNetForImageClassification again(small_resnet());
  check_statistics(again, images({2, 3, 33, 40}, {2, 0}));
}

TEST_CASE("resnet: what cannot be built or fed is refused") {
  const auto refusal = [](const std::function<void(nn::ResNetConfig&)>& change) {
    const auto c = small_resnet();
    change(*c);
    return text_of([&] { c->check(); });
  };
  CHECK(refusal([](auto& c) { c.depths = {1}; }) == "config: there are 2 hidden_sizes and 1 depths; each stage has one of both.");
  CHECK(refusal([](auto& c) { c.layer_type = "deep"; }) == "config: layer_type is \"deep\"; it must be basic or bottleneck.");
  CHECK(refusal([](auto& c) { c.hidden_sizes[0] = 3; }) == "config: hidden_sizes has 3; a bottleneck has a quarter of it, at least 1.");
  CHECK(refusal([](auto& c) { c.depths[0] = 20000; }) == "config: depths add up to 20002 layers; there must be at most 10000.");
  nn::ResNetModel model(small_resnet());
  CHECK(text_of([&] { model(images({1, 1, 32, 32})); }) == "ResNetModel: pixel_values is f32[1,1,32,32]; it must have 3 channels.");
}

TEST_CASE("efficientnet lite: sizes are halved rounded up, no squeeze, statistics") {
  manual_seed(2);
  nn::EfficientNetLiteForImageClassification model(small_lite());
  for (const auto& [name, x] : model.named_parameters()) CHECK(name.find("squeeze") == std::string::npos);
  model.eval();
  for (const int64_t size : {31, 32, 33, 34}) {
    nn::Batch batch = images({1, 3, size, 32});
    batch.output_hidden_states = true;
    const nn::ModelOutput out = model(batch);
    REQUIRE(out.hidden_states.size() == 4);
    CHECK(out.hidden_states[0].shape() == Shape({1, 32, (size + 1) / 2, 16}));
    CHECK(out.hidden_states[3].shape() == Shape({1, 24, ((size + 1) / 2 + 1) / 2, 8}));
  }
  check_statistics(model, images({2, 3, 31, 32}, {1, 0}));
}

TEST_CASE("efficientnet: Lite0 has the numbers of the paper's code; a config that does not fit is refused") {
  auto lite = std::make_shared<nn::EfficientNetLiteConfig>();
  for (int i = 0; i < 1000; ++i) lite->labels.push_back(std::to_string(i));
  {
    const nn::NoInit guard;
    const nn::EfficientNetLiteForImageClassification model(lite);
    int64_t numbers = model.num_parameters();
    for (const auto& [name, x] : model.saved_buffers()) numbers += x.numel();
    CHECK(numbers == 4694073);  // of the published checkpoint of Lite0, statistics and counters among them
  }
  nn::EfficientNetConfig c;
  CHECK(text_of([&] { c.check(); }) == "");
  c.hidden_dim = 1280;
  CHECK(text_of([&] { c.check(); }) == "config: hidden_dim is 1280 but width_coefficient gives 2560 channels; they must be equal.");
  c.hidden_dim = 2560;
  c.strides[1] = 3;
  CHECK(text_of([&] { c.check(); }) == "config: strides has 3; a stage keeps the size (1) or halves it (2).");
  c.strides[1] = 2;
  c.in_channels[2] = 99;
  CHECK(text_of([&] { c.check(); }) == "config: in_channels[2] is 99 but what comes before has 24; they must be equal.");
}

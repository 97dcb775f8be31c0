// tests/trainer/image_processor_test.cpp — preprocessor_config.json: the values of the reference, defaults of families, and what cannot be.
#include "trainer/data/image_processor.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "nn/models/efficientnet.h"
#include "nn/models/resnet.h"
#include "nn/models/vit.h"
#include "tensor/file.h"
#include "tests/support/place.h"
#include "tests/trainer/picture.h"

namespace rote::testing {

namespace {

struct Processed {
  int64_t height, width, channels;
  std::string settings;
  int64_t to_height, to_width;
  uint64_t values;  // FNV-1a of the floats
};

const Processed kProcessed[] = {
#define ROTE_GOLDEN_PROCESSED
#include "tests/golden/images.inc"
#undef ROTE_GOLDEN_PROCESSED
};

nn::ResNetConfig resnet(int64_t channels = 3) {
  nn::ResNetConfig config;
  config.num_channels = channels;
  return config;
}

data::ImageProcessor processor(const std::string& settings, const nn::Config& config = resnet()) {
  const TempFolder folder;
  folder.file("preprocessor_config.json", settings);
  return data::ImageProcessor::from_folder(folder.path(), config);
}

std::string fault_of(const std::string& settings, const nn::Config& config = resnet()) {
  const TempFolder folder;
  folder.file("preprocessor_config.json", settings);
  try {
    data::ImageProcessor::from_folder(folder.path(), config);
  } catch (const Error& fault) {
    const std::string who = folder.file("preprocessor_config.json: ");
    CHECK(fault.text.starts_with(who));
    return fault.text.substr(std::min(who.size(), fault.text.size()));
  }
  return "";
}

}  // namespace

TEST_CASE("ImageProcessor: pixel_values of every class equal the reference's over Pillow, to the bit") {
  for (const Processed& one : kProcessed) {
    CAPTURE(one.settings);
    const data::ImageProcessor p = processor(one.settings, resnet(one.channels));
    const data::Feature values = p.pixel_values(pattern(one.height, one.width, one.channels));
    CHECK(values.shape == Shape{one.channels, one.to_height, one.to_width});
    CHECK(fnv1a(values.fractions.data(), values.fractions.size() * sizeof(float)) == one.values);
    CHECK(p.colors() == (one.channels == 1 ? data::Colors::grey : data::Colors::rgb));
  }
}

TEST_CASE("ImageProcessor: the file is carried along byte for byte") {
  const std::string text = "{ \"image_processor_type\":\"ViTImageProcessor\",\n\"size\": 8, \"own\": [1]}";
  const data::ImageProcessor p = processor(text);
  REQUIRE(p.files().size() == 1);
  CHECK(p.files()[0].first == "preprocessor_config.json");
  CHECK(p.files()[0].second == text);
}

TEST_CASE("ImageProcessor: a folder without the file gets its family's, which reads back as itself") {
  const TempFolder folder;
  nn::ViTConfig vit;
  vit.image_size = 48;
  const nn::EfficientNetConfig efficientnet;
  const nn::EfficientNetLiteConfig lite;
  const nn::ResNetConfig color = resnet(), grey = resnet(1);
  for (const nn::Config* config : std::initializer_list<const nn::Config*>{&vit, &color, &grey, &efficientnet, &lite}) {
    CAPTURE(config->model_type);
    const data::ImageProcessor p = data::ImageProcessor::from_folder(folder.path(), *config);
    const data::ImageProcessor again = processor(p.files()[0].second, *config);
    const int64_t channels = config->limits().channels.value_or(3), side = config == &vit ? 48 : 224;
    const data::Image image = pattern(50, 41, channels);
    CHECK(p.pixel_values(image).shape == Shape{channels, side, side});
    CHECK(again.pixel_values(image).fractions == p.pixel_values(image).fractions);
    CHECK(again.files() == p.files());
  }
  nn::Config bert;
  bert.model_type = "bert";
  CHECK_THROWS_WITH_AS(data::ImageProcessor::from_folder(folder.path(), bert),
                       (folder.path() + ": its model_type is bert; images are the input of vit, resnet, efficientnet, efficientnet_lite.").c_str(), ArgumentError);
}

TEST_CASE("ImageProcessor: a file without a type is of its family's class") {
  CHECK(processor("{\"size\": 10}").settings().size.shortest_edge == 10);  // ConvNextImageProcessor
  CHECK(processor("{\"size\": 10}", nn::ViTConfig()).settings().size.height == 10);
}

TEST_CASE("ImageProcessor: what cannot be worked with is refused in one sentence") {
  struct Row {
    std::string settings, fault;
  };
  const std::string vit = "{\"image_processor_type\": \"ViTImageProcessor\", ", convnext = "{\"image_processor_type\": \"ConvNextImageProcessor\", ";
  const Row table[] = {
      {"{\"image_processor_type\": \"SamImageProcessor\"}",
       "image_processor_type is SamImageProcessor; ViTImageProcessor, DeiTImageProcessor, ConvNextImageProcessor, BitImageProcessor, EfficientNetImageProcessor are built."},
      {"[1]", "is no JSON object; it must be one."},
      {vit + "\"size\": 0}", "size has 0; a side is 1 to 65535 pixels long."},
      {vit + "\"size\": -3}", "size has -3; a side is 1 to 65535 pixels long."},
      {vit + "\"size\": {\"height\": 8, \"width\": 1e9}}", "size has 1000000000.0; a side is 1 to 65535 pixels long."},
      {vit + "\"size\": {\"longest_edge\": 8}}", "size is {\"longest_edge\": 8}; it must be a number, {\"height\", \"width\"} or {\"shortest_edge\"}."},
      {vit + "\"size\": \"8\"}", "size is \"8\"; it must be a number, {\"height\", \"width\"} or {\"shortest_edge\"}."},
      {vit + "\"resample\": 1}", "resample is 1; 0 (nearest), 2 (bilinear) and 3 (bicubic) are built."},
      {vit + "\"do_resize\": 1}", "do_resize is 1; it must be true or false."},
      {vit + "\"do_pad\": true}", "do_pad is true; images are not padded here, it must be false."},
      {vit + "\"image_mean\": [0.5, 0.5]}", "image_mean has 2 values but the model takes 3 channels; it must have one for each."},
      {vit + "\"image_std\": [0.5, 0, 0.5]}", "image_std has 0; nothing can be divided by it."},
      {vit + "\"image_mean\": [0.5, \"a\", 0.5]}", "image_mean has \"a\"; it must be a finite number."},
      {vit + "\"rescale_factor\": NaN}", "rescale_factor has NaN; it must be a finite number."},
      {vit + "\"do_center_crop\": true}", "do_center_crop is true; crop_size must give height and width."},
      {vit + "\"do_center_crop\": true, \"crop_size\": {\"height\": 60000, \"width\": 60000}}", "crop_size is 60000x60000; more than 178956970 pixels are not made."},
      {convnext + "\"crop_pct\": 0}", "crop_pct is 0; it must be above 0 and at most 1."},
      {convnext + "\"size\": {\"height\": 8, \"width\": 8}}", "size of a ConvNextImageProcessor must be a shortest_edge."},
  };
  for (const Row& row : table) {
    CAPTURE(row.settings);
    CHECK(fault_of(row.settings) == row.fault);
  }
  CHECK(fault_of("{\"image_processor_type\": ") != "");
  CHECK(fault_of("{\"image_processor_type\": \"BitImageProcessor\"}", resnet(1)) == "do_convert_rgb is true but the model takes 1 channel; it must be false.");
  CHECK_THROWS_AS(processor("{}", resnet(4)), ArgumentError);
}

TEST_CASE("ImageProcessor: an image that would become enormous is refused, of another number of channels too") {
  const data::ImageProcessor p = processor("{\"image_processor_type\": \"BitImageProcessor\", \"size\": 60000, \"do_center_crop\": false}");
  CHECK_THROWS_WITH_AS(p.pixel_values(pattern(2, 2, 3)), "image: 2x2 pixels would become 60000x60000; more than 178956970 are not made.", ArgumentError);
  CHECK_THROWS_WITH_AS(processor("{\"image_processor_type\": \"BitImageProcessor\"}").pixel_values(pattern(1, 60000, 3)),
                       "image: 60000x1 pixels would become 13440000x224; more than 178956970 are not made.", ArgumentError);
  CHECK_THROWS_WITH_AS(p.pixel_values(pattern(2, 2, 1)), "image: has 1 channels; the processor takes 3.", ArgumentError);
}

}  // namespace rote::testing

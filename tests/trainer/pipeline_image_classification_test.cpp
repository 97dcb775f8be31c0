// tests/trainer/pipeline_image_classification_test.cpp — the classes of pictures from one call.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "nn/auto.h"
#include "nn/models/resnet.h"
#include "nn/pretrained.h"
#include "tensor/generator.h"
#include "tests/support/place.h"
#include "tests/trainer/picture.h"
#include "trainer/data/collate.h"
#include "trainer/data/image_processor.h"
#include "trainer/json_text.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::testing {

namespace {

// A folder with a net of seven classes and pictures of several sizes.
struct Classifier {
  TempFolder folder;
  std::vector<std::string> pictures;

  explicit Classifier(const std::string& processor = R"({"image_processor_type": "ViTImageProcessor", "size": 9})") {
    auto config = std::make_shared<nn::ResNetConfig>();
    config->embedding_size = 4;
    config->hidden_sizes = {8};
    config->depths = {1};
    config->layer_type = "basic";
    config->labels = {"a", "b", "c", "d", "e", "f", "g"};
    manual_seed(4);
    nn::ResNetForImageClassification model(config);
    nn::save_pretrained(model, folder.path());
    folder.file("preprocessor_config.json", processor);
    for (int64_t i = 0; i < 5; ++i) pictures.push_back(folder.file("caf\xe9 " + std::to_string(i) + ".png", png_of(pattern(5 + i % 3, 8, 3))));
  }
  Pipeline pipe(PipelineOptions options = {}) const {
    options.model = folder.path();
    return pipeline("image-classification", options);
  }
};

}  // namespace

TEST_CASE("image-classification: the five best classes with the softmax of the logits, or as many as are asked for") {
  if (!reads_png()) return;
  const Classifier c;
  const Records best = c.pipe()(c.pictures[0]), all = c.pipe({.top_k = 0})(c.pictures[0]);
  CHECK(best.size() == 5);
  REQUIRE(all.size() == 7);
  CHECK(c.pipe({.top_k = 50})(c.pictures[0]).size() == 7);
  const nn::Loaded<nn::Model> loaded = nn::load_finetuned("image-classification", c.folder.path());
  const auto processor = data::ImageProcessor::from_folder(c.folder.path(), *loaded.model->config());
  const NoGrad guard;
  const nn::Batch batch = data::default_collate({{{"pixel_values", processor.pixel_values(data::read_image(c.pictures[0]))}}});
  const Tensor scores = softmax((*loaded.model)(batch)["logits"]);
  double sum = 0;
  for (size_t i = 0; i < 7; ++i) {
    CHECK(all[i].score == static_cast<double>(scores.data<float>()[all[i].label[0] - 'a']));
    if (i > 0) CHECK(all[i - 1].score >= all[i].score);
    if (i < 5) CHECK(best[i].label == all[i].label);
    sum += all[i].score;
  }
  CHECK(std::abs(sum - 1) < 1e-6);  // seven f32 roundings
  const std::string text = json_text(c.pipe().value(best), {.indent = -1});
  CHECK(text.starts_with("[{\"label\": \"" + best[0].label + "\", \"score\": 0."));
}

TEST_CASE("image-classification: neither batch_size nor the other pictures move a bit, whatever their sizes") {
  if (!reads_png()) return;
  for (const char* processor : {R"({"image_processor_type": "ViTImageProcessor", "size": 9})", R"({"image_processor_type": "ViTImageProcessor", "do_resize": false})"}) {
    const Classifier c(processor);
    for (const int64_t batch_size : {1, 2, 4}) {
      const std::vector<Records> together = c.pipe({.batch_size = batch_size})(c.pictures);
      REQUIRE(together.size() == c.pictures.size());
      for (size_t i = 0; i < together.size(); ++i) {
        const Records alone = c.pipe()(c.pictures[i]);
        for (size_t k = 0; k < 5; ++k) {
          CHECK(together[i][k].label == alone[k].label);
          CHECK(together[i][k].score == alone[k].score);
        }
      }
    }
  }
}

TEST_CASE("image-classification: what is no picture, and what the task does not take, is refused by name") {
  const Classifier c;
  const std::string text = c.folder.file("note.txt", "hello");
  CHECK_THROWS_WITH_AS(c.pipe()(text), (text + ": is neither a PNG nor a JPEG file; these two can be read.").c_str(), IoError);
  CHECK_THROWS_AS(c.pipe()(c.folder.file("none.png")), IoError);
  CHECK_THROWS_WITH_AS(c.pipe({.truncation = true}), "--truncation: image-classification does not take it; it is for text-classification, fill-mask, feature-extraction, text2text-generation.",
                       ArgumentError);
}

}  // namespace rote::testing

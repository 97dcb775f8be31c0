// tests/app_images_test.cpp — the command on pictures: trained from folders or from a table, evaluated, and what it refuses.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/app.h"
#include "tests/trainer/picture.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

// Pictures of two kinds, dark ones and bright ones, in train/ and test/, rows.csv for those of train/, and a config.json.
struct ImageApp : AppFolder {
  ImageApp() {
    std::string rows = "image,label\n";
    for (int64_t i = 0; i < 16; ++i) {
      const std::string label = i % 2 ? "bright" : "dark", name = label + "/" + std::to_string(10 + i) + ".png";
      put("train/" + name, i);
      if (i < 6) put("test/" + name, i + 100);
      if (i % 2 == 0) rows += "train/" + name + "," + label + "\n";
    }
    for (int64_t i = 1; i < 16; i += 2) rows += "train/bright/" + std::to_string(10 + i) + ".png,bright\n";
    folder.file("rows.csv", rows);
    fs::create_directories(file("net"));
    folder.file("net/config.json", R"({"model_type": "resnet", "num_channels": 3, "embedding_size": 4, "hidden_sizes": [8], "depths": [1], "layer_type": "basic"})");
    folder.file("net/preprocessor_config.json", R"({"image_processor_type": "ViTImageProcessor", "size": 8})");
  }
  void put(const std::string& name, int64_t i) const {
    data::Image image = pattern(6, 7, 3);
    for (uint8_t& pixel : image.pixels) pixel = static_cast<uint8_t>((pixel + i * 31) % 128 + (i % 2 ? 128 : 0));
    fs::create_directories(fs::path(file(name)).parent_path());
    folder.file(name, png_of(image));
  }
  AppResult learn(const std::string& words) const {
    return rote("train --task image-classification --config_name net --per_device_train_batch_size 4 --num_train_epochs 6 --learning_rate 1e-2 --save_strategy no " + words);
  }
};

}  // namespace

TEST_CASE("rote train: a new conv net learns pictures, is saved with its processor, and is evaluated alike") {
  if (!reads_png()) return;
  const ImageApp app;
  const AppResult train = app.learn("--train_dir train --validation_dir test --output_dir out");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(contains(train.out, "eval_accuracy           =        1.0"));
  CHECK(read_text(app.file("out/preprocessor_config.json")) == read_text(app.file("net/preprocessor_config.json")));
  CHECK(contains(read_text(app.file("out/config.json")), "\"0\": \"bright\""));
  const AppResult evaluate = app.rote("evaluate --task image-classification --model_name_or_path out --validation_dir test");
  REQUIRE_MESSAGE(evaluate.status == 0, evaluate.err);
  CHECK(contains(evaluate.out, "eval_accuracy           =        1.0"));
  const AppResult pipeline = app.rote("pipeline image-classification test/dark/10.png test/bright/11.png --model out --top_k 1");
  REQUIRE_MESSAGE(pipeline.status == 0, pipeline.err);
  REQUIRE(lines_of(pipeline.out).size() == 2);
  CHECK(contains(lines_of(pipeline.out)[0], "[{\"label\": \"dark\", \"score\": "));
  CHECK(contains(lines_of(pipeline.out)[1], "[{\"label\": \"bright\", \"score\": "));
  const AppResult predicted = app.rote("predict --task image-classification --model_name_or_path out --test_dir test");
  CHECK_MESSAGE(predicted.out == "index\tprediction\n0\tbright\n1\tbright\n2\tbright\n3\tdark\n4\tdark\n5\tdark\n", predicted.err);
  const AppResult table = app.learn("--train_file rows.csv --output_dir table --num_threads 1");
  REQUIRE_MESSAGE(table.status == 0, table.err);
  CHECK(app.rote("train --task image-classification --model_name_or_path out --train_file rows.csv --max_steps 1 --save_strategy no --output_dir more").status == 0);
}

TEST_CASE("rote train: folders and a table of the same pictures in the same order give the same weights") {
  if (!reads_png()) return;
  const ImageApp app;
  std::string rows = "image,label\n";
  for (const std::string label : {"bright", "dark"})
    for (int64_t i = label == "bright" ? 1 : 0; i < 16; i += 2) rows += "train/" + label + "/" + std::to_string(10 + i) + ".png," + label + "\n";
  app.folder.file("sorted.csv", rows);
  REQUIRE(app.learn("--train_dir train --output_dir a --num_threads 2").status == 0);
  REQUIRE(app.learn("--train_file sorted.csv --output_dir b --num_threads 1").status == 0);
  CHECK(app.hash("a") == app.hash("b"));
}

TEST_CASE("rote train: what is wrong with pictures is one sentence, before output_dir is made or when the run meets it") {
  const ImageApp app;
  struct Row {
    std::string words, part;
  };
  const Row table[] = {
      {"", "--train_file: is required"},
      {"--train_dir train --train_file rows.csv", "--train_dir: give it or --train_file, one of the two."},
      {"--train_dir none", "none: is no folder; one that holds a folder of pictures for each class is needed."},
      {"--train_file rows.csv --image_column_name picture", "picture"},
      {"--train_dir test/dark", "test/dark: holds no class folder; pictures must lie in folders whose names are their labels."},
      {"--task text-classification --train_dir train", "--train_dir: is for tasks of pictures (image-classification); give --train_file for this one."},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const AppResult result = app.learn(row.words + " --output_dir out");
    CHECK(result.status == 2);
    CHECK_MESSAGE(contains(result.err, row.part), result.err);
    CHECK_FALSE(fs::exists(app.file("out")));
  }
  if (!reads_png()) return;
  app.put("test/zebra/1.png", 3);
  const AppResult zebra = app.learn("--train_dir train --validation_dir test --output_dir out");
  CHECK(zebra.status == 2);
  CHECK_MESSAGE(contains(zebra.err, "test/zebra/1.png: label \"zebra\" is none of the model's: bright, dark."), zebra.err);
  CHECK_FALSE(fs::exists(app.file("out")));
  app.folder.file("net/config.json", R"({"model_type": "vit", "image_size": 16, "patch_size": 4, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8})");
  const AppResult vit = app.learn("--train_dir train --output_dir out");
  CHECK(vit.status == 2);
  CHECK_MESSAGE(contains(vit.err, "preprocessor_config.json: makes images of 8x8 pixels but the model takes 16x16; its size must be that."), vit.err);
}

TEST_CASE("rote train: a picture that is broken in the middle of the data ends the run by its name") {
  if (!reads_png()) return;
  const ImageApp app;
  fs::resize_file(app.file("train/dark/18.png"), 70);
  const AppResult result = app.learn("--train_dir train --output_dir out");
  CHECK(result.status != 0);
  CHECK_MESSAGE(contains(result.err, "train/dark/18.png: cannot be decoded; it ends too early."), result.err);
}

}  // namespace rote::testing

// tests/trainer/image_rows_test.cpp — folders of classes and tables of paths into rows of pictures.
#include "trainer/data/image_rows.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include "kernels/check.h"
#include "nn/models/resnet.h"
#include "tests/support/place.h"
#include "tests/trainer/picture.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset_file.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

struct PictureFolder {
  TempFolder folder;

  std::string put(const std::string& name, int64_t seed = 1) const {
    fs::create_directories(fs::path(folder.file(name)).parent_path());
    return folder.file(name, png_of(pattern(4 + seed, 6, 3)));
  }
  data::ImageProcessor processor() const {
    const TempFolder model;
    model.file("preprocessor_config.json", "{\"image_processor_type\": \"ViTImageProcessor\", \"size\": 5}");
    return data::ImageProcessor::from_folder(model.path(), nn::ResNetConfig());
  }
};

std::vector<std::string> names_of(const std::vector<data::LabelledFile>& files, const std::string& below) {
  std::vector<std::string> names;
  for (const data::LabelledFile& file : files) names.push_back(file.label + ":" + file.path.substr(below.size() + 1));
  return names;
}

}  // namespace

TEST_CASE("image_folder: classes by name, pictures at any depth by name, all else passed over") {
  const PictureFolder f;
  for (const char* name : {"dog/b.PNG", "dog/a.jpeg", "cat/x/y/1.jpg", "cat/0.png", "cat/note.txt", "cat/.hidden/2.png", ".git/3.png", "4.png", "10/5.png", "2/6.png"}) f.put(name);
  CHECK(names_of(data::image_folder(f.folder.path()), f.folder.path()) ==
        std::vector<std::string>{"10:10/5.png", "2:2/6.png", "cat:cat/0.png", "cat:cat/x/y/1.jpg", "dog:dog/a.jpeg", "dog:dog/b.PNG"});
}

TEST_CASE("image_folder: no folder, no classes, an empty class and a name that is not UTF-8 are refused") {
  const PictureFolder f;
  const std::string path = f.folder.path();
  CHECK_THROWS_WITH_AS(data::image_folder(path + "/none"), (path + "/none: is no folder; one that holds a folder of pictures for each class is needed.").c_str(), ArgumentError);
  CHECK_THROWS_WITH_AS(data::image_folder(f.put("4.png")), (path + "/4.png: is no folder; one that holds a folder of pictures for each class is needed.").c_str(), ArgumentError);
  CHECK_THROWS_WITH_AS(data::image_folder(path), (path + ": holds no class folder; pictures must lie in folders whose names are their labels.").c_str(), ArgumentError);
  fs::create_directories(path + "/empty");
  CHECK_THROWS_WITH_AS(data::image_folder(path), (path + "/empty: holds no .png, .jpg or .jpeg file; a class folder has at least one.").c_str(), ArgumentError);
  fs::remove(path + "/empty");
  f.put("caf\xe9/1.png");
  CHECK_THROWS_WITH_AS(data::image_folder(path), (path + "/caf\xe9: the name of a class folder must be UTF-8, as the label that it becomes.").c_str(), ArgumentError);
}

TEST_CASE("image_table: paths are relative to the table, absolute ones stand, and files that are missing are named with their line") {
  const PictureFolder f;
  const std::string absolute = f.put("a/1.png");
  f.put("caf\xc3\xa9.png");
  const auto table = [&](const std::string& rows) { return data::read_table(f.folder.file("rows.csv", "image,label\n" + rows)); };
  const auto files = data::image_table(table("a/1.png,x\n" + absolute + ",y\ncaf\xc3\xa9.png,x\n"), "image", "label");
  REQUIRE(files.size() == 3);
  CHECK(files[0].path == absolute);
  CHECK(files[1].path == absolute);
  CHECK(files[2].label == "x");
  CHECK_THROWS_WITH_AS(data::image_table(table("a/1.png,x\na/2.png,y\n"), "image", "label"),
                       (f.folder.file("rows.csv:3: ") + f.folder.file("a/2.png is no file; column image must name pictures, relative to the table's folder.")).c_str(), ArgumentError);
  CHECK_THROWS_WITH_AS(data::image_table(table("a/1.png,x\na/1.png,\"\"\n"), "image", "label"),
                       f.folder.file("rows.csv:3: the label in column label is empty; every row needs one.").c_str(), ArgumentError);
  CHECK_THROWS_AS(data::image_table(table("a/1.png,x\n"), "picture", "label"), ArgumentError);
}

TEST_CASE("images: rows of pixel_values and label, alike for all threads, stacked by the collator") {
  const PictureFolder f;
  for (int64_t i = 0; i < 12; ++i) f.put((i % 2 ? "odd/" : "even/") + std::to_string(i) + ".png", i);
  if (!reads_png()) return;
  const auto rows = data::images(data::image_folder(f.folder.path()), {"even", "odd"}, f.processor());
  REQUIRE(rows->size() == 12);
  const data::Example first = rows->at(0), last = rows->at(11);
  CHECK(data::find(first, "pixel_values")->shape == Shape{3, 5, 5});
  CHECK(data::find(first, "label")->whole == std::vector<int64_t>{0});
  CHECK(data::find(last, "label")->whole == std::vector<int64_t>{1});
  std::vector<std::vector<float>> seen(12);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] { for (size_t row = t; row < 12; row += 4) seen[row] = data::find(rows->at(static_cast<int64_t>(row)), "pixel_values")->fractions; });
  for (std::thread& thread : threads) thread.join();
  for (size_t row = 0; row < 12; ++row) CHECK(seen[row] == data::find(rows->at(static_cast<int64_t>(row)), "pixel_values")->fractions);
  const nn::Batch batch = data::default_collate({first, last});
  CHECK(describe(batch["pixel_values"]) == "f32[2,3,5,5]");
  CHECK(describe(batch["labels"]) == "i64[2]");
}

TEST_CASE("images: a class that the model lacks and a broken picture are named") {
  const PictureFolder f;
  const std::string good = f.put("cat/1.png"), broken = f.put("cat/2.png");
  CHECK_THROWS_WITH_AS(data::images(data::image_folder(f.folder.path()), {"dog", "mouse"}, f.processor()), (good + ": label \"cat\" is none of the model's: dog, mouse.").c_str(),
                       ArgumentError);
  if (!reads_png()) return;
  fs::resize_file(broken, 60);
  const auto rows = data::images(data::image_folder(f.folder.path()), {"cat", "dog"}, f.processor());
  CHECK_NOTHROW(rows->at(0));
  CHECK_THROWS_WITH_AS(rows->at(1), (broken + ": cannot be decoded; it ends too early.").c_str(), IoError);
}

TEST_CASE("default_collate: images of different shapes are refused") {
  const auto row = [](const Shape& shape) { return data::Example{{"pixel_values", data::Feature::array(std::vector<float>(static_cast<size_t>(shape.numel())), shape)}}; };
  CHECK_THROWS_WITH_AS(data::default_collate({row({3, 4, 6}), row({3, 6, 4})}),
                       "collate: pixel_values is [3,6,4] in row 1 of the batch and [3,4,6] in the first; they must have one shape.", ArgumentError);
}

}  // namespace rote::testing

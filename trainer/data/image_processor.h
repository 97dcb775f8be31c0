// trainer/data/image_processor.h — what a model's preprocessor_config.json says: an image to pixel_values, as the reference's processors do it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/config.h"
#include "trainer/data/dataset.h"
#include "trainer/data/resample.h"

namespace rote::data {

// Either both sides, or the shorter one, to which the longer keeps its ratio.
struct ImageSize {
  std::optional<int64_t> height = {}, width = {}, shortest_edge = {};
};

// In the order in which they apply; names and meanings are the file's.
struct ImageSettings {
  bool do_convert_rgb = false;  // images are read with the colours of the model; a model of grey cannot have it
  bool do_resize = true;
  ImageSize size = {};
  Filter resample = Filter::bilinear;
  // ConvNextImageProcessor: a shortest_edge below 384 is reached by cutting the middle out of a square of 1/crop_pct of it, others by warping.
  std::optional<double> crop_pct = {};
  bool do_center_crop = false;
  ImageSize crop_size = {};
  bool do_rescale = true;
  double rescale_factor = 1.0 / 255;
  bool do_normalize = true;
  std::vector<double> image_mean = {0.5, 0.5, 0.5}, image_std = {0.5, 0.5, 0.5};  // one value: for all channels
  // EfficientNetImageProcessor: 1 is taken away after rescaling; the result is divided by image_std once more.
  bool rescale_offset = false, include_top = false;
};

// 1. Immutable; any thread may call any member.
// 2. The values are those of the reference's processors over Pillow, to the bit. Those over torchvision, which it prefers where both are installed,
//    fold rescaling into normalizing (last bits), resize with other weights (steps of 1/255) and pad odd differences on the other side (a pixel).
class ImageProcessor {
 public:
  // preprocessor_config.json of the folder. Where there is none, what the family's checkpoints mostly have, for the channels and the size of the config.
  // Throws IoError where it cannot be read, ArgumentError for a processor that is not built, with the known ones, for values that cannot be
  // worked with, and for other channels than the config's.
  static ImageProcessor from_folder(const std::filesystem::path& folder, const nn::Config& config);

  // f32 [channels,height,width]. Throws ArgumentError where the image would become larger than kMaxPixels on the way.
  Feature pixel_values(const Image& image) const;

  // What its images are read as.
  Colors colors() const { return colors_; }
  const ImageSettings& settings() const { return settings_; }
  // The file, name and bytes, for a checkpoint to carry along; written where there was none, so that transformers loads it.
  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

 private:
  ImageProcessor() = default;
  void fill_levels();

  ImageSettings settings_;
  Colors colors_ = Colors::rgb;
  std::vector<std::vector<float>> levels_;  // [channel][byte]: all that follows the cropping
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace rote::data

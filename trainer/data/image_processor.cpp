#include "trainer/data/image_processor.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/json_text.h"

namespace rote::data {

namespace {

constexpr char kFileName[] = "preprocessor_config.json";
constexpr int64_t kMaxSide = 65535;

const std::vector<double> kImagenetMean = {0.485, 0.456, 0.406}, kImagenetStd = {0.229, 0.224, 0.225};
const std::vector<double> kClipMean = {0.48145466, 0.4578275, 0.40821073}, kClipStd = {0.26862954, 0.26130258, 0.27577711};

ImageSize square(int64_t side) { return {.height = side, .width = side}; }
ImageSize shortest(int64_t side) { return {.shortest_edge = side}; }

// A class of the reference: what holds where the file is silent, and what one number as size means.
struct ProcessorClass {
  const char* name;
  bool number_is_square;
  ImageSettings settings;
};

const std::vector<ProcessorClass>& classes() {
  static const std::vector<ProcessorClass> all = {
      {"ViTImageProcessor", true, {.size = square(224)}},
      {"DeiTImageProcessor", true, {.size = square(256), .resample = Filter::bicubic, .do_center_crop = true, .crop_size = square(224)}},
      {"ConvNextImageProcessor", false, {.size = shortest(384), .resample = Filter::bicubic, .crop_pct = 224.0 / 256}},
      {"BitImageProcessor",
       false,
       {.do_convert_rgb = true, .size = shortest(224), .resample = Filter::bicubic, .do_center_crop = true, .crop_size = square(224), .image_mean = kClipMean, .image_std = kClipStd}},
      {"EfficientNetImageProcessor", true, {.size = square(346), .resample = Filter::bicubic, .crop_size = square(289), .include_top = true}},
  };
  return all;
}

// What a family's checkpoints mostly have: their file, where there is none.
struct FamilyDefault {
  const char* model_type;
  const char* processor;
  ImageSettings settings;
};

const std::vector<FamilyDefault>& family_defaults() {
  static const std::vector<FamilyDefault> all = {
      {"vit", "ViTImageProcessor", {.size = square(224)}},
      {"resnet",
       "ConvNextImageProcessor",
       {.size = shortest(224), .resample = Filter::bicubic, .crop_pct = 224.0 / 256, .image_mean = kImagenetMean, .image_std = kImagenetStd}},
      {"efficientnet",
       "EfficientNetImageProcessor",
       {.size = square(224), .resample = Filter::bicubic, .image_mean = kImagenetMean, .image_std = kImagenetStd, .include_top = true}},
      {"efficientnet_lite", "ViTImageProcessor", {.size = square(224), .resample = Filter::bicubic}},
  };
  return all;
}

const ProcessorClass& class_named(const std::string& name, const std::string& who) {
  std::string known;
  for (const ProcessorClass& one : classes()) {
    if (name == one.name || name == str(one.name, "Fast") || name == str(one.name, "Pil")) return one;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw ArgumentError(str(who, ": image_processor_type is ", name, "; ", known, " are built."));
}

// A file's fields; a key that is missing or null leaves what the class has.
class Reader {
 public:
  Reader(const ValueMap& map, std::string who) : map_(map), who_(std::move(who)) {}

  const Value* find(const char* key) const {
    const Value* value = map_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void read(const char* key, bool& to) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    ROTE_CHECK(value->as_bool() != nullptr, ArgumentError, who_, ": ", key, " is ", shown(*value), "; it must be true or false.");
    to = *value->as_bool();
  }
  void read(const char* key, double& to) const {
    if (const Value* value = find(key)) to = number(key, *value);
  }
  void read(const char* key, std::vector<double>& to) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    to.clear();
    if (const ValueList* list = value->as_list())
      for (const Value& one : *list) to.push_back(number(key, one));
    else to.push_back(number(key, *value));
  }
  void read(const char* key, ImageSize& to, bool number_is_square) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    if (value->as_int() != nullptr) {
      to = number_is_square ? square(side(key, *value)) : shortest(side(key, *value));
    } else if (const ValueList* list = value->as_list(); list != nullptr && list->size() == 2) {
      to = {.height = side(key, (*list)[0]), .width = side(key, (*list)[1])};
    } else {
      const ValueMap* map = value->as_map();
      const Value *height = map ? map->find("height") : nullptr, *width = map ? map->find("width") : nullptr;
      const Value* edge = map ? map->find("shortest_edge") : nullptr;
      const bool two = map != nullptr && map->size() == 2 && height != nullptr && width != nullptr, one = map != nullptr && map->size() == 1 && edge != nullptr;
      ROTE_CHECK(one || two, ArgumentError, who_, ": ", key, " is ", shown(*value), "; it must be a number, {\"height\", \"width\"} or {\"shortest_edge\"}.");
      to = two ? ImageSize{.height = side(key, *height), .width = side(key, *width)} : shortest(side(key, *edge));
    }
  }
  void read(const char* key, Filter& to) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    const int64_t* filter = value->as_int();
    ROTE_CHECK(filter != nullptr && (*filter == 0 || *filter == 2 || *filter == 3), ArgumentError, who_, ": ", key, " is ", shown(*value),
               "; 0 (nearest), 2 (bilinear) and 3 (bicubic) are built.");
    to = static_cast<Filter>(*filter);
  }

 private:
  static std::string shown(const Value& value) { return json_text(value, {.indent = -1}); }
  double number(const char* key, const Value& value) const {
    double number = 0;
    ROTE_CHECK(value.number(number) && std::isfinite(number), ArgumentError, who_, ": ", key, " has ", shown(value), "; it must be a finite number.");
    return number;
  }
  int64_t side(const char* key, const Value& value) const {
    const int64_t* side = value.as_int();
    ROTE_CHECK(side != nullptr && *side >= 1 && *side <= kMaxSide, ArgumentError, who_, ": ", key, " has ", shown(value), "; a side is 1 to ", kMaxSide,
               " pixels long.");
    return *side;
  }

  const ValueMap& map_;
  const std::string who_;
};

std::string class_of_file(const ValueMap& map, const std::string& who, const std::string& model_type) {
  for (const char* key : {"image_processor_type", "feature_extractor_type"}) {  // the older spelling: ViTFeatureExtractor
    const Value* value = map.find(key);
    if (value == nullptr || value->as_text() == nullptr) continue;
    std::string name = *value->as_text();
    if (const size_t at = name.find("FeatureExtractor"); at != std::string::npos) name.replace(at, std::string::npos, "ImageProcessor");
    return name;
  }
  for (const FamilyDefault& one : family_defaults())
    if (model_type == one.model_type) return one.processor;
  throw ArgumentError(str(who, ": names no image_processor_type; it must."));
}

ImageSettings read_settings(const std::string& text, const std::string& who, const std::string& model_type) {
  const Value root = parse_json(text, who);
  ROTE_CHECK(root.as_map() != nullptr, ArgumentError, who, ": is no JSON object; it must be one.");
  const ProcessorClass& own = class_named(class_of_file(*root.as_map(), who, model_type), who);
  const Reader reader(*root.as_map(), who);
  ImageSettings s = own.settings;
  reader.read("do_convert_rgb", s.do_convert_rgb);
  reader.read("do_resize", s.do_resize);
  reader.read("size", s.size, own.number_is_square);
  reader.read("resample", s.resample);
  if (s.crop_pct) reader.read("crop_pct", *s.crop_pct);
  reader.read("do_center_crop", s.do_center_crop);
  reader.read("crop_size", s.crop_size, true);
  reader.read("do_rescale", s.do_rescale);
  reader.read("rescale_factor", s.rescale_factor);
  reader.read("do_normalize", s.do_normalize);
  reader.read("image_mean", s.image_mean);
  reader.read("image_std", s.image_std);
  if (own.name == std::string("EfficientNetImageProcessor")) {
    reader.read("rescale_offset", s.rescale_offset);
    reader.read("include_top", s.include_top);
  }
  bool do_pad = false;
  reader.read("do_pad", do_pad);
  ROTE_CHECK(!do_pad, ArgumentError, who, ": do_pad is true; images are not padded here, it must be false.");
  ROTE_CHECK(!s.crop_pct || s.size.shortest_edge, ArgumentError, who, ": size of a ConvNextImageProcessor must be a shortest_edge.");
  ROTE_CHECK(!s.crop_pct || (*s.crop_pct > 0 && *s.crop_pct <= 1), ArgumentError, who, ": crop_pct is ", s.crop_pct.value_or(0), "; it must be above 0 and at most 1.");
  ROTE_CHECK(!s.do_center_crop || s.crop_size.height, ArgumentError, who, ": do_center_crop is true; crop_size must give height and width.");
  ROTE_CHECK(!s.do_center_crop || *s.crop_size.height <= kMaxPixels / *s.crop_size.width, ArgumentError, who, ": crop_size is ", *s.crop_size.width, "x",
             *s.crop_size.height, "; more than ", kMaxPixels, " pixels are not made.");
  return s;
}

Value size_value(const ImageSize& size) {
  ValueMap map;
  if (size.shortest_edge) map.set("shortest_edge", *size.shortest_edge);
  if (size.height) map.set("height", *size.height);
  if (size.width) map.set("width", *size.width);
  return map;
}

std::string settings_text(const ImageSettings& s, const std::string& processor) {
  const auto list = [](const std::vector<double>& values) { return ValueList(values.begin(), values.end()); };
  ValueMap map{{"image_processor_type", processor}, {"do_resize", s.do_resize},           {"size", size_value(s.size)},
               {"resample", static_cast<int64_t>(s.resample)}, {"do_rescale", s.do_rescale}, {"rescale_factor", s.rescale_factor},
               {"do_normalize", s.do_normalize},      {"image_mean", list(s.image_mean)}, {"image_std", list(s.image_std)}};
  if (s.crop_pct) map.set("crop_pct", *s.crop_pct);
  if (processor == "EfficientNetImageProcessor") map.set("include_top", s.include_top);
  return json_text(Value(std::move(map)), {.indent = 2, .sort_keys = true}) + "\n";
}

// Writes the file of a family for a config of `channels` and, where its images have one size only, of that.
std::string default_file(const nn::Config& config, int64_t channels, const std::string& who) {
  std::string known;
  for (const FamilyDefault& one : family_defaults()) {
    known += (known.empty() ? "" : ", ") + std::string(one.model_type);
    if (config.model_type != one.model_type) continue;
    ImageSettings s = one.settings;
    if (const std::optional<int64_t> size = config.limits().image_size) s.size = square(*size);
    if (channels == 1) s.image_mean = s.image_std = {0.5};
    return settings_text(s, one.processor);
  }
  throw ArgumentError(str(who, ": its model_type is ", config.model_type, "; images are the input of ", known, "."));
}

// Of the sides, as the reference rounds them.
std::pair<int64_t, int64_t> with_shortest(const Image& image, int64_t edge) {
  const int64_t lower = std::min(image.height, image.width), longer = std::max(image.height, image.width);
  const int64_t other = static_cast<int64_t>(static_cast<double>(edge * longer) / static_cast<double>(lower));
  return image.width <= image.height ? std::pair{other, edge} : std::pair{edge, other};
}

Image resized_within(const Image& image, std::pair<int64_t, int64_t> size, Filter filter) {
  const auto [height, width] = size;
  ROTE_CHECK(width <= kMaxPixels / std::max(height, image.height), ArgumentError, "image: ", image.width, "x", image.height, " pixels would become ", width, "x", height,
             "; more than ", kMaxPixels, " are not made.");
  return resized(image, height, width, filter);
}

// The middle; where the image is smaller, black around it.
Image cropped(const Image& in, int64_t height, int64_t width) {
  const auto floor_half = [](int64_t n) { return n >= 0 ? n / 2 : (n - 1) / 2; };
  const int64_t top = floor_half(in.height - height), left = floor_half(in.width - width);
  Image out{height, width, in.channels, std::vector<uint8_t>(static_cast<size_t>(height * width * in.channels))};
  const int64_t first = std::max<int64_t>(-left, 0), last = std::min(width, in.width - left);
  for (int64_t y = 0; y < height; ++y)
    if (y + top >= 0 && y + top < in.height)
      std::copy(in.row(y + top) + (first + left) * in.channels, in.row(y + top) + (last + left) * in.channels, out.row(y) + first * in.channels);
  return out;
}

constexpr int64_t kWarpedFrom = 384;

Image resized_as(const Image& image, const ImageSettings& s) {
  if (!s.size.shortest_edge) return resized_within(image, {*s.size.height, *s.size.width}, s.resample);
  const int64_t edge = *s.size.shortest_edge;
  if (!s.crop_pct) return resized_within(image, with_shortest(image, edge), s.resample);
  if (edge >= kWarpedFrom) return resized_within(image, {edge, edge}, s.resample);
  const int64_t larger = static_cast<int64_t>(static_cast<double>(edge) / *s.crop_pct);
  return cropped(resized_within(image, with_shortest(image, larger), s.resample), edge, edge);
}

float level_of(int byte, const ImageSettings& s, float mean, float std) {
  float x = s.do_rescale ? static_cast<float>(byte * s.rescale_factor) : static_cast<float>(byte);
  if (s.do_rescale && s.rescale_offset) x -= 1;
  if (s.do_normalize) x = (x - mean) / std;
  return s.include_top ? x / std : x;
}

}  // namespace

void ImageProcessor::fill_levels() {
  for (size_t c = 0; c < static_cast<size_t>(colors_); ++c) {
    std::vector<float>& levels = levels_.emplace_back();
    const auto mean = static_cast<float>(settings_.image_mean[c]), std = static_cast<float>(settings_.image_std[c]);
    for (int byte = 0; byte < 256; ++byte) levels.push_back(level_of(byte, settings_, mean, std));
  }
}

ImageProcessor ImageProcessor::from_folder(const std::filesystem::path& folder, const nn::Config& config) {
  const int64_t channels = config.limits().channels.value_or(3);
  ROTE_CHECK(channels == 1 || channels == 3, ArgumentError, folder.string(), ": num_channels is ", channels, "; pictures have 3, or 1 of grey.");
  const std::filesystem::path file = folder / kFileName;
  const std::string who = file.string();
  std::string bytes = std::filesystem::exists(file) ? read_file(who) : default_file(config, channels, folder.string());
  ImageProcessor processor;
  ImageSettings& s = processor.settings_ = read_settings(bytes, who, config.model_type);
  ROTE_CHECK(!s.do_convert_rgb || channels == 3, ArgumentError, who, ": do_convert_rgb is true but the model takes 1 channel; it must be false.");
  for (std::vector<double>* values : {&s.image_mean, &s.image_std}) {
    if (values->size() == 1) values->resize(static_cast<size_t>(channels), values->front());
    ROTE_CHECK(values->size() == static_cast<size_t>(channels), ArgumentError, who, ": ", values == &s.image_mean ? "image_mean" : "image_std", " has ",
               values->size(), " values but the model takes ", channels, " channels; it must have one for each.");
  }
  for (double std : s.image_std) ROTE_CHECK(std != 0, ArgumentError, who, ": image_std has 0; nothing can be divided by it.");
  processor.colors_ = channels == 1 ? Colors::grey : Colors::rgb;
  processor.fill_levels();
  processor.files_ = {{kFileName, std::move(bytes)}};
  return processor;
}

Feature ImageProcessor::pixel_values(const Image& image) const {
  ROTE_CHECK(image.channels == static_cast<int64_t>(levels_.size()), ArgumentError, "image: has ", image.channels, " channels; the processor takes ", levels_.size(), ".");
  Image scaled = settings_.do_resize ? resized_as(image, settings_) : image;
  if (settings_.do_center_crop) scaled = cropped(scaled, *settings_.crop_size.height, *settings_.crop_size.width);
  const int64_t C = scaled.channels, pixels = scaled.height * scaled.width;
  std::vector<float> values(static_cast<size_t>(C * pixels));
  for (int64_t c = 0; c < C; ++c) {
    const std::vector<float>& levels = levels_[static_cast<size_t>(c)];
    for (int64_t i = 0; i < pixels; ++i) values[static_cast<size_t>(c * pixels + i)] = levels[scaled.pixels[static_cast<size_t>(i * C + c)]];
  }
  return Feature::array(std::move(values), {C, scaled.height, scaled.width});
}

}  // namespace rote::data

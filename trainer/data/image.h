// trainer/data/image.h — pictures of PNG and JPEG files as pixels, upright. Nothing is scaled here (resample.h), nothing normalized (image_processor.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rote::data {

struct Image {
  int64_t height = 0, width = 0, channels = 3;
  std::vector<uint8_t> pixels;  // [height,width,channels]

  const uint8_t* row(int64_t y) const { return pixels.data() + y * width * channels; }
  uint8_t* row(int64_t y) { return pixels.data() + y * width * channels; }
};

enum class Colors { grey = 1, rgb = 3 };

// Pixels that a picture may have at most; the reference's reader draws the line there too.
inline constexpr int64_t kMaxPixels = 178'956'970;

// The picture of a file, by its first bytes, as the reference's load_image gives it: turned as its EXIF orientation says, then red, green and
// blue, or their grey (19595·r + 38470·g + 7471·b + 2^15) / 2^16. Alpha is dropped, of 16 bits the upper 8 are kept, but grey ones of 16 bits end at 255.
// An orientation that only XMP tells is not read. Throws IoError, one sentence that begins with the file: for what is neither PNG nor JPEG,
// is damaged or cut short, or says that it is larger than its bytes can hold or than kMaxPixels.
Image read_image(const std::string& path, Colors colors = Colors::rgb);
// The same of a file's bytes; `who` stands for its name.
Image decode_image(std::string_view bytes, const std::string& who, Colors colors = Colors::rgb);

}  // namespace rote::data

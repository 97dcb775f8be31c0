#include "trainer/data/image.h"

#include <algorithm>
#include <utility>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/data/image_codec.h"

namespace rote::data {

namespace {

// Deflate makes at most 1,032 bytes of one; a JPEG spends at least a bit on 64 pixels of each channel.
constexpr double kMostBytesOfOne = 1100;
constexpr std::string_view kPngBegins = "\x89PNG\r\n\x1a\n", kJpegBegins = "\xff\xd8\xff";

bool begins_with(std::string_view bytes, std::string_view with) { return bytes.substr(0, with.size()) == with; }

// The pixel at (y, x) of the result is that at (y, x) of the source after the steps that the orientation names: axes exchanged, then rows and
// columns counted from the other end.
Image turned(const Image& in, int orientation) {
  const bool exchanged = orientation >= 5;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image out{exchanged ? in.width : in.height, exchanged ? in.height : in.width, in.channels, {}};
  out.pixels.resize(in.pixels.size());
  for (int64_t y = 0; y < out.height; ++y)
    for (int64_t x = 0; x < out.width; ++x) {
      const int64_t row = exchanged ? x : y, column = exchanged ? y : x;
      const uint8_t* from = in.row(from_bottom ? in.height - 1 - row : row) + (from_right ? in.width - 1 - column : column) * in.channels;
      std::copy(from, from + in.channels, out.row(y) + x * in.channels);
    }
  return out;
}

// In place: the grey of a pixel lies before its colours.
void to_grey(Image& image) {
  const size_t pixels = image.pixels.size() / 3;
  uint8_t* p = image.pixels.data();
  for (size_t i = 0; i < pixels; ++i)
    p[i] = static_cast<uint8_t>((19595u * p[3 * i] + 38470u * p[3 * i + 1] + 7471u * p[3 * i + 2] + 0x8000u) >> 16);
  image.channels = 1;
  image.pixels.resize(pixels);
}

}  // namespace

int exif_orientation(std::string_view tiff) {
  if (tiff.size() < 8 || (tiff.substr(0, 2) != "II" && tiff.substr(0, 2) != "MM")) return 1;
  const bool little = tiff[0] == 'I';
  const auto number = [&](size_t at, size_t bytes) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint8_t>(tiff[at + (little ? bytes - 1 - i : i)]);
    return value;
  };
  if (number(2, 2) != 42) return 1;
  const size_t directory = number(4, 4);
  if (directory > tiff.size() - 2) return 1;
  const size_t entries = number(directory, 2);
  uint32_t orientation = 1;
  for (size_t i = 0; i < entries && directory + 2 + 12 * (i + 1) <= tiff.size(); ++i) {
    const size_t entry = directory + 2 + 12 * i;
    const uint32_t kind = number(entry + 2, 2);
    if (number(entry, 2) != 0x0112 || number(entry + 4, 4) != 1 || (kind != 3 && kind != 4)) continue;
    orientation = number(entry + 8, kind == 3 ? 2 : 4);
  }
  return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
}

void check_header(const std::string& who, int64_t height, int64_t width, double stored_bytes, size_t file_bytes) {
  ROTE_CHECK(height > 0 && width > 0, IoError, who, ": has ", width, "x", height, " pixels; a picture has at least one.");
  ROTE_CHECK(stored_bytes <= kMostBytesOfOne * static_cast<double>(file_bytes), IoError, who, ": says that it has ", width, "x", height, " pixels, which its ",
             file_bytes, " bytes cannot hold; the file is damaged.");
  ROTE_CHECK(height <= kMaxPixels / width, IoError, who, ": has ", width, "x", height, " pixels; at most ", kMaxPixels, " are read.");
}

Image decode_image(std::string_view bytes, const std::string& who, Colors colors) {
  const bool is_png = begins_with(bytes, kPngBegins);
  ROTE_CHECK(is_png || begins_with(bytes, kJpegBegins), IoError, who, ": is neither a PNG nor a JPEG file; these two can be read.");
  StoredImage stored = is_png ? decode_png(bytes, who) : decode_jpeg(bytes, who);
  if (colors == Colors::grey) to_grey(stored.image);
  return stored.orientation == 1 ? std::move(stored.image) : turned(stored.image, stored.orientation);
}

Image read_image(const std::string& path, Colors colors) { return decode_image(read_file(path), path, colors); }

}  // namespace rote::data

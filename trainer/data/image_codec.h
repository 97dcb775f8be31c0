// trainer/data/image_codec.h — what image.cpp asks of the two file formats. Each is one source, compiled empty where its library was not found.
#pragma once

#include <string>
#include <string_view>

#include "trainer/data/image.h"

namespace rote::data {

// As the file stores it: red, green, blue, not yet turned.
struct StoredImage {
  Image image;
  int orientation = 1;  // of EXIF, 1 … 8
};

StoredImage decode_png(std::string_view bytes, const std::string& who);
StoredImage decode_jpeg(std::string_view bytes, const std::string& who);

// The orientation in a block of EXIF, which is a TIFF directory; 1 where it names none.
int exif_orientation(std::string_view tiff);

// Throws IoError for a header whose `stored_bytes` of pixels are more than `file_bytes` can hold, and for more than kMaxPixels.
void check_header(const std::string& who, int64_t height, int64_t width, double stored_bytes, size_t file_bytes);

}  // namespace rote::data

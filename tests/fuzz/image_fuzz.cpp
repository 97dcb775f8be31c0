// tests/fuzz/image_fuzz.cpp — a PNG or JPEG file: decoded in colours and in grey, and its EXIF alone.
#include <cstdlib>

#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "trainer/data/image.h"
#include "trainer/data/image_codec.h"

namespace rote::fuzz {

int image(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const data::Colors colors : {data::Colors::rgb, data::Colors::grey}) {
    run([&] {
      const data::Image image = data::decode_image(bytes, "image", colors);
      if (static_cast<int64_t>(image.pixels.size()) != image.height * image.width * image.channels) std::abort();
    });
  }
  data::exif_orientation(bytes);
  return 0;
}

}  // namespace rote::fuzz

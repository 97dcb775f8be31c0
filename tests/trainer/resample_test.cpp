// tests/trainer/resample_test.cpp — images at other sizes, with Pillow's bits.
#include "trainer/data/resample.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/trainer/picture.h"

namespace rote::testing {

namespace {

struct Resized {
  int64_t height, width, channels, to_height, to_width;
  int filter;
  uint64_t pixels;  // FNV-1a
};

const Resized kResized[] = {
#define ROTE_GOLDEN_RESIZED
#include "tests/golden/images.inc"
#undef ROTE_GOLDEN_RESIZED
};

data::Image filled(int64_t height, int64_t width, uint8_t value) { return {height, width, 3, std::vector<uint8_t>(static_cast<size_t>(height * width * 3), value)}; }

}  // namespace

TEST_CASE("resized: larger, smaller and warped images are Pillow's to the bit, whichever pass comes first") {
  for (const Resized& one : kResized) {
    CAPTURE(one.height);
    CAPTURE(one.width);
    CAPTURE(one.to_height);
    CAPTURE(one.to_width);
    CAPTURE(one.filter);
    const data::Image out = data::resized(pattern(one.height, one.width, one.channels), one.to_height, one.to_width, static_cast<data::Filter>(one.filter));
    CHECK(out.height == one.to_height);
    CHECK(out.width == one.to_width);
    CHECK(out.channels == one.channels);
    CHECK(fnv1a(out.pixels) == one.pixels);
  }
}

TEST_CASE("resized: one colour stays that colour, and the same size the same image") {
  for (const data::Filter filter : {data::Filter::nearest, data::Filter::bilinear, data::Filter::bicubic}) {
    for (const int value : {0, 1, 127, 255}) {
      const data::Image out = data::resized(filled(7, 5, static_cast<uint8_t>(value)), 11, 3, filter);
      CHECK(std::all_of(out.pixels.begin(), out.pixels.end(), [&](uint8_t pixel) { return pixel == value; }));
    }
    const data::Image image = pattern(6, 9, 3);
    CHECK(data::resized(image, 6, 9, filter).pixels == image.pixels);
  }
}

TEST_CASE("resized: a mirrored image gives the mirrored result") {
  const data::Image image = pattern(10, 16, 1);
  data::Image mirrored = image;
  for (int64_t y = 0; y < 10; ++y) std::reverse(mirrored.row(y), mirrored.row(y) + 16);
  data::Image want = data::resized(image, 4, 8, data::Filter::bicubic);
  for (int64_t y = 0; y < 4; ++y) std::reverse(want.row(y), want.row(y) + 8);
  CHECK(data::resized(mirrored, 4, 8, data::Filter::bicubic).pixels == want.pixels);
}

}  // namespace rote::testing

// tests/trainer/image_test.cpp — PNG and JPEG files into pixels: what the reference reads, and what nothing can read.
#include "trainer/data/image.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/picture.h"
#include "trainer/data/image_codec.h"

namespace rote::testing {

namespace {

struct Picture {
  std::string name;
  const char* hex;
  int64_t height, width;
  uint64_t colors, grey;  // FNV-1a of the pixels
};

const Picture kPictures[] = {
#define ROTE_GOLDEN_PICTURES
#include "tests/golden/images.inc"
#undef ROTE_GOLDEN_PICTURES
};

std::string bytes_of(const char* hex) {
  std::string bytes;
  for (; *hex; hex += 2) bytes += static_cast<char>(std::stoi(std::string(hex, 2), nullptr, 16));
  return bytes;
}

std::string picture(const std::string& name) {
  for (const Picture& one : kPictures)
    if (one.name == name) return bytes_of(one.hex);
  FAIL("no picture is called " << name);
  return "";
}

// Whether this build has the library for these bytes; a case without it says so.
bool can_read(const std::string& bytes) {
  try {
    data::decode_image(bytes, "x");
    return true;
  } catch (const IoError& fault) {
    if (fault.text.find("this build does not read") == std::string::npos) throw;
    MESSAGE("skipped: " << fault.text);
    return false;
  }
}

std::string fault_of(const std::string& bytes) {
  try {
    data::decode_image(bytes, "x");
  } catch (const IoError& fault) {
    return fault.text;
  }
  return "";
}

void put(std::string& bytes, size_t at, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes[at + static_cast<size_t>(i)] = static_cast<char>(value >> 8 * (count - 1 - i));
}

}  // namespace

TEST_CASE("read_image: every kind of PNG and JPEG gives the pixels of the reference, in colours and in grey") {
  for (const Picture& one : kPictures) {
    CAPTURE(one.name);
    const std::string bytes = bytes_of(one.hex);
    if (!can_read(bytes)) return;
    const data::Image colors = data::decode_image(bytes, one.name), grey = data::decode_image(bytes, one.name, data::Colors::grey);
    CHECK(colors.height == one.height);
    CHECK(colors.width == one.width);
    CHECK(colors.channels == 3);
    CHECK(grey.channels == 1);
    CHECK(fnv1a(colors.pixels) == one.colors);
    CHECK(fnv1a(grey.pixels) == one.grey);
  }
}

TEST_CASE("read_image: the name of a file need not be UTF-8, and its ending says nothing") {
  const TempFolder folder;
  const std::string bytes = picture("one pixel"), path = folder.file("caf\xe9.jpg", bytes);
  if (!can_read(bytes)) return;
  CHECK(data::read_image(path).pixels == std::vector<uint8_t>{0x10, 0x80, 0xf0});
  CHECK_THROWS_AS(data::read_image(folder.file("none.png")), IoError);
  CHECK_THROWS_AS(data::read_image(folder.path()), IoError);
}

TEST_CASE("read_image: what is neither PNG nor JPEG is named") {
  for (const char* bytes : {"", "GIF89a", "\x89PNG", "\xff\xd8", "hello"}) CHECK(fault_of(bytes) == "x: is neither a PNG nor a JPEG file; these two can be read.");
}

TEST_CASE("read_image: a file that is cut short anywhere is refused") {
  for (const char* name : {"JPEG", "JPEG with colours of half the rows and columns, progressive", "interlaced", "palette with transparency"}) {
    CAPTURE(std::string(name));
    const std::string bytes = picture(name);
    if (!can_read(bytes)) return;
    for (size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(length);
      CHECK(fault_of(bytes.substr(0, length)) != "");
    }
  }
}

TEST_CASE("read_image: a chunk that says it is longer than the file is refused before memory is taken for it") {
  std::string png = picture("one pixel");
  if (!can_read(png)) return;
  put(png, 33, 0x1a000000, 4);  // of the chunk after the header
  CHECK(fault_of(png) == "x: cannot be decoded; it ends too early.");
}

TEST_CASE("read_image: a header that says more pixels than the file can hold is refused before they are made") {
  std::string png = picture("one pixel");
  if (!can_read(png)) return;
  const auto sized = [&](uint64_t width, uint64_t height) {
    put(png, 16, width, 4);
    put(png, 20, height, 4);
    put(png, 29, crc32(png.substr(12, 17)), 4);
    return fault_of(png);
  };
  CHECK(sized(0x7fffffff, 0x7fffffff) == "x: says that it has 2147483647x2147483647 pixels, which its 69 bytes cannot hold; the file is damaged.");
  CHECK(sized(30000, 1) == "x: says that it has 30000x1 pixels, which its 69 bytes cannot hold; the file is damaged.");
  CHECK(sized(0, 1) != "");
  CHECK(sized(0xffffffff, 1) != "");
  CHECK(sized(20, 20) != "");  // could be, but the bytes end before

  std::string jpeg = picture("JPEG");
  if (!can_read(jpeg)) return;
  put(jpeg, jpeg.find("\xff\xc0") + 5, uint64_t{65500} << 16 | 65500, 4);
  CHECK(fault_of(jpeg) == str("x: says that it has 65500x65500 pixels, which its ", jpeg.size(), " bytes cannot hold; the file is damaged."));
  CHECK_THROWS_WITH_AS(data::check_header("x", 20000, 10000, 100, 100), "x: has 10000x20000 pixels; at most 178956970 are read.", IoError);
  CHECK_NOTHROW(data::check_header("x", 10000, 10000, 100, 100));
}

TEST_CASE("read_image: damaged bytes give a picture or one sentence, never more") {
  for (const Picture& one : kPictures) {
    const std::string whole = bytes_of(one.hex);
    if (!can_read(whole)) return;
    for (size_t at = 0; at < whole.size(); ++at)
      for (int bit : {0, 3, 7}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
        const std::string fault = fault_of(bytes);
        CHECK((fault.empty() || (fault.starts_with("x: ") && fault.ends_with("."))));
      }
  }
}

TEST_CASE("exif_orientation: of both byte orders, and 1 for all that is not one") {
  const std::string little("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22), big("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0", 22);
  CHECK(data::exif_orientation(little) == 6);
  CHECK(data::exif_orientation(big) == 8);
  std::string bytes = little;
  bytes[18] = 9;
  CHECK(data::exif_orientation(bytes) == 1);
  bytes = little;
  bytes[14] = 2;  // two values
  CHECK(data::exif_orientation(bytes) == 1);
  bytes = little;
  bytes[12] = 4;  // 32 bits wide
  CHECK(data::exif_orientation(bytes) == 6);
  for (const char* offset : {"\xff\xff\xff\xff", "\x15\0\0\0", "\0\0\0\0"}) {
    bytes = little;
    bytes.replace(4, 4, std::string(offset, 4));
    CHECK(data::exif_orientation(bytes) == 1);
  }
  for (size_t length = 0; length < little.size(); ++length) CHECK(data::exif_orientation(little.substr(0, length)) == 1);
}

}  // namespace rote::testing

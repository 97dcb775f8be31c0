// tests/trainer/picture.h — pictures for tests: a pattern, grey and colour PNG files without compression, and the sum by which pixels are compared.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/data/image.h"

namespace rote::testing {

// 64-bit FNV-1a.
inline uint64_t fnv1a(const void* data, size_t bytes) {
  uint64_t value = 0xCBF29CE484222325u;
  for (size_t i = 0; i < bytes; ++i) value = (value ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001B3u;
  return value;
}
inline uint64_t fnv1a(const std::vector<uint8_t>& bytes) { return fnv1a(bytes.data(), bytes.size()); }

// tests/golden/images.py has the same.
inline data::Image pattern(int64_t height, int64_t width, int64_t channels) {
  data::Image image{height, width, channels, {}};
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c) image.pixels.push_back(static_cast<uint8_t>(x * 37 + y * 101 + c * 53 + x * y * 7 + x * x * 3));
  return image;
}

inline uint32_t crc32(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// The image as a PNG whose data are stored as they are. Its rows must come to less than 2^16 bytes.
inline std::string png_of(const data::Image& image) {
  const auto big = [](uint32_t value) { return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)}; };
  const auto chunk = [&](const std::string& name, const std::string& data) { return big(static_cast<uint32_t>(data.size())) + name + data + big(crc32(name + data)); };
  std::string rows;
  for (int64_t y = 0; y < image.height; ++y) rows += '\0' + std::string(image.row(y), image.row(y) + image.width * image.channels);
  uint32_t a = 1, b = 0;
  for (unsigned char byte : rows) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  const auto n = static_cast<uint16_t>(rows.size()), inverse = static_cast<uint16_t>(~n);
  const std::string stored = {'\x78', '\x01', '\x01', static_cast<char>(n), static_cast<char>(n >> 8), static_cast<char>(inverse), static_cast<char>(inverse >> 8)};
  const std::string header = big(static_cast<uint32_t>(image.width)) + big(static_cast<uint32_t>(image.height)) + std::string{'\x08', image.channels == 3 ? '\x02' : '\0', '\0', '\0', '\0'};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", stored + rows + big(b << 16 | a)) + chunk("IEND", "");
}

// Whether this build reads PNG files; says "skipped" where it does not.
inline bool reads_png() {
  try {
    data::decode_image(png_of(pattern(1, 1, 3)), "x");
    return true;
  } catch (const IoError& fault) {
    MESSAGE("skipped: " << fault.text);
    return false;
  }
}

}  // namespace rote::testing

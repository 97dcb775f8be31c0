// trainer/trackers/protobuf.h — fields of a protocol buffer, as bytes. Writing only.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace rote::protobuf {

inline void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <class Bits>
void append_little_endian(std::string& out, Bits value) {
  for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

inline std::string key(int field, Wire wire) {
  std::string out;
  append_varint(out, static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire));
  return out;
}

inline std::string integer(int field, int64_t value) {
  std::string out = key(field, Wire::varint);
  append_varint(out, static_cast<uint64_t>(value));
  return out;
}
inline std::string number(int field, double value) {
  std::string out = key(field, Wire::fixed64);
  append_little_endian(out, std::bit_cast<uint64_t>(value));
  return out;
}
inline std::string number(int field, float value) {
  std::string out = key(field, Wire::fixed32);
  append_little_endian(out, std::bit_cast<uint32_t>(value));
  return out;
}
// Text, or a message made of such fields.
inline std::string bytes(int field, const std::string& content) {
  std::string out = key(field, Wire::bytes);
  append_varint(out, content.size());
  return out + content;
}

}  // namespace rote::protobuf

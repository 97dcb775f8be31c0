// tests/support/gguf_bytes.h — .gguf files written for tests, value by value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/gguf.h"

namespace rote::testing {

struct GgufBytes {
  std::string data;

  template <class T>
  GgufBytes& put(T value) {
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  GgufBytes& text(const std::string& s) {
    put<uint64_t>(s.size());
    data += s;
    return *this;
  }
  // Entries of the metadata.
  GgufBytes& u32(const std::string& key, uint32_t value) { return text(key).put<uint32_t>(4).put(value); }
  GgufBytes& f32(const std::string& key, float value) { return text(key).put<uint32_t>(6).put(value); }
  GgufBytes& truth(const std::string& key, bool value) { return text(key).put<uint32_t>(7).put(value); }
  GgufBytes& word(const std::string& key, const std::string& value) { return text(key).put<uint32_t>(8).text(value); }
  GgufBytes& words(const std::string& key, const std::vector<std::string>& all) {
    text(key).put<uint32_t>(9).put<uint32_t>(8).put<uint64_t>(all.size());
    for (const std::string& one : all) text(one);
    return *this;
  }
  GgufBytes& i32s(const std::string& key, const std::vector<int32_t>& all) { return list(key, 5, all); }
  GgufBytes& f32s(const std::string& key, const std::vector<float>& all) { return list(key, 6, all); }

 private:
  template <class T>
  GgufBytes& list(const std::string& key, uint32_t type, const std::vector<T>& all) {
    text(key).put<uint32_t>(9).put(type).template put<uint64_t>(all.size());
    for (const T one : all) put(one);
    return *this;
  }
};

struct GgufTensor {
  std::string name;
  GgufType type;
  std::vector<uint64_t> extents;  // as in the file: columns first
  std::string data;
};

// A file of version 3 with `count` entries of metadata.
inline std::string file_of(const GgufBytes& values, uint64_t count, const std::vector<GgufTensor>& tensors) {
  GgufBytes out;
  out.data = "GGUF";
  out.put<uint32_t>(3).put<uint64_t>(tensors.size()).put(count);
  out.data += values.data;
  uint64_t offset = 0;
  for (const GgufTensor& one : tensors) {
    out.text(one.name).put(static_cast<uint32_t>(one.extents.size()));
    for (const uint64_t extent : one.extents) out.put(extent);
    out.put(static_cast<uint32_t>(one.type)).put(offset);
    offset += (one.data.size() + 31) / 32 * 32;
  }
  out.data.resize((out.data.size() + 31) / 32 * 32);
  for (const GgufTensor& one : tensors) {
    out.data += one.data;
    out.data.resize((out.data.size() + 31) / 32 * 32);
  }
  return out.data;
}

}  // namespace rote::testing

// tensor/hash.h — SHA-256 (FIPS 180-4) and the hash of named tensors (arithmetic.md 10).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

class Sha256 {
 public:
  void add(const void* data, size_t bytes);
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::string hex();  // 64 digits; nothing may be added after it

 private:
  void block(const unsigned char* data);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char buffer_[64];
  size_t held_ = 0;
  uint64_t bytes_ = 0;
};

// For each tensor in byte order of the names: name, 0, dtype as safetensors spells it (F32), 0, sizes joined by commas, 0, the elements
// little-endian in logical order with every NaN canonical (0x7FC00000 and alike).
std::string hash_tensors(std::vector<std::pair<std::string, Tensor>> tensors);
// The same of one tensor.
std::string hash_tensor(const std::string& name, const Tensor& x);

}  // namespace rote

#include "tensor/fingerprint.h"

#include <algorithm>
#include <cstring>

#include "kernels/fingerprint.h"
#include "kernels/pool.h"

namespace rote {

namespace {

struct Chunk {
  DType dtype;
  const char* data;
  int64_t bytes;
};

uint64_t fingerprint_of_form(const Tensor& x) {
  uint64_t spelled = 0;
  const char* letters = info(x.dtype()).safetensors;
  std::memcpy(&spelled, letters, std::strlen(letters));
  uint64_t h = fingerprint_mix(fingerprint_mix(0, spelled), static_cast<uint64_t>(x.axes()));
  for (const int64_t size : x.shape()) h = fingerprint_mix(h, static_cast<uint64_t>(size));
  return h;
}

}  // namespace

std::vector<uint64_t> fingerprints(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> plain;
  std::vector<Chunk> chunks;
  for (const Tensor& x : tensors) {
    plain.push_back(x.defined() ? contiguous(x) : x);
    if (!x.defined()) continue;
    const int64_t bytes = x.numel() * size_of(x.dtype());
    for (int64_t at = 0; at < bytes; at += kFingerprintChunk)
      chunks.push_back({x.dtype(), static_cast<const char*>(plain.back().raw()) + at, std::min(kFingerprintChunk, bytes - at)});
  }
  std::vector<uint64_t> parts(chunks.size());
  parallel(static_cast<int64_t>(chunks.size()), [&](int64_t i) {
    const Chunk& chunk = chunks[static_cast<size_t>(i)];
    parts[static_cast<size_t>(i)] = fingerprint_chunk(chunk.dtype, chunk.data, chunk.bytes);
    return uint32_t{0};
  });
  std::vector<uint64_t> out;
  size_t next = 0;
  for (const Tensor& x : plain) {
    uint64_t h = x.defined() ? fingerprint_of_form(x) : 0;
    const int64_t bytes = x.defined() ? x.numel() * size_of(x.dtype()) : 0;
    for (int64_t at = 0; at < bytes; at += kFingerprintChunk) h = fingerprint_mix(h, parts[next++]);
    out.push_back(h);
  }
  return out;
}

uint64_t fingerprint(const Tensor& x) { return fingerprints({x})[0]; }

}  // namespace rote

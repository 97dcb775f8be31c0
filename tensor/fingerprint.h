// tensor/fingerprint.h — the 64-bit fingerprint of a tensor: dtype, shape and elements (docs/reproducibility.md). The hash of weights: hash.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

// From 0 on: the dtype as safetensors spells it, its letters as one little-endian word, the number of axes, each size, and the fingerprint of each
// chunk of 65536 bytes of the elements in logical order (kernels/fingerprint.h). 0 for an undefined tensor.
uint64_t fingerprint(const Tensor& x);
// Of each, computed together on all threads.
std::vector<uint64_t> fingerprints(const std::vector<Tensor>& tensors);

}  // namespace rote

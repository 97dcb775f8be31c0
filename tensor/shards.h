// tensor/shards.h — the weights of a model folder: model.safetensors, or where they are too large for one file several and an index.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/safetensors.h"

namespace rote {

// Writes model.safetensors, or, where that would hold more than max_shard_size bytes of elements, model-00001-of-0000N.safetensors … in the order
// of the tensors and model.safetensors.index.json, which names the file of each; a tensor that is larger has a file of its own. Each file appears
// whole or not at all; weights that the folder held in the other form go last. Throws ArgumentError where max_shard_size is not positive.
void save_weights(const std::string& folder, const std::vector<std::pair<std::string, Tensor>>& tensors, int64_t max_shard_size, const SaveOptions& options = {});

}  // namespace rote

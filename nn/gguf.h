// nn/gguf.h — what a .gguf file of the architecture "llama" means here: its metadata as a config, its tensors as LlamaForCausalLM's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/state.h"
#include "tensor/gguf.h"

namespace rote::nn {

// Whether a path names a file of this format, by its ending.
bool is_gguf(const std::string& path);
// The text of the config.json that the metadata stand for. Throws IoError for another architecture and for what is not built.
std::string gguf_config_text(const GgufFile& file);
// The tensors under the names of the reference, read as f32; rows of queries and keys in the reference's order again.
std::vector<StoredTensor> gguf_weights(std::shared_ptr<const GgufFile> file);

}  // namespace rote::nn

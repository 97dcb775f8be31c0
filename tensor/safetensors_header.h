// tensor/safetensors_header.h — the JSON header of a safetensors file, checked. Reads no file.
#pragma once

#include "tensor/safetensors.h"

namespace rote {

// The tensors that `header` names, sorted by the place of their bytes; offsets count from the end of the header, after which
// `data_bytes` follow. Throws IoError, one sentence with `path` and the tensor, for everything that the format forbids.
std::vector<SafetensorsInfo> parse_safetensors_header(const std::string& path, const std::string& header, int64_t data_bytes,
                                                      std::map<std::string, std::string>& metadata);

}  // namespace rote

// trainer/apps/rote/weights.h — the weights of a model folder or of a .safetensors file, as the verbs that compare bits read them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace rote::app {

// In the order of the files. Throws IoError where `path` is neither.
std::vector<std::pair<std::string, Tensor>> weights_of(const std::string& path);

}  // namespace rote::app

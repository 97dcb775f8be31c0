// trainer/apps/rote/weights.cpp — the weights of a model folder or of a .safetensors file.
#include "trainer/apps/rote/weights.h"

#include <filesystem>

#include "kernels/check.h"
#include "tensor/safetensors.h"

namespace rote::app {

std::vector<std::pair<std::string, Tensor>> weights_of(const std::string& path) {
  namespace fs = std::filesystem;
  ROTE_CHECK(fs::exists(path), IoError, path, " does not exist; give a folder with model.safetensors, or such a file.");
  std::vector<std::pair<std::string, Tensor>> tensors;
  const auto add = [&](const SafetensorsFile& file) {
    for (const SafetensorsInfo& info : file.infos()) tensors.emplace_back(info.name, file.read(info.name));
  };
  if (fs::is_directory(path)) {
    const SafetensorsFolder folder = SafetensorsFolder::open(path);
    for (const SafetensorsFile& file : folder.files()) add(file);
  } else {
    add(SafetensorsFile::open(path));
  }
  return tensors;
}

}  // namespace rote::app

#include "nn/pretrained.h"

#include <algorithm>
#include <filesystem>

#include "tensor/file.h"

namespace rote::nn {

LoadReport load_pretrained(Model& model, const std::string& folder, const PretrainedOptions& options) {
  const SafetensorsFolder files = SafetensorsFolder::open(folder);
  LoadStateOptions how;
  how.ignore_mismatched_sizes = options.ignore_mismatched_sizes;
  if (const Config* config = model.config(); config != nullptr) {
    how.base_prefix = config->base_prefix();
    how.stored_name = [config](const std::string& name) { return config->stored_name(name); };
  }
  LoadReport report = load_state(model, files, how);
  const std::vector<std::string> fresh = report.fresh();
  ROTE_CHECK(fresh.empty() || fresh.size() < model.named_parameters().size(), IoError, "read ", folder,
             ": no tensor of its weights belongs to the model; the folder holds another architecture.");
  if (!fresh.empty()) model.init_weights([&](const std::string& name) { return std::find(fresh.begin(), fresh.end(), name) != fresh.end(); });
  model.eval();
  return report;
}

void save_pretrained(Model& model, const std::string& folder, const SavePretrainedOptions& options) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  ROTE_CHECK(!failed, IoError, "write ", folder, ": ", failed.message(), ".");
  const NamedTensors weights = state_dict(model);
  if (Config* config = model.config(); config != nullptr) {
    config->architectures = {model.class_name()};
    if (!weights.empty()) config->dtype = info(weights[0].second.dtype()).torch;
    write_file(folder + "/config.json", config_text(*config), options.sync);
  }
  SaveOptions how;
  how.sync = options.sync;
  save_safetensors(folder + "/model.safetensors", weights, how);
}

}  // namespace rote::nn

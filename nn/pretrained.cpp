#include "nn/pretrained.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "nn/gguf.h"
#include "nn/hub.h"
#include "tensor/file.h"
#include "tensor/shards.h"

namespace rote::nn {

namespace {

// float32, bfloat16, float16; auto is what the config says, else what the first floating tensor is.
DType chosen_dtype(const std::string& wanted, const Config* config, const std::vector<StoredTensor>& weights) {
  std::string word = wanted;
  if (word == "auto" && config != nullptr && !config->dtype.empty()) word = config->dtype;
  if (word == "auto") {
    const auto first = std::find_if(weights.begin(), weights.end(), [](const StoredTensor& one) { return is_floating(one.dtype); });
    word = first == weights.end() ? "float32" : info(first->dtype).torch;
  }
  for (const DType one : {DType::f32, DType::bf16, DType::f16})
    if (word == info(one).torch) return one;
  throw ArgumentError(str("load: dtype is \"", word, "\"; it must be float32, bfloat16, float16 or auto."));
}

}  // namespace

std::string model_place(const std::string& name, const PretrainedOptions& options) {
  std::error_code failed;
  const bool is_here = std::filesystem::is_directory(name, failed) || (is_gguf(name) && is_file(name));
  // What cannot be a name of the hub is a path: reading it says what is missing there.
  const std::string place = is_here || !is_hub_id(name) ? name : hub_folder(name, {options.revision, options.cache_dir});
  if (options.gguf_file.empty()) return place;
  ROTE_CHECK(is_gguf(options.gguf_file) && options.gguf_file.find('/') == std::string::npos, ArgumentError, "load ", name, ": gguf_file is \"", options.gguf_file,
             "\"; it must be the name of a .gguf file of the folder.");
  return place + "/" + options.gguf_file;
}

LoadReport load_pretrained(Model& model, const std::string& place, const PretrainedOptions& options) {
  LoadStateOptions how;
  how.ignore_mismatched_sizes = options.ignore_mismatched_sizes;
  const Config* config = model.config();
  if (config != nullptr) {
    how.base_prefix = config->base_prefix();
    how.stored_name = [config](const std::string& name) { return config->stored_name(name); };
  }
  std::optional<SafetensorsFolder> files;
  std::vector<StoredTensor> weights;
  if (is_gguf(place)) weights = gguf_weights(std::make_shared<const GgufFile>(GgufFile::open(place)));
  else weights = stored_tensors(files.emplace(SafetensorsFolder::open(place)));
  how.dtype = chosen_dtype(options.dtype, config, weights);
  // New heads are small; a config that wants more than the file has beside them lies.
  constexpr int64_t kHead = 64 << 20;
  how.most_fresh_bytes = kHead;
  for (const StoredTensor& one : weights) *how.most_fresh_bytes += one.shape.numel() * size_of(one.dtype);
  LoadReport report = load_state(model, files ? files->files()[0].path() : place, weights, how);
  const std::vector<std::string> fresh = report.fresh();
  ROTE_CHECK(fresh.empty() || fresh.size() < model.named_parameters().size(), IoError, "read ", place,
             ": no tensor of its weights belongs to the model; it holds another architecture.");
  const std::set<std::string> drawn(fresh.begin(), fresh.end());
  if (!fresh.empty()) model.init_weights([&](const std::string& name) { return drawn.count(name) > 0; });
  if (options.trust_remote_code) report.notes.push_back("trust_remote_code: code beside the weights is Python and was not run; the model is the built-in one.");
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
    if (!config->generation.empty()) write_file(folder + "/generation_config.json", config->generation, options.sync);
  }
  SaveOptions how;
  how.sync = options.sync;
  save_weights(folder, weights, options.max_shard_size, how);
}

}  // namespace rote::nn

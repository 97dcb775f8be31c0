#include "nn/auto.h"

#include "nn/family.h"

namespace rote::nn {

namespace {

const std::vector<ModelEntry>& models() {
  static const std::vector<ModelEntry> all = [] {
    std::vector<ModelEntry> joined;
    for (const auto family : {bert_family, roberta_family, distilbert_family, gpt2_family, llama_family, t5_family, bart_family, vit_family,
                              resnet_family, efficientnet_family}) {
      const std::vector<ModelEntry> some = family();
      joined.insert(joined.end(), some.begin(), some.end());
    }
    return joined;
  }();
  return all;
}

const ModelEntry& family(const std::string& model_type, const std::string& folder) {
  std::string known;
  for (const ModelEntry& one : models()) {
    if (model_type == one.model_type) return one;
    if (known.find(one.model_type) == std::string::npos) known += str(known.empty() ? "" : ", ", one.model_type);
  }
  throw ArgumentError(str("model: ", folder, " has the model_type \"", model_type, "\"; built are ", known, "."));
}

const ModelEntry& find(const std::string& class_or_task, const std::string& folder, const Config& config) {
  std::string name = class_or_task;
  if (name.empty() && !config.architectures.empty()) name = config.architectures[0];
  for (const ModelEntry& one : models())
    if (config.model_type == one.model_type && (name == one.class_name || name == one.task)) return one;
  throw ArgumentError(str("model: ", folder, " is a ", config.model_type, ", of which no \"", name, "\" is built; built are ", known_models(), "."));
}

std::shared_ptr<Config> configured(const std::string& folder, const PretrainedOptions& options) {
  std::shared_ptr<Config> config = load_config(folder);
  if (options.configure) options.configure(*config);
  config->check();
  return config;
}

}  // namespace

std::shared_ptr<Config> load_config(const std::string& folder) {
  std::shared_ptr<Config> config = family(read_model_type(folder), folder).make_config();
  read_config(folder, *config);
  return config;
}

std::string model_class(const std::string& class_or_task, const std::string& folder) { return find(class_or_task, folder, *load_config(folder)).class_name; }

std::unique_ptr<Model> make_model(const std::string& class_or_task, const std::string& folder, const PretrainedOptions& options) {
  const std::shared_ptr<Config> config = configured(folder, options);
  return find(class_or_task, folder, *config).make(config);
}

Loaded<Model> load_model(const std::string& class_or_task, const std::string& folder, const PretrainedOptions& options) {
  Loaded<Model> loaded;
  {
    const NoInit guard;
    loaded.model = make_model(class_or_task, folder, options);
  }
  loaded.report = load_pretrained(*loaded.model, folder, options);
  return loaded;
}

std::string known_models() {
  std::string known;
  for (const ModelEntry& one : models()) known += str(known.empty() ? "" : ", ", one.class_name, " (", one.task, ")");
  return known;
}

bool has_model(const std::string& class_name) {
  for (const ModelEntry& one : models())
    if (class_name == one.class_name) return true;
  return false;
}

}  // namespace rote::nn

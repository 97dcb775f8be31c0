#include "nn/auto.h"

#include <ostream>

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

const ModelEntry& family(const std::string& place, const PretrainedOptions& options) {
  const std::string model_type = read_model_type(place);
  std::vector<std::string> known;
  std::string all;
  for (const ModelEntry& one : models()) {
    if (model_type == one.model_type) return one;
    if (!known.empty() && known.back() == one.model_type) continue;
    known.emplace_back(one.model_type);
    all += str(all.empty() ? "" : ", ", one.model_type);
  }
  const std::string near = nearest(model_type, known.data(), static_cast<int64_t>(known.size()));
  std::string text = str("model: ", place, " has the model_type \"", model_type, "\"; built are ", all, near.empty() ? "" : "; the nearest is " + near);
  const std::vector<std::string> code = read_code_files(place);
  if (!code.empty() || options.trust_remote_code)
    text += str("; ", code.empty() ? "code" : "the code", " beside the weights", code.empty() ? "" : " (" + code[0] + ")",
                " is Python, which a C++ library cannot run, so trust_remote_code is of no use here");
  throw ArgumentError(text + ".");
}

// The one base model of a family serves features, whether of texts or of images.
bool serves(const ModelEntry& entry, const std::string& task) {
  const std::string own = entry.task;
  return own == task || (task == "feature-extraction" && own == "image-feature-extraction");
}

const ModelEntry& find(const std::string& class_or_task, const std::string& what, const Config& config) {
  std::string name = class_or_task;
  if (name.empty() && !config.architectures.empty()) name = config.architectures[0];
  for (const ModelEntry& one : models())
    if (config.model_type == one.model_type && (name == one.class_name || serves(one, name))) return one;
  throw ArgumentError(str("model: ", what, " is a ", config.model_type, ", of which no \"", name, "\" is built; built are ", known_models(), "."));
}

std::shared_ptr<Config> config_of(const std::string& place, const PretrainedOptions& options) {
  std::shared_ptr<Config> config = family(place, options).make_config();
  read_config(place, *config);
  return config;
}

std::unique_ptr<Model> made(const std::string& class_or_task, const std::string& place, const PretrainedOptions& options) {
  const std::shared_ptr<Config> config = config_of(place, options);
  if (options.configure) options.configure(*config);
  config->check();
  return find(class_or_task, place, *config).make(config);
}

}  // namespace

std::shared_ptr<Config> load_config(const std::string& name, const PretrainedOptions& options) { return config_of(model_place(name, options), options); }

std::string model_class(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options) {
  return find(class_or_task, name, *load_config(name, options)).class_name;
}

std::unique_ptr<Model> make_model(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options) {
  return made(class_or_task, model_place(name, options), options);
}

std::unique_ptr<Model> make_model(const std::string& class_or_task, std::shared_ptr<Config> config) {
  config->check();
  return find(class_or_task, "the config", *config).make(config);
}

Loaded<Model> load_model(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options) {
  const std::string place = model_place(name, options);
  Loaded<Model> loaded;
  {
    const NoInit guard;
    loaded.model = made(class_or_task, place, options);
  }
  loaded.report = load_pretrained(*loaded.model, place, options);
  return loaded;
}

Loaded<Model> load_finetuned(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options) {
  Loaded<Model> loaded = load_model(class_or_task, name, options);
  // The pooler is no part of the features, and checkpoints with another head have none.
  if (class_or_task == task::Features::name) std::erase_if(loaded.report.missing, [](const std::string& key) { return key.starts_with("pooler."); });
  ROTE_CHECK(loaded.report.missing.empty(), ArgumentError, name, ": this model was not fine-tuned for ", class_or_task, ", ", loaded.report.text(),
             "; train it first (rote train).");
  return loaded;
}

std::ostream& operator<<(std::ostream& out, const std::shared_ptr<Config>& config) { return out << config_text(*config); }

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

// nn/pretrained.h — models of a known class from and to folders: config.json beside model.safetensors. The class from a name: auto.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nn/model.h"
#include "nn/state.h"

namespace rote::nn {

struct PretrainedOptions {
  bool ignore_mismatched_sizes = false;
  std::function<void(Config&)> configure = {};  // changes the config before the model is built (its labels, its problem_type)
};

template <class M>
struct Loaded {
  std::unique_ptr<M> model;  // in eval mode
  LoadReport report;
};

// Reads the weights of `folder` into a model that was made without values; what it lacks is drawn anew, by name. Ends in eval mode.
LoadReport load_pretrained(Model& model, const std::string& folder, const PretrainedOptions& options = {});

// from_pretrained<BertForSequenceClassification>("minilm", {…}). Throws IoError for missing or damaged files, ArgumentError for a config
// that cannot be built, ShapeError for weights of another shape.
template <class M>
Loaded<M> from_pretrained(const std::string& folder, const PretrainedOptions& options = {}) {
  auto config = std::make_shared<typename M::ConfigType>();
  read_config(folder, *config);
  if (options.configure) options.configure(*config);
  config->check();
  Loaded<M> loaded;
  {
    const NoInit guard;
    loaded.model = std::make_unique<M>(std::move(config));
  }
  loaded.report = load_pretrained(*loaded.model, folder, options);
  return loaded;
}

struct SavePretrainedOptions {
  bool sync = false;  // fsync both files before they take their names
};

// config.json (where the model has a config) and model.safetensors in `folder`, which is made where it is missing. Both appear whole or not at all.
void save_pretrained(Model& model, const std::string& folder, const SavePretrainedOptions& options = {});

}  // namespace rote::nn

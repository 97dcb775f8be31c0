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
  std::string dtype = "float32";                // of the loaded model: float32, bfloat16, float16, or auto: as it is stored
  std::string revision = "main", cache_dir = {};  // of names of the hub (hub.h)
  std::string gguf_file = {};                   // the file of the folder to read in place of config.json and safetensors
  // Code that comes with a model is Python and is never run: true is refused for architectures that are not built, and a note of the report for others.
  bool trust_remote_code = false;
};

template <class M>
struct Loaded {
  std::unique_ptr<M> model;  // in eval mode
  LoadReport report;
};

// Where a model lies: `name` itself where it is a folder or a .gguf file, else the hub's snapshot of that name; with gguf_file that file of it.
// Throws as hub_folder.
std::string model_place(const std::string& name, const PretrainedOptions& options = {});

// Reads the weights of `place` into a model that was made without values; what it lacks is drawn anew, by name. Ends in eval mode.
LoadReport load_pretrained(Model& model, const std::string& place, const PretrainedOptions& options = {});

// from_pretrained<BertForSequenceClassification>("minilm", {…}). Throws IoError for missing or damaged files, ArgumentError for a config
// that cannot be built, ShapeError for weights of another shape.
template <class M>
Loaded<M> from_pretrained(const std::string& name, const PretrainedOptions& options = {}) {
  const std::string place = model_place(name, options);
  auto config = std::make_shared<typename M::ConfigType>();
  read_config(place, *config);
  if (options.configure) options.configure(*config);
  config->check();
  Loaded<M> loaded;
  {
    const NoInit guard;
    loaded.model = std::make_unique<M>(std::move(config));
  }
  loaded.report = load_pretrained(*loaded.model, place, options);
  return loaded;
}

struct SavePretrainedOptions {
  bool sync = false;                             // fsync the files before they take their names
  int64_t max_shard_size = 50'000'000'000;       // bytes of elements in a file (tensor/shards.h)
};

// config.json and the generation_config.json that was read with it (where the model has a config), and the weights in `folder`, which is made where it is missing. Each file appears whole or not at all.
void save_pretrained(Model& model, const std::string& folder, const SavePretrainedOptions& options = {});

}  // namespace rote::nn

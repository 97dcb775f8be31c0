// nn/auto.h — models by name: of a class ("BertForMaskedLM") or of a task ("text-classification"). Holds no model.
#pragma once

#include "nn/pretrained.h"

namespace rote::nn {

// The class that a name stands for in a model folder: itself, the family's class for a task, or, where the name is empty, the one that
// config.json says was saved. Throws ArgumentError that lists the known ones.
std::string model_class(const std::string& class_or_task, const std::string& folder);

// The model of that class with the weights of the folder.
Loaded<Model> load_model(const std::string& class_or_task, const std::string& folder, const PretrainedOptions& options = {});
// The model of that class with the folder's config alone: weights are drawn anew.
std::unique_ptr<Model> make_model(const std::string& class_or_task, const std::string& folder, const PretrainedOptions& options = {});
// The config of the folder, of its family's type.
std::shared_ptr<Config> load_config(const std::string& folder);

// Classes and tasks of this build, for help and errors.
std::string known_models();
// Whether this build has the class.
bool has_model(const std::string& class_name);

}  // namespace rote::nn

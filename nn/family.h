// nn/family.h — what a family of models tells auto.h of itself: its classes, the tasks that they serve, its config.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nn/model.h"

namespace rote::nn {

// A class of a family, and the task for which it is the family's choice.
struct ModelEntry {
  const char* model_type;
  const char* class_name;
  const char* task;
  std::unique_ptr<Model> (*make)(std::shared_ptr<Config>);
  std::shared_ptr<Config> (*make_config)();
};

template <class M>
ModelEntry model_entry(const char* model_type, const char* class_name, const char* task) {
  return {model_type, class_name, task,
          [](std::shared_ptr<Config> c) -> std::unique_ptr<Model> { return std::make_unique<M>(std::static_pointer_cast<typename M::ConfigType>(std::move(c))); },
          []() -> std::shared_ptr<Config> { return std::make_shared<typename M::ConfigType>(); }};
}

// Each in its family's file under models/.
std::vector<ModelEntry> bert_family();
std::vector<ModelEntry> roberta_family();
std::vector<ModelEntry> distilbert_family();
std::vector<ModelEntry> gpt2_family();
std::vector<ModelEntry> llama_family();  // Mistral and Qwen3 too
std::vector<ModelEntry> t5_family();
std::vector<ModelEntry> bart_family();
std::vector<ModelEntry> vit_family();
std::vector<ModelEntry> resnet_family();
std::vector<ModelEntry> efficientnet_family();  // Lite too

}  // namespace rote::nn

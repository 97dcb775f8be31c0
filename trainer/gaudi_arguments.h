// trainer/gaudi_arguments.h — GaudiTrainingArguments and GaudiConfig: the names and defaults of optimum-habana over the same arguments. No device is pretended.
//
// A script's arguments can be taken over: what the engine does is TrainingArguments', what only that device has is refused unless it is left at its default.
// Its windows of throughput and profiling, and memory in its logs (log_memory), are RoteArguments'.
#pragma once

#include <optional>
#include <string>

#include "trainer/arguments.h"

namespace rote {

struct GaudiTrainingArguments : TrainingArguments {
  static constexpr const char* kName = "GaudiTrainingArguments";

  // Where its defaults differ: optim adamw_torch, adam_epsilon 1e-6, no filter of non-finite losses, two of the wrappers that have no effect.
  GaudiTrainingArguments();

  std::optional<std::string> gaudi_config_name = {};  // of a GaudiConfig, for the program to read

  static const ArgumentTable<GaudiTrainingArguments>& table();
};

// gaudi_config.json. The fused optimizer and clip have the same mathematics as AdamW and the clip here, so that all its flags lead to those.
struct GaudiConfig {
  bool use_torch_autocast = false;
  std::optional<std::vector<std::string>> autocast_bf16_ops = {};
  std::optional<std::vector<std::string>> autocast_fp32_ops = {};
  bool use_dynamic_shapes = false;
  bool use_fused_adam = false;
  bool use_fused_clip_norm = false;

  static const ArgumentTable<GaudiConfig>& table();
};

// From the JSON of a file, or of gaudi_config.json in a folder. Other keys are left alone. Throws IoError, or ArgumentError naming each key of another type.
GaudiConfig read_gaudi_config(const std::string& place);

}  // namespace rote

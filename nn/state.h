// nn/state.h — weights in and out of a module: by name, from and to safetensors files. Which class a folder holds: pretrained.h, auto.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nn/module.h"
#include "tensor/safetensors.h"

namespace rote::nn {

// What a file held and what a module wanted, where the two differ.
struct LoadReport {
  std::vector<std::string> missing;     // parameters that the file lacks
  std::vector<std::string> unexpected;  // tensors that no parameter takes
  std::vector<std::string> mismatched;  // parameters whose shape differs; only where that is allowed
  std::string text() const;             // one line, empty where all fits
  std::vector<std::string> fresh() const;  // the parameters that got no value: missing and mismatched
};

struct LoadStateOptions {
  bool ignore_mismatched_sizes = false;  // leave such parameters as they are and report them
  std::string base_prefix;               // keys are taken with and without `<base_prefix>.` in front
  std::function<std::string(const std::string&)> stored_name = {};  // and as this says, where it says another name
};

// Every parameter under its first name, shared ones once, then the buffers that are saved.
NamedTensors state_dict(const Module& module);

// Reads the tensors of the files straight into the parameters of that name. Other names of shared parameters are taken as well, LayerNorm's gamma
// and beta mean weight and bias, and keys of buffers are passed over. Throws ShapeError before anything is read where a shape differs.
LoadReport load_state(Module& module, const SafetensorsFolder& files, const LoadStateOptions& options = {});

}  // namespace rote::nn

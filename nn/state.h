// nn/state.h — weights in and out of a module: by name, from and to safetensors files. Which class a folder holds: pretrained.h, auto.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
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
  std::map<std::string, std::string> shapes;  // of mismatched: "f32[2] in the file, f32[3] in the model"
  std::vector<std::string> notes;       // what else the caller should know, a sentence each
  std::string text() const;             // one line, empty where all fits
  // A line a key: name, status and shapes, then the notes; names that differ in a number alone share a line. Empty where all fits.
  std::string table() const;
  std::vector<std::string> fresh() const;  // the parameters that got no value: missing and mismatched
};

struct LoadStateOptions {
  bool ignore_mismatched_sizes = false;  // leave such parameters as they are and report them
  std::string base_prefix;               // keys are taken with and without `<base_prefix>.` in front
  std::function<std::string(const std::string&)> stored_name = {};  // and as this says, where it says another name
  std::optional<int64_t> most_fresh_bytes = {};                     // IoError, before anything is read, where the file leaves more without a value
  std::optional<DType> dtype = {};                                  // what floating parameters become before they are read; none: they stay
};

// A tensor of some file, to be read into one of its shape.
struct StoredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::function<void(const Tensor& to)> read_into;
};

// Every parameter under its first name, shared ones once, then the buffers that are saved.
NamedTensors state_dict(const Module& module);

// Reads the tensors of the files straight into the parameters of that name. Other names of shared parameters are taken as well, LayerNorm's gamma
// and beta mean weight and bias, and keys of buffers are passed over. Throws ShapeError before anything is read where a shape differs.
LoadReport load_state(Module& module, const SafetensorsFolder& files, const LoadStateOptions& options = {});
// The same from tensors in the order of their bytes in the file `from`.
LoadReport load_state(Module& module, const std::string& from, const std::vector<StoredTensor>& tensors, const LoadStateOptions& options = {});
// The tensors of a folder, which must stay as long as they are read.
std::vector<StoredTensor> stored_tensors(const SafetensorsFolder& files);

}  // namespace rote::nn

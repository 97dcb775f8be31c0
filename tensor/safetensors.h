// tensor/safetensors.h — reading and writing .safetensors files: a length, a JSON header of names, then the elements. No model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/file.h"
#include "tensor/tensor.h"

namespace rote {

struct SafetensorsInfo {
  std::string name;
  DType dtype;
  Shape shape;
  int64_t offset;  // of the first byte in its file
  int64_t bytes;
};

// One file, open. Its header is checked in full before anything is believed: every tensor has exactly the bytes of its shape and
// dtype, and together they cover the file without overlap or hole. What does not hold is an IoError that names file and tensor.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  const std::string& path() const { return file_.path(); }
  const std::vector<SafetensorsInfo>& infos() const { return infos_; }  // in the order of their bytes
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const SafetensorsInfo* find(const std::string& name) const;  // nullptr where there is none

  // Read straight into new 64-byte aligned storage. Throws ArgumentError for a name that is not there.
  Tensor read(const std::string& name) const;
  // Read into `to`, whose shape must be equal; converted where the dtypes differ. Throws ShapeError.
  void read_into(const SafetensorsInfo& info, const Tensor& to) const;
  // The elements as they lie in the file, mapped: for hashes and statistics. Valid as long as this lives.
  const std::byte* mapped(const SafetensorsInfo& info) const;

 private:
  explicit SafetensorsFile(InputFile file) : file_(std::move(file)) {}

  InputFile file_;
  std::vector<SafetensorsInfo> infos_;
  std::map<std::string, size_t> by_name_;
  std::map<std::string, std::string> metadata_;
  mutable void* map_ = nullptr;
};

// The weights of a model folder: model.safetensors, or the files that model.safetensors.index.json names.
class SafetensorsFolder {
 public:
  // Throws IoError that names the files looked for where there are none, and for an index that does not fit its files.
  static SafetensorsFolder open(const std::string& folder);

  const std::vector<SafetensorsFile>& files() const { return files_; }
  std::vector<SafetensorsInfo> infos() const;  // of all files, sorted by name
  const SafetensorsFile* file_of(const std::string& name) const;

 private:
  std::vector<SafetensorsFile> files_;
};

// All tensors of a file, by name.
std::map<std::string, Tensor> load_safetensors(const std::string& path);

struct SaveOptions {
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  bool sync = false;  // fsync before the file takes its name
};

// Writes a temporary file and renames it: `path` holds all of it or what it held before. The largest elements come first, then by name, so
// that each tensor is aligned to its elements; NaNs are stored as one pattern. Throws ArgumentError for a doubled name, IoError for the system's faults.
void save_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors, const SaveOptions& options = {});

}  // namespace rote

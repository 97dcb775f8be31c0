// tensor/gguf.h — reading .gguf files: metadata, then tensors, some of them in blocks of few bits. What the names mean: nn/gguf.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/file.h"
#include "tensor/shape.h"

namespace rote {

// How elements are stored. Q8_0, Q4_0, Q4_1: blocks of 32 along a row with a 16-bit scale d: w = q·d, (q - 8)·d, q·d + m.
enum class GgufType { f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, bf16 = 30 };

struct GgufInfo {
  std::string name;
  GgufType type;
  Shape shape;     // rows before columns, as ours; the file has them the other way round
  int64_t offset;  // of the first byte in the file
  int64_t bytes;
};

// One file, open, of version 2 or 3. Its header is checked in full before anything is believed: sizes fit into the file, tensors do not overlap.
// What does not hold, and a type that is not built, is an IoError that names file and tensor. Strings and arrays stay in the file until they
// are asked for, so that a header costs little more memory than its own size.
class GgufFile {
 public:
  static GgufFile open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  int64_t bytes() const { return file_.bytes(); }
  const std::vector<GgufInfo>& infos() const { return infos_; }  // in the order of their bytes
  const GgufInfo* find(const std::string& name) const;           // nullptr where there is none

  // Metadata by key; nothing where there is no such key. Throws IoError for a value of another kind.
  bool contains(const std::string& key) const { return values_.count(key) > 0; }
  bool is_array(const std::string& key) const;
  std::optional<int64_t> integer(const std::string& key) const;  // of any width, bools too
  std::optional<double> number(const std::string& key) const;    // integers too
  std::optional<std::string> text(const std::string& key) const;
  int64_t count(const std::string& key) const;                   // elements of an array; 0 where there is none
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<double> numbers(const std::string& key) const;
  // Calls f for each text of an array, of at most 1000 bytes each.
  void for_each_text(const std::string& key, const std::function<void(const std::string&)>& f) const;

  // Rows first … first + n - 1 (the last axis is a row) as f32 into `to`. REQUIRES: they exist.
  void read_rows(const GgufInfo& info, int64_t first, int64_t n, float* to) const;

 private:
  struct Value {
    uint32_t type;         // as in the file
    uint32_t element = 0;  // of an array
    uint64_t count = 0;    // of an array; bytes of a text
    int64_t offset = 0;    // of the first element or byte
    uint64_t bits = 0;     // of a scalar
  };
  class Cursor;

  explicit GgufFile(InputFile file) : file_(std::move(file)) {}
  void read_header();
  const Value* value(const std::string& key, const char* kind, bool fits(const Value&)) const;

  InputFile file_;
  std::map<std::string, Value> values_;
  std::vector<GgufInfo> infos_;
};

}  // namespace rote

// tests/fuzz/input.h — bytes as a file for what reads paths, and the one good end beside success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/check.h"
#include "tensor/alloc.h"

namespace rote::fuzz {

// Bytes under the name NAME in a folder of its own. They stay in memory; one for a process, filled anew for each input.
class File {
 public:
  explicit File(const std::string& name);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void fill(const uint8_t* data, size_t size);
  const std::string& folder() const { return folder_; }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string folder_, path_;
};

// Tensors may take 4 MiB in the meantime; more is a MemoryError.
class SmallMachine {
 public:
  SmallMachine() { set_memory_limit(int64_t{4} << 20); }
  ~SmallMachine() {
    empty_cache();
    set_memory_limit(0);
  }
  SmallMachine(const SmallMachine&) = delete;
  SmallMachine& operator=(const SmallMachine&) = delete;
};

// Throws std::logic_error where the text is not one line that ends as a sentence does.
void check_sentence(const Error& error);

// Runs f to its end or to an Error.
template <class F>
void run(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    check_sentence(error);
  }
}

}  // namespace rote::fuzz

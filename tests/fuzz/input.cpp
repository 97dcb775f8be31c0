// tests/fuzz/input.cpp — a file in memory (memfd) behind a link that has its name.
#include "tests/fuzz/input.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace rote::fuzz {

namespace {

void must(bool done, const char* what) {
  if (!done) throw std::logic_error(what);
}

}  // namespace

File::File(const std::string& name)
    : descriptor_(memfd_create(name.c_str(), MFD_CLOEXEC)), folder_((std::filesystem::temp_directory_path() / "rote-fuzz-XXXXXX").string()) {
  must(descriptor_ >= 0 && mkdtemp(folder_.data()) != nullptr, "fuzz: no file in memory, or no folder for its name.");
  path_ = folder_ + "/" + name;
  std::filesystem::create_symlink(str("/proc/self/fd/", descriptor_), path_);
}

File::~File() {
  ::close(descriptor_);
  std::error_code ignored;  // it lies in the temporary folder
  std::filesystem::remove_all(folder_, ignored);
}

void File::fill(const uint8_t* data, size_t size) {
  must(ftruncate(descriptor_, 0) == 0, "fuzz: the file cannot be emptied.");
  must(pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size), "fuzz: the file cannot be written.");
}

void check_sentence(const Error& error) {
  const std::string& text = error.text;
  constexpr size_t kLongest = 4000;
  if (text.empty() || text.size() > kLongest || text.find('\n') != std::string::npos || text.find('\0') != std::string::npos || text.back() != '.')
    throw std::logic_error("not one sentence: " + text.substr(0, kLongest));
}

}  // namespace rote::fuzz

#include "trainer/folder_write.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernels/check.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  throw IoError(str(what, " ", path.string(), ": ", std::strerror(error), "."));
}

void sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0 && ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!done) fail("cannot make durable", path, error);
}

fs::path hidden_beside(const fs::path& path) { return path.parent_path() / (".tmp-" + path.filename().string()); }

}  // namespace

FolderWrite::FolderWrite(fs::path final_place) : final_(std::move(final_place)), temporary_(hidden_beside(final_)) {
  std::error_code error;
  fs::remove_all(temporary_, error);
  fs::create_directories(temporary_, error);
  if (error) fail("cannot create", temporary_, error.value());
}

FolderWrite::~FolderWrite() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void FolderWrite::commit() {
  for (const auto& entry : fs::recursive_directory_iterator(temporary_)) sync(entry.path());
  sync(temporary_);
  std::error_code error;
  const fs::path replaced = hidden_beside(final_).string() + "-replaced";
  fs::remove_all(replaced, error);
  if (fs::exists(final_)) {
    fs::rename(final_, replaced, error);
    if (error) fail("cannot replace", final_, error.value());
  }
  fs::rename(temporary_, final_, error);
  if (error) {
    const int reason = error.value();
    fs::rename(replaced, final_, error);
    fail("cannot write", final_, reason);
  }
  committed_ = true;
  fs::remove_all(replaced, error);
  sync(final_.parent_path().empty() ? fs::path(".") : final_.parent_path());
}

}  // namespace rote

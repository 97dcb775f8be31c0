#include "trainer/folder_write.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <cstdio>
#include <algorithm>
#include <cstring>
#include <vector>

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

// Every file of a flat folder, then the folder itself.
void sync_all(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) sync(entry.path());
  if (error) fail("cannot list", folder, error.value());
  sync(folder);
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
  sync_all(temporary_);
  std::error_code error;
  const fs::path replaced = hidden_beside(final_).string() + "-replaced";
  fs::remove_all(replaced, error);
  // One exchange where the file system can: no instant without a folder of that name.
  const bool exchanged = fs::exists(final_) && ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0;
  if (exchanged) {
    fs::rename(temporary_, replaced, error);
  } else {
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
  }
  committed_ = true;
  fs::remove_all(replaced, error);
  sync(final_.parent_path().empty() ? fs::path(".") : final_.parent_path());
}

void write_files_into(const fs::path& folder, const std::function<void(const fs::path&)>& fill) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) fail("cannot create", folder, error.value());
  const fs::path temporary = folder / ".tmp-files";
  try {
    fs::remove_all(temporary, error);
    if (!fs::create_directory(temporary, error)) fail("cannot create", temporary, error.value());
    fill(temporary);
    sync_all(temporary);
    std::vector<fs::path> names;
    for (const auto& entry : fs::directory_iterator(temporary, error)) names.push_back(entry.path().filename());
    // The weights last: a crash between two names then leaves old weights beside new words, never the other way round.
    std::sort(names.begin(), names.end(), [](const fs::path& a, const fs::path& b) {
      const auto key = [](const fs::path& name) { return std::pair(name.extension() == ".safetensors", name.string()); };
      return key(a) < key(b);
    });
    for (const fs::path& name : names)
      if (fs::is_directory(folder / name)) fail("cannot write", folder / name, EISDIR);
    for (const fs::path& name : names) {
      fs::rename(temporary / name, folder / name, error);
      if (error) fail("cannot write", folder / name, error.value());
    }
    fs::remove(temporary, error);
    sync(folder);
  } catch (...) {
    fs::remove_all(temporary, error);
    if (made) fs::remove(folder, error);
    throw;
  }
}

}  // namespace rote

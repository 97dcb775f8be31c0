#include "trainer/files.h"

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

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

void sync(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail("cannot make durable", path, errno);
}

fs::path hidden_beside(const fs::path& path) { return path.parent_path() / (".tmp-" + path.filename().string()); }

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) fail("cannot read", path, errno);
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot read", path, errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path temporary = hidden_beside(path);
  const auto give_up = [&](int error) {
    ::unlink(temporary.c_str());
    fail("cannot write", path, error);
  };
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) fail("cannot write", path, errno);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) give_up(errno);
    done += static_cast<size_t>(n);
  }
  if (::fsync(file.get()) != 0 || !file.close()) give_up(errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) give_up(errno);
}

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
